/* The wrapper's part in the lease of its container. */
#ifndef GPUHELPER_USER_ASK_LEASE_H
#define GPUHELPER_USER_ASK_LEASE_H

#include "../../ask/reply.h"
#include "../../lease/leasefile.h"
#include "../../policy/settings.h"
#include "../command/argv.h"
#include "ask.h"

/* Begins a request about the command's container. Returns 0, or -1 with *why; request_free() in any case. */
int lease_request(const struct command *c, enum verb verb, struct request *r, struct why *why);

/* Adds what a workload manager (SLURM, say) has allocated to this worker's job. Returns 0, or -1 with *why. */
int lease_note_allocation(const struct settings *s, struct request *r, struct why *why);

/* The key (leasename.h) of the lease of the command's container. */
void lease_key_of(const struct command *c, char key[LEASE_KEY_SIZE]);

/*
 * Reads the container's lease, as only root can. Returns 0, 1 if there is none, or -1 with *why. The caller calls
 * lease_free() in any case; *l must be empty before.
 */
int lease_read(const struct command *c, struct lease *l, struct why *why);

/* True if root has an exec record of this container for the caller: then the container has or had a lease. */
bool lease_is_recorded(const struct command *c);

/*
 * Has the helper look at the new container. The container's first process must be a child of this process, which asked
 * for the grant by *a. If the helper has not stayed there, or refuses, asks another one. Returns 0, or -1 with *why:
 * the container must then be deleted, because no lease would follow it. 1 with *why: the same, because somebody has its
 * GPU open, but the caller may ask for a grant again, with scan_first.
 */
int lease_report_created(const struct command *c, enum door_setting door, struct helper_conn *a, struct why *why);

/*
 * Sends the request, and sends it again while the helper is busy, after doing the operations that came with the
 * reply (callerops.h), and while new keys are fetched for a token that no key here has signed. Returns 0 with another
 * reply than busy, or -1 with *why. After 0 the caller calls ask_end() and reply_free().
 */
int lease_ask(const struct command *c, struct request *r, enum door_setting door, struct helper_conn *a,
    struct reply *reply, struct why *why);

/*
 * Has the helper record that this process is about to start another one in the container. *text gets a line for the
 * user, or "". Gives up after three seconds if the helper stays busy: the exec goes on in any
 * case.
 */
void lease_record_exec(const struct command *c, enum door_setting door, char text[REPLY_TEXT_MAX]);

/* Has the helper record that this process was not started in the container. Ignores a helper that does not answer. */
void lease_record_refusal(const struct command *c, enum door_setting door, const struct why *why);

/*
 * Has the helper check whether the container's lease is over. After a successful delete (status 0) it should
 * be.
 */
void lease_check_over(const struct command *c, enum door_setting door, int status);

#endif
