/* /etc/gpuhelper: the settings and the policy files, read as bytes that only root can have written. */
#ifndef GPUHELPER_HOST_ETC_H
#define GPUHELPER_HOST_ETC_H

#include <stdbool.h>

#include "../pure/text.h"
#include "../pure/why.h"

#define SETTINGS_FILE "gpuhelper.conf"

/*
 * The bytes of DIR/gpuhelper.conf, *len of them, which the caller frees; *text is NULL where there is no such file.
 * «strict» as in trust.h.  -1 with *why where the file can't be read or trusted.
 */
int settings_text(const char *dir, bool strict, char **text, size_t *len, struct why *why);

/* The policy files of DIR/policy.d (*.conf, not hidden), in byte order of their names; not parsed yet. */
struct policy_files {
	struct policy_file {
		char *name, *text;
		size_t len;
	} *v;
	size_t n;
	struct strlist ignored;		/* what lies there besides */
	bool shut;			/* it failed for want of a right to look at one of them, or at the directory */
};

/*
 * -1 with *why if the directory or any of its *.conf files can't be read or is
 * not root's alone: then nothing may be granted at all.  A directory that does
 * not exist counts as empty.
 */
int policy_files_load(const char *dir, bool strict, struct policy_files *out, struct why *why);
void policy_files_free(struct policy_files *p);
#define autopolicyfiles __attribute__((cleanup(policy_files_free)))

#endif
