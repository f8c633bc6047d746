/*
 * See doctor.h: checks that the worker's own device cgroup leaves the GPUs to its containers.  A worker may itself run
 * in a container, whose engine denies it all devices that its options do not name.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/path.h"
#include "../../host/gpu/udev.h"
#include "../../user/cgroup/devcgrouppath.h"
#include "../../user/cgroup/nodeaccess.h"
#include "doctor.h"

static bool
add_nodes(struct edits *e, const struct gpu_node *node, size_t n)
{
	struct edit_node to;
	size_t i;

	for (i = 0; i < n; i++) {
		if (node[i].major == GPU_NODE_NO_MODULE)
			continue;
		to = (struct edit_node){ .major = node[i].major, .minor = node[i].minor,
			.mode = node[i].read_only ? 0444 : 0666 };
		memcpy(to.path, node[i].path, sizeof(to.path));
		if (!edits_add_node(e, &to))
			return false;
	}
	return true;
}

/* Adds the nodes of the usable GPUs, and those that each GPU of their vendors needs as well. */
static bool
add_gpus(struct edits *e, const struct inventory *inv)
{
	bool usable[GPU_VENDORS] = { false }, added = true;
	size_t i;

	for (i = 0; i < inv->gpus; i++)
		if (inv->gpu[i].unusable[0] == '\0') {
			usable[inv->gpu[i].vendor] = true;
			added = added && add_nodes(e, inv->gpu[i].node, inv->gpu[i].nodes);
		}
	for (i = 0; i < GPU_VENDORS; i++)
		added = added && (!usable[i] || add_nodes(e, inv->common[i], inv->commons[i]));
	return added;
}

/* True if the process is in the cgroup of a systemd service: the cgroups of its containers may be elsewhere. */
static bool
is_service(pid_t pid)
{
	autofree char *dir = devcgroup_of(pid);

	return dir != NULL && ends_with(path_last(dir), ".service");
}

static void
tell_denials(struct doctor *d, const struct node_access *r, const char *whose, pid_t pid)
{
	const enum finding f = d->gives_gpus && !is_service(pid) ? FINDING_FAIL : FINDING_WARN;
	autobuf struct buf what = { 0 }, fix = { 0 };

	node_access_tell(r, &what, &fix);
	if (!what.failed && !fix.failed)
		doctor_say(d, f, "worker-cgroup", fix.p, "the device rules of the cgroup of %s (PID %d) deny %s to all containers "
		    "beneath it", whose, pid, what.p);
}

static void
look_at_access(struct doctor *d, struct node_access *r)
{
	const pid_t worker = d->worker.concourse != 0 ? d->worker.concourse : d->worker.engine;
	const char *whose = d->worker.concourse != 0 ? "Concourse's worker" : worker != 0 ? d->worker.name : "this process";
	const pid_t pid = worker != 0 ? worker : getpid();

	if (!node_access_of_process(r, pid))
		doctor_say(d, FINDING_WARN, "worker-cgroup", "run doctor where the worker runs", "can't see whether the cgroup of %s "
		    "(PID %d) denies GPUs", whose, pid);
	else if (r->denials > 0)
		tell_denials(d, r, whose, pid);
	else
		doctor_say(d, FINDING_OK, "worker-cgroup", NULL, "the cgroup of %s (PID %d) denies no GPU", whose, pid);
}

void
doctor_access(struct doctor *d)
{
	struct inventory inv = { 0 };
	struct edits nodes = { 0 };
	autonodeaccess struct node_access access = { 0 };

	/* doctor_gpus() has reported a host that can't be read */
	if (gpus_of_host(GPUS_ALL, &inv, &d->why) == 0) {
		if (!add_gpus(&nodes, &inv) || node_access_of(&nodes, &access, &d->why) == -1)
			doctor_say(d, FINDING_FAIL, "worker-cgroup", NULL, "out of memory");
		else if (access.nodes > 0)
			look_at_access(d, &access);
	}
	edits_free(&nodes);
	inventory_free(&inv);
}
