/*
 * What root's wrapper has checked of a grant (vetting.h) and execs into the container get, too. The helper writes that
 * into the exec record (root/end/execrecord.h). Root's wrapper uses such a record only if it says what was checked when
 * the container was made.
 *
 * A note is a file beside the container records (recorddir.h), named as the exec record is.
 */
#ifndef GPUHELPER_USER_RECORD_VETTED_H
#define GPUHELPER_USER_RECORD_VETTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../base/text.h"
#include "../../base/why.h"
#include "../command/argv.h"

struct vetted {
	const struct strlist *env;
	const uint32_t *gid;		/* groups, as ids in the container */
	size_t gids;
	const char *label;		/* SELinux label; NULL: none */
	bool privileged;		/* the container is allowed to be so */
	bool promised;			/* its GPUs are only promised */
};

/* Writes the note for the command's container. To be called by the host's root. 0, or -1 with *why. */
int vetted_note(const struct command *c, const struct vetted *v, struct why *why);

/* Compares an exec record with the note. 0, or -1 with *why (WHY_DENIED): they differ, or there is no note. */
int vetted_check(const struct command *c, const struct vetted *v, struct why *why);

/* The name of the note of the command's container. */
#define VETTED_PREFIX "exec-"
#define VETTED_NAME_SIZE (sizeof(VETTED_PREFIX) + 64)
void vetted_name(const struct command *c, char out[VETTED_NAME_SIZE]);

/* Removes the note of the command's container: it has ended, or it is a new one that was granted nothing. */
void vetted_forget(const struct command *c);
/* Removes the note of this name in the directory, unless its exec record is there. */
void vetted_clean(int dir, const char *name);

#endif
