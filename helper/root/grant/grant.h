/* VERB_GRANT: decides whether a container may be created, and with what. */
#ifndef GPUHELPER_ROOT_GRANT_GRANT_H
#define GPUHELPER_ROOT_GRANT_GRANT_H

#include "../../ask/reply.h"
#include "../../lease/leasefile.h"
#include "../enter/call.h"

#define PIPELINE_NAMES_MAX 1024	/* longer ones are cut in a record (host/own/record.c) */

/* What a grant has done on the host so far, so that it can be taken back. */
struct host_changes {
	char lease[LEASE_KEY_SIZE];	/* key of its lease; "": none */
	char used_token[HASH_SIZE];	/* name of the new record that its token is used; "": none */
	char pipeline[PIPELINE_NAMES_MAX];	/* its pipeline, as «TEAM/PIPELINE»; "": none */
};

/*
 * Decides a request and, if it is granted, changes the host accordingly. Always fills in *reply and *t. A grant is
 * provisional: if the wrapper does not confirm it, grant_undo() takes it back.
 */
void grant(const struct peer *peer, const struct request *r, struct reply *reply, struct host_changes *t);
void grant_undo(const struct peer *peer, const struct request *r, const struct host_changes *t);

#endif
