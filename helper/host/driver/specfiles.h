/*
 * The files of the CDI spec directories, as bytes, by the rules of CDI's reference library (pkg/cdi/spec-dirs.go).
 * cdidirs.h says what they contain.
 */
#ifndef GPUHELPER_HOST_DRIVER_SPECFILES_H
#define GPUHELPER_HOST_DRIVER_SPECFILES_H

#include "../../base/text.h"
#include "../../base/why.h"

/*
 * The spec directories; a later one overrides an earlier one. CDI names /var/run/cdi, which is a link to
 * /run/cdi.
 */
#define CDI_DIRS "/etc/cdi:/run/cdi"
#define CDI_FILES_MAX 1024	/* in one directory */
#define SPEC_TEXT_MAX (1024 * 1024)	/* bytes of one file */
#define CDI_BYTES_MAX (16 * 1024 * 1024)	/* of all files together */

struct spec_file {
	char *path;
	size_t dir;			/* the index of its directory in the list */
	char *text;			/* NULL: it could not be read */
	size_t len;
	struct strlist problems;
};

struct spec_files {
	struct spec_file *v;
	size_t n;
	struct strlist problems;	/* of directories */
};

/*
 * Reads all specs of the directories «dirs» (separated as in CDI_DIRS): the files that end in .json or .yaml,
 * hidden ones included, and none of subdirectories. A missing directory counts as empty. A problem of one
 * directory or file is recorded and does not keep others from loading.
 * «trusted» is for a helper that runs as root: directories and files that others than root could have changed
 * are not read.
 * Returns 0, or -1 with *why if memory is short, the host could not read a file just now, or the files exceed
 * CDI_BYTES_MAX together. The caller calls spec_files_free() in any case.
 */
int spec_files_read(const char *dirs, bool trusted, struct spec_files *out, struct why *why);
void spec_files_free(struct spec_files *f);
#define autospecfiles __attribute__((cleanup(spec_files_free)))

#endif
