/*
 * See newcontainer.h. Runs with the caller's rights. What a check has seen of a path may change before the runtime uses
 * it: what another user could change is checked again in the new container (create.c).
 */
#include "newcontainer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../host/cgroup/vacant.h"
#include "../host/file.h"
#include "../host/gpu/majors.h"
#include "ask/lease.h"
#include "cgroup/cgroupabove.h"
#include "command/namespace.h"
#include "command/optioncheck.h"
#include "compose/grantmark.h"
#include "mount/nodes.h"
#include "mount/rootfs.h"
#include "mount/sources.h"
#include "privilege/annotations.h"
#include "privilege/resources.h"
#include "spec/specrequest.h"
#include "task/waiterfile.h"

void
new_container_free(struct new_container *n)
{
	bundle_discard(&n->bundle, n->staged);
	if (!n->conn->stays)
		ask_end(n->conn);
	reply_free(&n->reply);
	edits_free(&n->plain);
	request_free(&n->request);
	spec_free(&n->spec);
	devmajors_free(&n->majors);
	if (n->rootfd != -1)
		close(n->rootfd);
	free(n->rootpath);
	free(n->before);
	free(n->text);
	bundle_close(&n->bundle);
}

int
new_container_fill_request(struct new_container *n, enum verb verb)
{
	const struct command *c = n->command;
	struct request *r = &n->request;

	r->verb = verb;
	r->spec.is_run = verb == VERB_GRANT && strcmp(c->verb, "create") != 0;
	r->spec.systemd_cgroup = c->systemd_cgroup;
	if (r->id == NULL)
		r->id = strdup(c->id);
	if (r->runtime_root == NULL)
		r->runtime_root = strdup(c->root != NULL ? c->root : "");
	if (r->spec.cgroups_path == NULL)
		r->spec.cgroups_path = strdup("");
	return r->id != NULL && r->runtime_root != NULL && r->spec.cgroups_path != NULL ? 0 : refuse_nomem(&n->why);
}

/* True if the wrapper can put its waiter in front of the container's tasks, and can close its nodes until then. */
static bool
can_promise(const struct new_container *n)
{
	const struct spec_mount *proc = spec_mount_at(&n->spec, "/proc");

	return strcmp(n->command->verb, "create") == 0 && namespace_is_hosts_root() && !n->command->systemd_cgroup &&
	    !n->command->without_cgroup && waiter_is_usable() && proc != NULL && proc->type != NULL &&
	    strcmp(proc->type, "proc") == 0;
}

/*
 * Finds the engine's own program that pauses as process 1. It is bound into the container from a place that
 * no task can write to. A program of the same name that a task brings along is another file.
 */
static int
find_placeholder(struct new_container *n)
{
	const char *path = n->spec.first_arg;
	const struct spec_mount *from;
	struct stat st;

	if (path == NULL || !strlist_has(&n->settings->placeholder_init, path) ||
	    (from = spec_bind_at(&n->spec, path)) == NULL || rootfs_is_in_volumes(from->source, n->settings) ||
	    stat(from->source, &st) == -1 || !S_ISREG(st.st_mode) || st.st_uid != 0 || (st.st_mode & 022) != 0)
		return 0;
	n->request.spec.init_file = (struct file_id){ major(st.st_dev), minor(st.st_dev), st.st_ino };
	n->request.spec.promises = can_promise(n);
	return (n->request.spec.init_path = strdup(path)) != NULL ? 0 : refuse_nomem(&n->why);
}

static int
read_majors(struct new_container *n)
{
	const int root = file_root();

	if (root == -1)
		return refuse(&n->why, WHY_IO, "/: %s", strerror(errno));
	return majors_read(root, &n->majors, &n->why);
}

/*
 * True if a container has the directory above root.path mounted writable, and keeps it. A service or a container that
 * is starting has the host's root mounted so for a moment, before it leaves that root. Where many start at once, each
 * look finds another one for a second or two.
 */
static bool
stays_written_above(const struct new_container *n)
{
	const struct timespec nap = { .tv_nsec = 50 * 1000000 };
	unsigned tries;

	for (tries = 0; rootfs_is_written_above(n->rootpath, n->settings); tries++) {
		if (tries == 60)
			return true;
		nanosleep(&nap, NULL);
	}
	return false;
}

bool
new_container_checks_capabilities(const struct new_container *n)
{
	return n->settings->privileged == PRIVILEGED_DENY && namespace_is_hosts_root() && !n->spec.user_namespace &&
	    n->privilege[0] == '\0';
}

