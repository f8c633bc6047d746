/* See nodeaccess.h. Runs with the caller's rights. */
#include "nodeaccess.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../gpu/devlist.h"
#include "../../host/cgroup/candidates.h"
#include "../../host/cgroup/cgroup.h"
#include "../../host/file.h"
#include "devcgroup.h"
#include "devcgrouppath.h"

void
node_access_free(struct node_access *a)
{
	free(a->node);
	free(a->denied);
	*a = (struct node_access){ 0 };
}

static void
count_denials(struct node_access *a)
{
	size_t i;

	for (a->denials = 0, i = 0; i < a->nodes; i++)
		a->denials += a->denied[i];
}

/* access(2) itself: the C library may answer other calls from the mode alone. */
static void
ask_kernel(struct node_access *a)
{
	size_t i;

	for (i = 0; i < a->nodes; i++)
		a->denied[i] = access(a->node[i].path, (a->node[i].mode & 0222) != 0 ? R_OK | W_OK : R_OK) == -1 &&
		    errno == EPERM;
	count_denials(a);
}

int
node_access_of(const struct edits *e, struct node_access *out, struct why *why)
{
	*out = (struct node_access){ .node = calloc(e->nodes + 1, sizeof(*out->node)),
		.denied = calloc(e->nodes + 1, sizeof(*out->denied)) };
	if (out->node == NULL || out->denied == NULL) {
		refuse_nomem(why);
		return -1;
	}
	if (e->nodes > 0)
		memcpy(out->node, e->node, e->nodes * sizeof(*e->node));
	out->nodes = e->nodes;
	ask_kernel(out);
	return 0;
}

/* Asks devices.list, which cgroup v1 shows to everybody. */
static void
ask_list(struct node_access *a, const char *list)
{
	size_t i;

	for (i = 0; i < a->nodes; i++)
		a->denied[i] = !devlist_allows(list, a->node[i].major, a->node[i].minor);
	count_denials(a);
}

/* The list of the open cgroup, which the caller frees; NULL with v2 or if it can't be read. */
static char *
read_list(int cgroup)
{
	return cgroup_is_v2(cgroup) ? NULL : file_read_at(cgroup, "devices.list", 1 << 20, NULL);
}

bool
node_access_of_process(struct node_access *a, pid_t pid)
{
	autofree char *its = devcgroup_of(pid), *own = devcgroup_of(getpid()), *list = NULL;
	autoclose int there = -1, here = -1;

	if (its == NULL || own == NULL)
		return false;
	if ((there = devcgroup_open(its)) == -1 || (here = devcgroup_open(own)) == -1)
		return strcmp(its, own) == 0;
	if ((list = read_list(there)) != NULL) {
		ask_list(a, list);
		return true;
	}
	return a->denials > 0 ? devcgroup_is_beneath(its, own) || devcgroup_includes(there, here) :
	    devcgroup_is_beneath(own, its) || devcgroup_includes(here, there);
}

/* Writes an option for each major of a denied node, once. */
static void
tell_options(const struct node_access *a, struct buf *fix)
{
	size_t i, k;

	for (i = 0; i < a->nodes; i++) {
		if (!a->denied[i])
			continue;
		for (k = 0; k < i && !(a->denied[k] && a->node[k].major == a->node[i].major); k++)
			;
		if (k == i)
			buf_printf(fix, " --device-cgroup-rule='c %u:* rwm'", a->node[i].major);
	}
}

void
node_access_tell(const struct node_access *a, struct buf *what, struct buf *fix)
{
	size_t i;

	for (i = 0; i + 1 < a->nodes && !a->denied[i]; i++)
		;
	buf_puts(what, a->nodes > 0 ? a->node[i].path : "");
	if (a->denials > 1)
		buf_printf(what, " and %zu other node%s", a->denials - 1, a->denials > 2 ? "s" : "");
	buf_puts(fix, "start the worker's own container with");
	tell_options(a, fix);
	buf_puts(fix, " (in Kubernetes: privileged, or with the GPUs' device plugin), or its service with DeviceAllow=");
}

#define OWN "this worker's cgroup"
#define ABOVE "a cgroup above the container's"

/* «rules»: OWN or ABOVE, whose rules deny the nodes. */
static int
refuse_denied(const struct node_access *a, const char *rules, struct why *why)
{
	autobuf struct buf what = { 0 }, fix = { 0 };

	node_access_tell(a, &what, &fix);
	if (what.failed || fix.failed)
		return refuse_nomem(why);
	return refuse(why, WHY_DENIED, "the device rules of %s deny %s to all containers beneath it: %s", rules, what.p,
	    fix.p);
}

int
node_access_refuse(const struct node_access *a, struct why *why)
{
	return refuse_denied(a, OWN, why);
}

