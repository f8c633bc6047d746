/*
 * VERB_CREATED: the runtime has created the container. So far the lease names only the cgroups that the container might
 * get; now the helper notes the real ones. All it takes from the request is the container's name; the rest it learns
 * from the kernel: processes, their parents and their cgroups.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../host/cgroup/cgroup.h"
#include "../../host/cgroup/container.h"
#include "../../host/file.h"
#include "../../host/gpu/majors.h"
#include "../../host/process/namespaces.h"
#include "../enter/owncgroup.h"
#include "../enter/peer.h"
#include "../grant/latescan.h"
#include "../lease/leaselist.h"
#include "../lease/leasewrite.h"
#include "../lease/lookups.h"
#include "verb.h"

/*
 * Refuses a rootful container without device rules that deny the other GPUs. A privileged container could change its
 * own rules, so it is not checked.
 */
static int
check_device_cgroup(const struct lease *l, const char *devcgroup, bool restricted, struct why *why)
{
	if (devcgroup == NULL)
		return refuse(why, WHY_DENIED, "container %s: the runtime gave it no devices cgroup of its own, so it could open "
		    "every GPU (was the runtime told to use no cgroups?)", l->id);
	return restricted || l->container.privileged ? 0 : refuse(why, WHY_DENIED, "container %s: "
	    "/sys/fs/cgroup/%s/devices.list lets it open GPUs that it was not granted", l->id, devcgroup);
}

/*
 * Notes the cgroup with the container's device rules, by which root's wrapper allows nodes to a promise's tasks.
 * *restricted: these rules deny the container other GPUs.
 */
static int
note_device_cgroup(struct lease *l, const char *devcgroup, bool *restricted, struct why *why)
{
	const int root = file_root();
	struct devmajors majors = { 0 };
	int ret = root == -1 ? refuse(why, WHY_IO, "/: %s", strerror(errno)) : majors_read(root, &majors, why);

	*restricted = ret == 0 && container_is_restricted(devcgroup, &majors);
	devmajors_free(&majors);
	if (ret == 0 && l->gpus_by_task && (l->tasks.devcgroup = strdup(devcgroup)) == NULL)
		return refuse_nomem(why);
	return ret;
}

/* The container that the peer's runtime has just made, as the kernel shows it. */
struct created_container {
	struct process_id init;
	bool own_pids;
	uint64_t mounts;	/* its mount namespace, if it shares a PID namespace but no mount namespace; else 0 */
	struct strlist cgroups;	/* those that hold only this container */
	size_t devcgroup;		/* which of them holds its device rules; SIZE_MAX: none */
};

/*
 * If the container shares a PID namespace, its processes may outlive the first one, and move to another cgroup. Then
 * only their mount namespace shows that they are the container's.
 */
static int
find_mounts(const struct peer *peer, struct created_container *b, struct why *why)
{
	uint64_t its, engines;

	if (b->own_pids)
		return 0;
	if (!ns_of(b->init.pid, "mnt", &its) || !ns_of(peer->pid, "mnt", &engines))
		return refuse(why, WHY_IO, "/proc/%d/ns/mnt: %s", b->init.pid, strerror(errno));
	if (its != engines)
		b->mounts = its;
	return 0;
}

/*
 * To be called without any lock, because the peer can block a process that reads about its processes in /proc. The
 * caller frees b->cgroups.
 */
static int
find_created(const struct peer *peer, const struct request *r, struct created_container *b, struct why *why)
{
	*b = (struct created_container){ 0 };
	if (!container_find_init(peer->pid, getpid(), &b->init, &b->own_pids))
		return refuse(why, WHY_IO, "container %s: can't find its first process (is PID %d the one that started the "
		    "runtime?)", r->id, peer->pid);
	if (!cgroup_own(b->init.pid, &b->cgroups, &b->devcgroup))
		return refuse(why, WHY_IO, "/proc/%d/cgroup: can't find the container's cgroups", b->init.pid);
	return find_mounts(peer, b, why);
}

