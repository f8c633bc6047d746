/*
 * Lookup paths: the paths to granted folders and to the driver's files. A container whose root is the host's root can
 * redirect every path through a folder that it may write to, between the helper's check and the runtime's mount. So the
 * helper grants no such path, and it grants no such folder while a path through that folder is being mounted.
 */
#ifndef GPUHELPER_ROOT_LEASE_LOOKUPS_H
#define GPUHELPER_ROOT_LEASE_LOOKUPS_H

#include "../../host/folder/mounts.h"
#include "../../kernel/idmap.h"
#include "leaselist.h"

/*
 * Adds the lookup paths of the edits' folders to *l, by the mount table with which these were found, and sets
 * l->host_root: whether the container's root is the host's root. -1 with *why.
 */
int lookups_note(const struct edits *e, const struct mount_table *mounts, const struct idmap *uids, struct lease *l,
    struct why *why);

/*
 * Adds the lookup paths of the edits' driver files and hooks to *l, after lookups_note(): the runtime resolves these
 * paths again, too. To be called under the lock and after the leases were read, so that nobody can redirect
 * what is found. -1 with *why.
 */
int lookups_note_driver(const struct edits *e, struct lease *l, struct why *why);

/*
 * To be called after lookups_note() and lookups_note_driver(), for a request of uid. Refuses a container whose root is
 * the host's root, unless uid is 0: everyone's folders are compared with such a container's. -1 with *why.
 */
int lookups_check_root(const struct lease *l, uint32_t uid, struct why *why);

/*
 * Under the lock: compares the lease's lookup paths with those of all other leases. -1 with *why (WHY_AGAIN), which
 * names the other container only to its own user.
 */
int lookups_may_add(const struct leases *ls, const struct lease *l, struct why *why);

/*
 * To be called once the container exists and its folders are mounted: only those that it may write to as the host's
 * root still matter, and the others are dropped.
 */
void lookups_keep_writable(struct lease *l);

#endif