/* True if a cgroup that is made at «candidate» can't allow a node that our own cgroup denies. */
static bool
candidate_denies(const struct node_access *a, int here, const char *candidate)
{
	autoclose int there = devcgroup_open(candidate);
	autofree char *list = there != -1 ? read_list(there) : NULL;
	size_t i;

	if (there == -1 || cgroup_is_v2(there))
		return there != -1 && devcgroup_includes(there, here);
	for (i = 0; list != NULL && i < a->nodes; i++)
		if (a->denied[i] && !devlist_allows(list, a->node[i].major, a->node[i].minor))
			return true;
	return false;
}

bool
node_access_is_lost(const struct node_access *a, const char *cgroups_path, const char *id)
{
	autofree char *own = a->denials > 0 ? devcgroup_of(getpid()) : NULL;
	autoclose int here = own != NULL ? devcgroup_open(own) : -1;
	autostrlist struct strlist candidates = { 0 };
	struct why ignored;
	bool lost = false;
	size_t i;

	if (here == -1 || cgroup_candidates(getpid(), cgroups_path, id, &candidates, &ignored) == -1)
		return false;
	for (i = 0; i < candidates.n; i++) {
		if (!devcgroup_is(candidates.v[i]))
			continue;
		if (!devcgroup_is_beneath(candidates.v[i], own) && !candidate_denies(a, here, candidates.v[i]))
			return false;
		lost = true;
	}
	return lost;
}

/* Asks the list of the cgroup above «candidate»: the runtime may have left its own one half made. */
static bool
above_denies(struct node_access *a, const char *candidate)
{
	autofree char *above = strndup(candidate, (size_t)(strrchr(candidate, '/') - candidate)), *list = NULL;
	autoclose int fd = above != NULL ? devcgroup_open(above) : -1;

	if (fd == -1 || (list = read_list(fd)) == NULL)
		return false;
	ask_list(a, list);
	return a->denials > 0;
}

bool
node_access_explain(struct node_access *a, const char *cgroups_path, const char *id, struct why *why)
{
	const char *rules = a->denials > 0 ? OWN : ABOVE;
	autostrlist struct strlist candidates = { 0 };
	size_t i;

	if (a->nodes == 0 || cgroup_candidates(getpid(), cgroups_path, id, &candidates, why) == -1)
		return false;
	for (i = 0; i < candidates.n; i++)
		if (strchr(candidates.v[i], '/') != NULL && devcgroup_is(candidates.v[i]) && above_denies(a, candidates.v[i])) {
			refuse_denied(a, rules, why);
			return true;
		}
	return false;
}

int
node_access_check_beneath(const struct node_access *a, pid_t init, struct why *why)
{
	autofree char *its = NULL, *own = NULL;

	if (a->denials == 0 || (its = devcgroup_of(init)) == NULL || (own = devcgroup_of(getpid())) == NULL ||
	    !devcgroup_is_beneath(its, own))
		return 0;
	return node_access_refuse(a, why);
}

/* In the child: goes into the cgroup, and writes the answers of the kernel. */
static _Noreturn void
ask_from_inside(struct node_access *a, int procs, int answers)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (write(procs, "0", 1) != 1)
		_exit(1);
	ask_kernel(a);
	_exit(write(answers, a->denied, a->nodes * sizeof(*a->denied)) == -1);
}

/* Asks from inside the open cgroup. Denies nothing if that can't be done. */
static void
ask_inside(struct node_access *a, int cgroup)
{
	autoclose int procs = file_open_beneath(cgroup, "cgroup.procs", O_WRONLY);
	const ssize_t size = (ssize_t)(a->nodes * sizeof(*a->denied));
	int answers[2];
	pid_t pid;

	memset(a->denied, 0, (size_t)size);
	a->denials = 0;
	if (procs == -1 || pipe2(answers, O_CLOEXEC) == -1)
		return;
	if ((pid = fork()) == 0)
		ask_from_inside(a, procs, answers[1]);
	close(answers[1]);
	if (pid == -1 || read(answers[0], a->denied, (size_t)size) != size)
		memset(a->denied, 0, (size_t)size);
	close(answers[0]);
	while (pid != -1 && waitpid(pid, NULL, 0) == -1 && errno == EINTR)
		;
	count_denials(a);
}

int
node_access_check_inside(const struct node_access *a, const char *cgroup, struct why *why)
{
	uint32_t ids[DEVCGROUP_PROGRAMS_MAX], attached, all;
	autoclose int fd = devcgroup_open(cgroup);
	autonodeaccess struct node_access inside = { 0 };
	const struct edits nodes = { .node = a->node, .nodes = a->nodes };

	if (a->nodes == 0 || fd == -1 || !cgroup_is_v2(fd) || devcgroup_programs(fd, false, ids, &attached) == -1 ||
	    devcgroup_programs(fd, true, ids, &all) == -1 || all == attached)
		return 0;
	if (node_access_of(&nodes, &inside, why) == -1)
		return -1;
	ask_inside(&inside, fd);
	return inside.denials == 0 ? 0 : refuse_denied(&inside, ABOVE, why);
}