/*
 * Notes the container's cgroups. A rootless container may have no cgroup of its own. The lease then keeps the cgroups
 * that it has.
 */
static int
note_cgroups(struct created_container *b, struct lease *l, struct why *why)
{
	const bool has_own_cgroup = l->container.users == 0;
	const char *at = b->devcgroup != SIZE_MAX ? b->cgroups.v[b->devcgroup] : NULL;
	bool restricted = false;

	if ((at != NULL && note_device_cgroup(l, at, &restricted, why) == -1) ||
	    (has_own_cgroup && check_device_cgroup(l, at, restricted, why) == -1))
		return -1;
	/* root's wrapper has the nodes denied before it reports the container; cgroup v2 shows its rules to nobody */
	if (l->gpus_by_task && !container_is_denied(l))
		return refuse(why, WHY_DENIED, "container %s: /sys/fs/cgroup/%s/devices.list lets it open GPUs that it was only "
		    "promised", l->id, at != NULL ? at : "");
	if (b->cgroups.n == 0)
		return 0;
	strlist_free(&l->container.cgroups);
	l->container.cgroups = b->cgroups;
	b->cgroups = (struct strlist){ 0 };
	return 0;
}

static int
note_container(const struct leases *ls, struct created_container *b, struct lease *l, struct why *why)
{
	l->unscanned = false;
	l->container.init = b->init;
	l->container.own_pids = b->own_pids;
	if (note_cgroups(b, l, why) == -1)
		return -1;
	if (b->mounts != 0)
		l->container.mnt_ns = b->mounts;
	lookups_keep_writable(l);
	/* the lease may be longer now, with the names of the cgroups */
	return leases_write_grown(ls, l, why);
}

/*
 * Somebody has the GPU open, or nobody has looked. Leaves the lease without an asker: it then ends when the
 * container's cgroups are empty, although the process that asked lives, deletes the container and asks again.
 */
static void
give_up(const struct leases *ls, struct lease *l, const struct why *why, struct reply *reply)
{
	l->asker = (struct process_id){ 0 };
	if (leases_write(ls, l, &reply->why) == -1)
		return;
	reply->kind = REPLY_BUSY;
	reply->why = *why;
}

static void
note_for(const struct peer *peer, const struct request *r, struct created_container *b, const struct why *not_found,
    struct reply *reply)
{
	autoleases struct leases ls = LEASES_CLOSED;
	struct why unscanned;
	struct lease *l;
	char key[LEASE_KEY_SIZE];

	lease_key(peer->client.uid, r->runtime_root, r->id, key);
	if (leases_lock(&ls, peer->client.uid, &reply->why) == 0 &&
	    leases_read(&ls, &(struct lease_query){ .key = key }, &reply->why) == 0) {
		l = leases_find(&ls, peer->client.uid, r->runtime_root, r->id);
		if (l == NULL || l->asker.pid != peer->pid || l->asker.start != peer->start)
			refuse(&reply->why, WHY_DENIED, "container %s has no lease that this process requested", r->id);
		else if (late_scan_check(l, &unscanned) == -1)
			give_up(&ls, l, &unscanned, reply);
		else if (not_found->code != WHY_NONE)
			reply->why = *not_found;
		else if (note_container(&ls, b, l, &reply->why) == 0)
			reply->kind = REPLY_DONE;
	}
}

void
verb_created(const struct peer *peer, const struct request *r, struct reply *reply)
{
	struct why not_found = { .code = WHY_NONE };
	struct created_container b;

	reply->kind = REPLY_REFUSED;
	/* first: a helper in the peer's cgroup could make the container's cgroup look shared */
	if (leave_cgroup(peer->starter, &reply->why) == -1)
		return;
	(void)find_created(peer, r, &b, &not_found);
	note_for(peer, r, &b, &not_found, reply);
	strlist_free(&b.cgroups);
}
