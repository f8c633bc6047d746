/* /etc/gpuhelper: the settings and the policy files, read as bytes that only root can have written. */
#ifndef GPUHELPER_HOST_ETC_H
#define GPUHELPER_HOST_ETC_H

#include <stdbool.h>

#include "../pure/policy.h"
#include "../pure/settings.h"

#define POLICY_FILES_MAX 4096

/*
 * Reads DIR/gpuhelper.conf.  No file: the defaults.  «strict» as in trust.h.
 * -1 with *why where the file can't be read or trusted, or (the first fault)
 * does not parse; *f, if not NULL, gets all faults.  settings_free() in either
 * case.  *text, if not NULL, gets the text of a file that could be read but not
 * parsed (the caller frees).
 */
int settings_load(const char *dir, bool strict, struct settings *s, struct faults *f, char **text, struct why *why);

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
