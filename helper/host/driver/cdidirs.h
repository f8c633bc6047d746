/*
 * The CDI specs of the spec directories, by the rules of CDI's reference library (pkg/cdi/spec-dirs.go and
 * cache.go): what each file contains, and which file's device a name refers to.
 */
#ifndef GPUHELPER_HOST_DRIVER_CDIDIRS_H
#define GPUHELPER_HOST_DRIVER_CDIDIRS_H

#include "../../cdi/cdi.h"
#include "specfiles.h"

struct cdi_file {
	char *path;
	size_t dir;			/* the index of its directory in the list */
	char *text;			/* NULL once it is parsed, or if it could not be read */
	size_t len;
	bool usable;			/* its devices may be used */
	struct cdi_spec spec;
	struct cdi_faults faults;	/* found in the text */
	struct strlist problems;	/* of the whole file, and conflicts of its devices with other files' */
};

/* One device name, and the file that it comes from. */
struct cdi_entry {
	char *name;			/* "vendor.com/class=device" */
	const struct cdi_file *file;
	const struct cdi_device *device;
	bool conflict;			/* two files of one directory have it: it can't be used */
};

struct cdi_registry {
	struct cdi_file *file;
	size_t files;
	struct cdi_entry *entry;	/* one for each name, sorted */
	size_t entries;
	struct strlist problems;	/* of directories */
};

/*
 * Parses the files that have a text. Sets their spec and faults, and «usable» for those that are CDI. Returns 0, or -1
 * with *why if the parser itself failed.
 */
typedef int cdi_parser(struct cdi_registry *r, struct why *why);

/*
 * Loads all specs of the directories (specfiles.h). With «trusted», files with faults of CDI_UNSAFE are not usable.
 * If two files of one directory have the same device, nobody gets the device, not even from another
 * directory: the reference library does the same.
 * Returns 0, or -1 with *why. The caller calls cdi_registry_free() in any case.
 */
int cdi_registry_load(const char *dirs, bool trusted, cdi_parser *parse, struct cdi_registry *r, struct why *why);

/* The same in steps, around the parsing. Takes the files over; cdi_registry_free() in any case. -1 with *why. */
int cdi_registry_adopt(struct cdi_registry *r, struct spec_files *f, struct why *why);
/* After the parsing: decides which files are usable, and finds each name. -1 with *why: memory is short. */
int cdi_registry_finish(struct cdi_registry *r, bool trusted, struct why *why);
void cdi_registry_free(struct cdi_registry *r);
#define autocdiregistry __attribute__((cleanup(cdi_registry_free)))

/*
 * The entry of a device name such as "vendor.com/class=device". NULL if there is none, or it is in conflict.
 */
const struct cdi_entry *cdi_registry_find(const struct cdi_registry *r, const char *name);

#endif
