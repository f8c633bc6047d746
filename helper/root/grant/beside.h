/*
 * The look who has a new lease's GPUs open (unleased.h), beside the runtime that makes the container. The lease is
 * «unlooked» until then. Only for a container that a device cgroup keeps from the GPU, that waits for «start», and
 * whose wrapper is the host's root: that wrapper starts nothing before VERB_CREATED has succeeded
 * (user/record/grantrecord.h), and VERB_CREATED fails without the look.
 */
#ifndef GPUHELPER_ROOT_GRANT_BESIDE_H
#define GPUHELPER_ROOT_GRANT_BESIDE_H

#include "plan.h"

/* True if the look may wait for the reply. Then this helper has a slot by which it may stay (slots.h). */
bool beside_may(const struct plan *p);
/* Keeps what to look for, when the plan is gone. -1 with *why. */
int beside_keep(const struct plan *p, struct why *why);
/* Looks, if there is something to look for. Takes long: must not be called under the lock. False: there is nothing. */
bool beside_look(void);
/*
 * 0 if nobody else has the lease's GPUs open, by beside_look() or an earlier look. -1 with *why: somebody has, or this
 * helper has not looked.
 */
int beside_check(const struct lease *l, struct why *why);

#endif
