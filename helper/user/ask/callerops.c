/*
 * See callerops.h. Works with the caller's rights on the container that root's lease names. Must do no operation
 * that the lease no longer asks for, and none for a container that root's wrapper did not see itself.
 */
#include "callerops.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/times.h"
#include "../../host/clock.h"
#include "../../host/file.h"
#include "../../host/process/process.h"
#include "../../lease/leasefile.h"
#include "../../lease/leasewants.h"
#include "../cgroup/devcgroup.h"
#include "../cgroup/endprocesses.h"
#include "../record/containerrecord.h"

#define LOCK_NAP_MS 2

/*
 * Takes the lock that callerop.h describes. Returns its descriptor, or -1 with *why if its holder is slow or
 * stopped.
 */
static int
lock_lease(const struct caller_op *c, struct why *why)
{
	const struct timespec nap = { .tv_nsec = LOCK_NAP_MS * 1000000 };
	const int64_t deadline = clock_ms() + DEVICE_LOCK_MS;
	char name[sizeof(GPUHELPER_RUNDIR) + 96];
	int fd;

	snprintf(name, sizeof(name), "%s/locks/" DEVICE_LOCK "%s", GPUHELPER_RUNDIR, c->lease);
	if ((fd = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)) == -1)
		return refuse(why, WHY_IO, "%s: %s", name, strerror(errno));
	while (flock(fd, LOCK_EX | LOCK_NB) == -1) {
		if (errno != EWOULDBLOCK || clock_ms() > deadline) {
			close(fd);
			return refuse(why, WHY_AGAIN, "container %s: another process has been changing its device rules for over "
			    "%d ms: try again", c->id, DEVICE_LOCK_MS);
		}
		nanosleep(&nap, NULL);
	}
	return fd;
}

/* True if the lease still asks for this operation. Nobody else does one while this process has the lock. */
static bool
is_still_wanted(const struct caller_op *c)
{
	autoclose int dir = open(GPUHELPER_RUNDIR "/leases", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	autofree char *text = NULL;
	struct lease l = { 0 };
	struct why ignored;
	bool yes;
	size_t len;

	/* the file of the lease whose lock is held, and of no other */
	if (strncmp(c->file, c->lease, LEASE_KEY_SIZE - 1) != 0 || c->file[LEASE_KEY_SIZE - 1] != '-')
		return false;
	if (dir == -1 || (text = file_read_at(dir, c->file, LEASE_FILE_MAX, &len)) == NULL ||
	    lease_decode(text, len, &l, &ignored) == -1)
		return false;
	yes = lease_wants(&l, c);
	lease_free(&l);
	return yes;
}

static bool
is_opened_by(const struct caller_op *c, const struct devnum *n)
{
	size_t i;

	for (i = 0; i < c->nodes; i++)
		if (c->node[i].major == n->major && c->node[i].minor == n->minor)
			return c->node[i].allowed;
	return false;
}

/* The recorded devices, of which OP_ALLOW opens some. The caller frees them; NULL if memory is short. */
static struct promised_node *
devices_of(const struct caller_op *c, const struct container_record *r)
{
	struct promised_node *v = calloc(r->nodes + 1, sizeof(*v));
	size_t i;

	for (i = 0; v != NULL && i < r->nodes; i++)
		v[i] = (struct promised_node){ r->node[i].major, r->node[i].minor, c->kind == OP_ALLOW &&
		    is_opened_by(c, &r->node[i]) };
	return v;
}

/* Of the operation it takes only the kind, and which devices are to be open. */
static int
do_op(const struct caller_op *c, const struct container_record *r, struct why *why)
{
	autofree struct promised_node *v = devices_of(c, r);

	if (v == NULL)
		return refuse_nomem(why);
	switch (c->kind) {
	case OP_ALLOW:
		return devcgroup_set(r->devcgroup, v, r->nodes, false, why) == -1 ? -1 :
		    devcgroup_check(r->devcgroup, v, r->nodes, false, why);
	case OP_STOP:
		return end_first(c->id, r->init, why);
	case OP_CLEAR:
		if (end_others(c->id, &r->cgroups, r->init, why) == -1)
			return -1;
		/* FALLTHROUGH */
	case OP_DENY:
		break;
	}
	return devcgroup_set(r->devcgroup, v, r->nodes, true, why);
}

/*
 * Does an operation for the container of the record. Another container may have the cgroups of one that has ended, so
 * there is nothing left to do then. Process numbers of another PID namespace name other processes here.
 */
static int
do_for(const struct caller_op *c, const struct container_record *r, struct why *why)
{
	const bool ours = container_record_has_our_pids(r);

	if (!ours && (c->kind == OP_STOP || c->kind == OP_CLEAR))
		return refuse(why, WHY_DENIED, "container %s is in another PID namespace: its processes can be ended only there",
		    c->id);
	if (!ours || process_id_lives(r->init))
		return do_op(c, r, why);
	return c->kind != OP_ALLOW ? 0 : refuse(why, WHY_AGAIN, "container %s has ended", c->id);
}

/* Does one operation. Returns 0, 1 if the lease no longer asks for the operation, or -1 with *why. */
static int
do_one(const struct caller_op *c, struct why *why)
{
	autoclose int held = lock_lease(c, why);
	struct container_record r = { .devcgroup = NULL };
	int ret;

	if (held == -1)
		return -1;
	if (is_still_wanted(c)) {
		ret = container_record_check_op(c, &r, why) == -1 ? -1 : do_for(c, &r, why);
		container_record_free(&r);
		return ret;
	}
	if (c->kind != OP_ALLOW)
		return 1;
	return refuse(why, WHY_AGAIN, "the lease of container %s has changed meanwhile: try again", c->id);
}

int
caller_ops_do(const struct caller_ops *c, struct request *next, struct why *why)
{
	struct why first = { 0 }, one;
	size_t i;
	int ret;

	strlist_free(&next->retry.revoked);
	for (i = 0; i < c->n; i++)
		if ((ret = do_one(&c->v[i], &one)) == -1) {
			next->retry.no_ops = true;
			if (first.code == WHY_NONE)
				first = one;
		} else if (ret == 0 && c->v[i].kind != OP_ALLOW && !strlist_add(&next->retry.revoked, c->v[i].lease, SIZE_MAX))
			refuse_nomem(&first);
	if (first.code == WHY_NONE)
		return 0;
	*why = first;
	return -1;
}
