/*
 * The look who has a new lease's GPUs open (gpuopeners.h), beside the runtime that makes the container. The lease is
 * «unscanned» until then. Only for a container that a device cgroup keeps from the GPU, that waits for «start», and
 * whose wrapper is the host's root: that wrapper starts nothing before VERB_CREATED has succeeded
 * (user/record/grantrecord.h), and VERB_CREATED fails without the look.
 */
#ifndef GPUHELPER_ROOT_GRANT_LATESCAN_H
#define GPUHELPER_ROOT_GRANT_LATESCAN_H

#include "plan.h"

/* True if the look may wait for the reply. Then this helper has a slot by which it may stay (slots.h). */
bool late_scan_may(const struct plan *p);
/* Keeps what to look for, when the plan is gone. -1 with *why. */
int late_scan_keep(const struct plan *p, struct why *why);
/* Looks, if there is something to look for. Takes long: must not be called under the lock. False: there is nothing. */
bool late_scan_now(void);
/*
 * 0 if nobody else has the lease's GPUs open, by late_scan_now() or an earlier look. -1 with *why: somebody has, or
 * this helper has not looked.
 */
int late_scan_check(const struct lease *l, struct why *why);

#endif
