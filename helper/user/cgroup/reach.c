/* See reach.h. Runs with the caller's rights. */
#include "reach.h"

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
#include "../../host/cgroup/cgroup.h"
#include "../../host/file.h"
#include "gate.h"
#include "rulecgroup.h"

void
reach_free(struct reach *r)
{
	free(r->node);
	free(r->denied);
	*r = (struct reach){ 0 };
}

static void
count_denials(struct reach *r)
{
	size_t i;

	for (r->denials = 0, i = 0; i < r->nodes; i++)
		r->denials += r->denied[i];
}

/* access(2) itself: the C library may answer other calls from the mode alone. */
static void
ask_kernel(struct reach *r)
{
	size_t i;

	for (i = 0; i < r->nodes; i++)
		r->denied[i] = access(r->node[i].path, (r->node[i].mode & 0222) != 0 ? R_OK | W_OK : R_OK) == -1 &&
		    errno == EPERM;
	count_denials(r);
}

int
reach_of(const struct edits *e, struct reach *out, struct why *why)
{
	*out = (struct reach){ .node = calloc(e->nodes + 1, sizeof(*out->node)),
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
ask_list(struct reach *r, const char *list)
{
	size_t i;

	for (i = 0; i < r->nodes; i++)
		r->denied[i] = !devlist_allows(list, r->node[i].major, r->node[i].minor);
	count_denials(r);
}

/* The list of the open cgroup, which the caller frees; NULL with v2 or if it can't be read. */
static char *
read_list(int cgroup)
{
	return cgroup_is_v2(cgroup) ? NULL : file_read_at(cgroup, "devices.list", 1 << 20, NULL);
}

bool
reach_of_process(struct reach *r, pid_t pid)
{
	autofree char *its = rulecgroup_of(pid), *own = rulecgroup_of(getpid()), *list = NULL;
	autoclose int there = -1, here = -1;

	if (its == NULL || own == NULL)
		return false;
	if ((there = rulecgroup_open(its)) == -1 || (here = rulecgroup_open(own)) == -1)
		return strcmp(its, own) == 0;
	if ((list = read_list(there)) != NULL) {
		ask_list(r, list);
		return true;
	}
	return r->denials > 0 ? rulecgroup_is_beneath(its, own) || rulecgroup_includes(there, here) :
	    rulecgroup_is_beneath(own, its) || rulecgroup_includes(here, there);
}

/* Writes an option for each major of a denied node, once. */
static void
tell_options(const struct reach *r, struct buf *mend)
{
	size_t i, k;

	for (i = 0; i < r->nodes; i++) {
		if (!r->denied[i])
			continue;
		for (k = 0; k < i && !(r->denied[k] && r->node[k].major == r->node[i].major); k++)
			;
		if (k == i)
			buf_printf(mend, " --device-cgroup-rule='c %u:* rwm'", r->node[i].major);
	}
}

void
reach_tell(const struct reach *r, struct buf *what, struct buf *mend)
{
	size_t i;

	for (i = 0; i + 1 < r->nodes && !r->denied[i]; i++)
		;
	buf_puts(what, r->nodes > 0 ? r->node[i].path : "");
	if (r->denials > 1)
		buf_printf(what, " and %zu other node%s", r->denials - 1, r->denials > 2 ? "s" : "");
	buf_puts(mend, "start the worker's own container with");
	tell_options(r, mend);
	buf_puts(mend, " (in Kubernetes: privileged, or with the GPUs' device plugin), or its service with DeviceAllow=");
}

#define OWN "this worker's cgroup"
#define ABOVE "a cgroup above the container's"

/* «rules»: OWN or ABOVE, whose rules deny the nodes. */
static int
refuse_denied(const struct reach *r, const char *rules, struct why *why)
{
	autobuf struct buf what = { 0 }, mend = { 0 };

	reach_tell(r, &what, &mend);
	if (what.failed || mend.failed)
		return refuse_nomem(why);
	return refuse(why, WHY_DENIED, "the device rules of %s deny %s to all containers beneath it: %s", rules, what.p,
	    mend.p);
}

int
reach_refuse(const struct reach *r, struct why *why)
{
	return refuse_denied(r, OWN, why);
}

/* True if a cgroup that is made at «place» can't allow a node that our own cgroup denies. */
static bool
place_denies(const struct reach *r, int here, const char *place)
{
	autoclose int there = rulecgroup_open(place);
	autofree char *list = there != -1 ? read_list(there) : NULL;
	size_t i;

	if (there == -1 || cgroup_is_v2(there))
		return there != -1 && rulecgroup_includes(there, here);
	for (i = 0; list != NULL && i < r->nodes; i++)
		if (r->denied[i] && !devlist_allows(list, r->node[i].major, r->node[i].minor))
			return true;
	return false;
}

bool
reach_is_lost(const struct reach *r, const char *cgroups_path, const char *id)
{
	autofree char *own = r->denials > 0 ? rulecgroup_of(getpid()) : NULL;
	autoclose int here = own != NULL ? rulecgroup_open(own) : -1;
	autostrlist struct strlist places = { 0 };
	struct why ignored;
	bool lost = false;
	size_t i;

	if (here == -1 || cgroup_candidates(getpid(), cgroups_path, id, &places, &ignored) == -1)
		return false;
	for (i = 0; i < places.n; i++) {
		if (!rulecgroup_is(places.v[i]))
			continue;
		if (!rulecgroup_is_beneath(places.v[i], own) && !place_denies(r, here, places.v[i]))
			return false;
		lost = true;
	}
	return lost;
}

/* Asks the list of the cgroup above «place»: the runtime may have left its own one half made. */
static bool
above_denies(struct reach *r, const char *place)
{
	autofree char *above = strndup(place, (size_t)(strrchr(place, '/') - place)), *list = NULL;
	autoclose int fd = above != NULL ? rulecgroup_open(above) : -1;

	if (fd == -1 || (list = read_list(fd)) == NULL)
		return false;
	ask_list(r, list);
	return r->denials > 0;
}

bool
reach_explain(struct reach *r, const char *cgroups_path, const char *id, struct why *why)
{
	const char *rules = r->denials > 0 ? OWN : ABOVE;
	autostrlist struct strlist places = { 0 };
	size_t i;

	if (r->nodes == 0 || cgroup_candidates(getpid(), cgroups_path, id, &places, why) == -1)
		return false;
	for (i = 0; i < places.n; i++)
		if (strchr(places.v[i], '/') != NULL && rulecgroup_is(places.v[i]) && above_denies(r, places.v[i])) {
			refuse_denied(r, rules, why);
			return true;
		}
	return false;
}

int
reach_check_beneath(const struct reach *r, pid_t init, struct why *why)
{
	autofree char *its = NULL, *own = NULL;

	if (r->denials == 0 || (its = rulecgroup_of(init)) == NULL || (own = rulecgroup_of(getpid())) == NULL ||
	    !rulecgroup_is_beneath(its, own))
		return 0;
	return reach_refuse(r, why);
}

/* In the child: goes into the cgroup, and writes the answers of the kernel. */
static _Noreturn void
ask_from_inside(struct reach *r, int procs, int answers)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (write(procs, "0", 1) != 1)
		_exit(1);
	ask_kernel(r);
	_exit(write(answers, r->denied, r->nodes * sizeof(*r->denied)) == -1);
}

/* Asks from inside the open cgroup. Denies nothing if that can't be done. */
static void
ask_inside(struct reach *r, int cgroup)
{
	autoclose int procs = file_open_beneath(cgroup, "cgroup.procs", O_WRONLY);
	const ssize_t size = (ssize_t)(r->nodes * sizeof(*r->denied));
	int answers[2];
	pid_t pid;

	memset(r->denied, 0, (size_t)size);
	r->denials = 0;
	if (procs == -1 || pipe2(answers, O_CLOEXEC) == -1)
		return;
	if ((pid = fork()) == 0)
		ask_from_inside(r, procs, answers[1]);
	close(answers[1]);
	if (pid == -1 || read(answers[0], r->denied, (size_t)size) != size)
		memset(r->denied, 0, (size_t)size);
	close(answers[0]);
	while (pid != -1 && waitpid(pid, NULL, 0) == -1 && errno == EINTR)
		;
	count_denials(r);
}

int
reach_check_inside(const struct reach *r, const char *cgroup, struct why *why)
{
	uint32_t ids[GATE_PROGRAMS_MAX], attached, all;
	autoclose int fd = rulecgroup_open(cgroup);
	autoreach struct reach inside = { 0 };
	const struct edits nodes = { .node = r->node, .nodes = r->nodes };

	if (r->nodes == 0 || fd == -1 || !cgroup_is_v2(fd) || gate_programs(fd, false, ids, &attached) == -1 ||
	    gate_programs(fd, true, ids, &all) == -1 || all == attached)
		return 0;
	if (reach_of(&nodes, &inside, why) == -1)
		return -1;
	ask_inside(&inside, fd);
	return inside.denials == 0 ? 0 : refuse_denied(&inside, ABOVE, why);
}