int
new_container_check_root(const struct new_container *n, bool *root_redirectable, struct stat *root, struct why *why)
{
	const bool creates = strcmp(n->command->verb, "create") == 0;
	const char *path = n->rootpath;

	*root_redirectable = !rootfs_is_guarded(&n->spec, n->bundle.path, path) || (!creates ? stays_written_above(n) :
	    namespace_is_hosts_root() ? rootfs_may_be_written_above(path, n->settings) :
	    rootfs_is_written_above(path, n->settings));
	if (!*root_redirectable)
		return 0;
	if (fstat(n->rootfd, root) == -1)
		return refuse(why, WHY_IO, "root.path %s: %s", path, strerror(errno));
	return creates ? 0 : refuse(why, WHY_DENIED, "root.path %s: others than root may write above it, and «%s» starts the "
	    "container before its root directory can be checked: use create, or keep the image where only root may write",
	    path, n->command->verb);
}

/*
 * In a cgroup that already has processes, the runtime would replace their device rules: a container there that has
 * a GPU would lose it, but keep the lease. In a cgroup beneath another container's, this container would prolong
 * the other container's lease.
 */
static int
check_cgroup_is_free(const struct new_container *n, struct why *why)
{
	const struct request *r = &n->request;
	autostrlist struct strlist candidates = { 0 };

	if (!namespace_is_hosts_root())
		return 0;
	if (cgroup_vacant_candidates(getpid(), r->spec.cgroups_path, r->id, &candidates, why) == -1)
		return -1;
	return !cgroup_is_in_others(&candidates) ? 0 : refuse(why, WHY_DENIED, "the container's cgroup %s is beneath another "
	    "container's: give it a path elsewhere", *r->spec.cgroups_path ? r->spec.cgroups_path : r->id);
}

bool
new_container_hides_gpus(const struct new_container *n)
{
	return !(n->request.spec.privileged && n->settings->privileged == PRIVILEGED_ALLOW);
}

static int
check_privilege(struct new_container *n)
{
	const bool root = namespace_is_hosts_root();

	if (privilege_find(&n->spec, &n->request, root, n->command->no_pivot, n->privilege, &n->why) == -1)
		return -1;
	if (!n->request.spec.privileged || n->settings->privileged != PRIVILEGED_DENY)
		n->privilege[0] = '\0';
	/* the helper decides whether the policy of a pipeline that a token proves allows it */
	if (n->privilege[0] == '\0' || n->request.untrusted.token != NULL)
		return 0;
	return privilege_refuse(&n->spec, n->settings, n->privilege, &n->why);
}

/*
 * Has the helper get ready while this process parses and checks config.json. The names may also stand in words that the
 * task's author chose: a helper that gets no request grants nothing, and records nothing.
 */
static void
ask_ahead_if_likely(const struct new_container *n)
{
	if (n->settings->grant_unasked || spec_may_ask(n->bundle.text, n->bundle.len))
		ask_early(n->settings->door);
}

int
new_container_check(struct new_container *n, bool *asks)
{
	const bool by_root = namespace_is_hosts_root();

	if (bundle_open(n->command->bundle, &n->bundle, &n->why) == -1)
		return -1;
	ask_ahead_if_likely(n);
	if (grantmark_parse(&n->spec, &n->bundle, &n->before, &n->stale, &n->why) == -1)
		return -1;
	if (spec_request(&n->spec, n->settings, &n->request, asks, &n->why) == -1 ||
	    new_container_fill_request(n, VERB_GRANT) == -1)
		return -1;
	n->spec.bundle = n->bundle.path;
	if (find_placeholder(n) == -1 || lease_note_allocation(n->settings, &n->request, &n->why) == -1 ||
	    options_check(n->command, n->settings, by_root, &n->why) == -1 ||
	    rootfs_open(&n->spec, n->bundle.path, n->settings, geteuid(), &n->rootfd, &n->rootpath, &n->why) == -1 ||
	    sources_check(&n->spec, &n->why) == -1 || check_privilege(n) == -1 ||
	    resources_check(&n->spec.doc, n->spec.resources, &n->why) == -1 ||
	    annotations_check(&n->spec, by_root, &n->why) == -1 || check_cgroup_is_free(n, &n->why) == -1 ||
	    read_majors(n) == -1)
		return -1;
	if (!new_container_hides_gpus(n) || namespace_has_device_cgroup())
		return 0;
	return nodes_check_mounts(&n->spec, &n->majors, &n->why);
}
