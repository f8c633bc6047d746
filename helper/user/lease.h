/* What the wrapper has to do with the lease of its container. */
#ifndef GPUHELPER_USER_LEASE_H
#define GPUHELPER_USER_LEASE_H

#include "../pure/edits.h"
#include "../pure/settings.h"
#include "argv.h"
#include "ask.h"

/* True if root has a record of this container of ours, so that it has a lease, or had one. */
bool lease_is_recorded(const struct command *c);

/*
 * Shows the helper the container that was just made: its first process is a child
 * of this process, which asked for the grant.  -1 with *why: nobody would follow it.
 */
int lease_show(const struct command *c, enum door_setting door, struct why *why);

/*
 * Asks, and asks again while the helper says that it is busy, doing what it has to
 * have done meanwhile (chores.h).  The reply is another one than that, or -1 with
 * *why.
 */
int lease_ask(const struct command *c, struct request *r, enum door_setting door, struct asking *a, struct reply *reply,
    struct why *why);

/*
 * This process is about to become the runtime that puts a process into the container:
 * the lease is told, and the container has its GPUs, again perhaps; *line is what
 * the user should know of that, "" for nothing.  -1 with *why: a task would begin
 * without what it was granted; -2 likewise, and the helper has recorded that.
 */
int lease_exec(const struct command *c, enum door_setting door, char line[REPLY_LINE_MAX], struct why *why);

/* Has the helper record that this process was not put into the container; where it can't be asked nobody is told. */
void lease_refused(const struct command *c, enum door_setting door, const struct why *why);

/* Has the helper look whether the container's lease is over; after a delete that went well (status 0), it should be. */
void lease_look(const struct command *c, enum door_setting door, int status);

#endif
