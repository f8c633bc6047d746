/* The settings and policy files in /etc/gpuhelper, as unparsed text that only root can have written. */
#ifndef GPUHELPER_HOST_OWN_ETC_H
#define GPUHELPER_HOST_OWN_ETC_H

#include <stdbool.h>

#include "../../base/text.h"
#include "../../base/why.h"

#define SETTINGS_FILE "gpuhelper.conf"

/*
 * Reads DIR/gpuhelper.conf. The caller frees *text, which is NULL if there is no such file. «strict» as in
 * trust.h. Returns 0, or -1 with *why if the file can't be read or others than root can change it.
 */
int settings_text(const char *dir, bool strict, char **text, size_t *len, struct why *why);

/* The policy files of DIR/policy.d (*.conf, not hidden), unparsed, in byte order of their names. */
struct policy_files {
	struct policy_file {
		char *name, *text;
		size_t len;
	} *v;
	size_t n;
	struct strlist ignored;		/* other names in the directory */
	bool hidden;			/* loading failed because this user may not look at a file or at the directory */
};

/*
 * Returns 0, or -1 with *why if the directory or any *.conf file in it can't be read or can be changed by
 * others than root: nothing may be granted then. A missing directory counts as empty. The caller calls
 * policy_files_free() in any case.
 */
int policy_files_load(const char *dir, bool strict, struct policy_files *out, struct why *why);
void policy_files_free(struct policy_files *p);
#define autopolicyfiles __attribute__((cleanup(policy_files_free)))

#endif
