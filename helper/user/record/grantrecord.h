/*
 * Grant records: what root's wrapper has checked of a grant (vetting.h) and execs get, too. The helper writes that
 * into the exec record (root/end/execrecord.h). Root's wrapper uses such a record only if it says what was checked when
 * the container was made.
 *
 * A grant record is a file beside the container record (recorddir.h), named as the exec record is. It is unconfirmed
 * until the container was made and everything about it was checked: until then nothing is started or executed there.
 */
#ifndef GPUHELPER_USER_RECORD_GRANTRECORD_H
#define GPUHELPER_USER_RECORD_GRANTRECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../base/text.h"
#include "../../base/why.h"
#include "../command/argv.h"

struct vetted_grant {
	const struct strlist *env;
	const uint32_t *gid;		/* groups, as ids in the container */
	size_t gids;
	const char *label;		/* SELinux label; NULL: none */
	bool privileged;		/* the container is allowed to be so */
	bool promised;			/* its GPUs are only promised */
};

/*
 * Writes the record for the command's container, instead of any before it. To be called by the host's root. 0, or -1
 * with *why.
 */
int grant_record_write(const struct command *c, const struct vetted_grant *v, bool unconfirmed, struct why *why);
/* Confirms an unconfirmed record. 0, or -1 with *why. */
int grant_record_confirm(const struct command *c, struct why *why);
/* 0, or -1 with *why (WHY_DENIED): the container's record is unconfirmed. */
int grant_record_refuse_unconfirmed(const struct command *c, struct why *why);

/* Compares an exec record with it. 0, or -1 with *why (WHY_DENIED): they differ, or there is no grant record. */
int grant_record_check(const struct command *c, const struct vetted_grant *v, struct why *why);

/* The beginnings of the names of records; a hash follows. */
#define GRANT_RECORD_PREFIX "exec-"
#define GRANT_RECORD_UNCONFIRMED "early-"

/* True if the command's container has one, confirmed or not. */
bool grant_record_is_there(const struct command *c);
/* Removes the record of the command's container: it has ended, or it is a new one that was granted nothing. */
void grant_record_forget(const struct command *c);
/* Removes the record of this name, confirmed or not, in the directory, unless its exec record is there. */
void grant_record_clean(int dir, const char *name);

#endif
