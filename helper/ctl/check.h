/* The files of one /etc/gpuhelper, or the ones that were named, and what is wrong with each. */
#ifndef GPUHELPER_CTL_CHECK_H
#define GPUHELPER_CTL_CHECK_H

#include "../pure/conffault.h"
#include "../pure/gpu.h"
#include "../pure/policy.h"
#include "../pure/settings.h"

enum checked_kind {
	CHECKED_PLACE,		/* a directory, or a file that is ignored */
	CHECKED_SETTINGS,
	CHECKED_POLICY,
};

struct checked {
	enum checked_kind kind;
	char *shown;		/* its path as the user named it */
	char *text;		/* NULL: not read */
	size_t len;
	struct policy policy;	/* of a policy that parses */
	bool good;
	struct faults faults;
};

struct check_set {
	struct checked *v;
	size_t n;
	struct settings settings;	/* the defaults where there is no file of them */
	size_t settings_at;		/* its place in v; SIZE_MAX: no settings are in view */
	bool installed;			/* they are those of GPUHELPER_CONFDIR: this host goes by them */
	bool failed;			/* no memory */
};

/* Adds a file, whose name is copied; NULL: out of memory.  Valid until the next one is added. */
struct checked *check_add(struct check_set *s, enum checked_kind kind, const char *shown);

struct options;
struct check_count {
	size_t errors, file_errors;
};

/*
 * Judges the configuration in the directory «path», whoever's its files are, and prints all that is wrong with it as
 * though it were «shown».  «file», one of it as shown, is counted by itself as well; NULL: nothing is printed, it is
 * only counted.  -1 with *why: no memory.
 */
int check_copy(const struct options *o, const char *path, const char *shown, const char *file, struct check_count *out,
    struct why *why);

/* What parses, and may still not mean what its author thinks. */
void warn_about(struct check_set *s);

/*
 * True if «later» may cover a container that «earlier» covers too, is not
 * plainly the narrower of the two, and gives something that «earlier» does not:
 * then what the one refuses the other may grant.
 */
bool policies_overlap(const struct policy *earlier, const struct policy *later);

#endif
