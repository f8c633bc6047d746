/* A set of configuration files that are checked together, and the faults of each. */
#ifndef GPUHELPER_CTL_CHECK_CHECK_H
#define GPUHELPER_CTL_CHECK_CHECK_H

#include "../../gpu/gpu.h"
#include "../../policy/conffault.h"
#include "../../policy/policy.h"
#include "../../policy/settings.h"

enum checked_kind {
	CHECKED_PLACE,		/* a directory, or a file that is ignored */
	CHECKED_SETTINGS,
	CHECKED_POLICY,
};

struct checked {
	enum checked_kind kind;
	char *shown;		/* its path, as the user gave it */
	char *text;		/* NULL: not read */
	size_t len;
	struct policy policy;	/* of a policy that parses */
	bool good;
	struct faults faults;
};

struct check_set {
	struct checked *v;
	size_t n;
	struct settings settings;	/* the defaults if there is no valid gpuhelper.conf */
	size_t settings_at;		/* index of gpuhelper.conf in v; SIZE_MAX: it is not part of the set */
	bool installed;			/* gpuhelper.conf is the one in GPUHELPER_CONFDIR, which this host uses */
	bool failed;			/* no memory */
};

/* Adds a file; copies its name.  The pointer is valid until the next call.  NULL: out of memory. */
struct checked *check_add(struct check_set *s, enum checked_kind kind, const char *shown);

struct options;
struct check_count {
	size_t errors, file_errors;
};

/*
 * Checks the configuration in the directory «path», whoever owns its files, and prints the findings with «shown» in the
 * place of «path».  «file» is one of its files, as shown: out->file_errors counts its errors.  If «file» is NULL,
 * prints nothing and only counts.  -1 with *why: out of memory.
 */
int check_copy(const struct options *o, const char *path, const char *shown, const char *file, struct check_count *out,
    struct why *why);

/* Adds warnings about rules that are valid, but may not mean what their author thinks. */
void warn_about(struct check_set *s);

/*
 * True if «later» may grant what «earlier» refuses: both may cover the same container, «later» is not clearly the
 * narrower of the two, and «later» gives something that «earlier» does not.
 */
bool policies_overlap(const struct policy *earlier, const struct policy *later);

#endif
