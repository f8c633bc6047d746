/*
 * Lookup paths: the paths to granted folders and to the driver's files. A container whose root is the host's root can
 * redirect every path through a folder that it may write to, between the helper's check and the runtime's mount. So the
 * helper grants no such path, and it grants no such folder while a path through that folder is being mounted.
 */
#ifndef GPUHELPER_ROOT_LEASE_LOOKUPS_H
#define GPUHELPER_ROOT_LEASE_LOOKUPS_H

#include "leaselist.h"

/*
 * Checks the lookup paths of hooks, which the lease has from the one with the index «from» on, against its own folders:
 * root runs poststart and poststop hooks when the container already exists, and could have changed them. -1 with *why.
 */
int lookups_check_hooks(const struct lease *l, size_t from, struct why *why);

/*
 * To be called once the lease has its lookup paths. Refuses a container whose root is the host's root, unless the uid
 * that asks is 0: everyone's folders are compared with such a container's. -1 with *why.
 */
int lookups_check_root(const struct lease *l, uint32_t uid, struct why *why);

/*
 * Under the lock: compares the lease's lookup paths with those of all other leases. -1 with *why (WHY_AGAIN), which
 * names the other container only to its own user.
 */
int lookups_may_add(const struct leases *ls, const struct lease *l, struct why *why);

/*
 * To be called once the container exists and its folders are mounted: only those that it may write to as the host's
 * root still matter, and the others are dropped, unless hooks are still to be run.
 */
void lookups_keep_writable(struct lease *l);

#endif
