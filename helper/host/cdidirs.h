/*
 * The directories of CDI specs, by CDI's own rules (pkg/cdi/spec-dirs.go and
 * cache.go): what each file says, and which file's device a name means.
 */
#ifndef GPUHELPER_HOST_CDIDIRS_H
#define GPUHELPER_HOST_CDIDIRS_H

#include "../pure/cdi.h"

/* Where specs are looked for; the later one wins.  CDI says /var/run/cdi, which is /run/cdi without a link in it. */
#define CDI_DIRS "/etc/cdi:/run/cdi"
#define CDI_FILES_MAX 1024	/* in one directory */
#define CDI_BYTES_MAX (16 * 1024 * 1024)	/* of all files together */

struct cdi_file {
	char *path;
	size_t dir;			/* the place of its directory in the list */
	char *text;			/* until it is read; NULL: it could not be had */
	size_t len;
	bool usable;			/* its devices count */
	struct cdi_spec spec;
	struct cdi_faults faults;	/* of the text */
	struct strlist problems;	/* of the file as a whole, and of its devices among others */
};

struct cdi_entry {
	char *name;			/* "vendor.com/class=device" */
	const struct cdi_file *file;
	const struct cdi_device *device;
	bool conflict;			/* in two files of one directory: nobody gets it */
};

struct cdi_registry {
	struct cdi_file *file;
	size_t files;
	struct cdi_entry *entry;	/* one for each name, in their order */
	size_t entries;
	struct strlist problems;	/* of directories */
};

/*
 * Reads the files that have a text: sets their spec and faults, and «usable» where a spec is CDI.  -1 with *why: that
 * can't be known.
 */
typedef int cdi_parser(struct cdi_registry *r, struct why *why);

/*
 * Reads all of them.  «dirs» as in CDI_DIRS; names that end in .json or .yaml,
 * hidden ones too, no directories beneath.  A directory that is not there counts
 * as empty; what is wrong with one, or with a file, is told and stops no other.
 *
 * «trusted» is for a helper of root's: a directory or file that others could
 * have changed is not read, and one with faults of CDI_UNSAFE is not used.
 *
 * Two files of one directory that have the same device spoil it, in whichever
 * directory that is: it does not come from a later one either, as with the
 * reference library.
 *
 * -1 with *why: memory ran short, the host could not read one just now, or all
 * together have more than CDI_BYTES_MAX.  cdi_registry_free() in either case.
 */
int cdi_registry_load(const char *dirs, bool trusted, cdi_parser *parse, struct cdi_registry *r, struct why *why);
void cdi_registry_free(struct cdi_registry *r);
#define autocdiregistry __attribute__((cleanup(cdi_registry_free)))

/* NULL: no such device, or one that is in conflict. */
const struct cdi_entry *cdi_registry_find(const struct cdi_registry *r, const char *name);

#endif
