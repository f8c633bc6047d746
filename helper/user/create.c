/*
 * See create.h. Runs with the caller's rights. Has the runtime delete a container that fails a check. After
 * «create», no code of the task has run at that point.
 */
#include "create.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../host/cgroup/cgroup.h"
#include "../host/cgroup/container.h"
#include "../host/file.h"
#include "ask/lease.h"
#include "ask/recordclean.h"
#include "cgroup/devcgroup.h"
#include "command/message.h"
#include "command/runtime.h"
#include "mount/foldermounts.h"
#include "record/containerrecord.h"
#include "record/grantrecord.h"
#include "record/recorddir.h"
#include "spec/speccapability.h"

/* The container's root directory must be the one that was checked as root.path. */
static int
check_root_dir(const struct creation *c, pid_t init, struct why *why)
{
	struct stat st;
	char name[40];

	snprintf(name, sizeof(name), "/proc/%d/root", init);
	if (stat(name, &st) == -1)
		return refuse(why, WHY_IO, "container %s: its root directory can't be seen: %s", c->command->id, strerror(errno));
	if (st.st_dev != c->root->st_dev || st.st_ino != c->root->st_ino)
		return refuse(why, WHY_DENIED, "container %s: root.path led elsewhere when the runtime went there: someone may "
		    "write above it", c->command->id);
	return 0;
}

/* The granted folders in the container must be those that root looked at. */
static int
check_granted_folders(const struct creation *c, pid_t init, struct why *why)
{
	struct why found;

	return folder_mounts_check(init, c->folders, &found) == 0 ? 0 :
	    refuse(why, found.code, "container %s: %s", c->command->id, found.text);
}

/* With cgroup v2, only the caller can see which device rules a container has; the helper can't. */
static int
check_device_rules(const struct creation *c, pid_t init, struct why *why)
{
	autostrlist struct strlist own = { 0 };
	size_t devcgroup;

	if (!cgroup_own(init, &own, &devcgroup))
		return refuse(why, WHY_IO, "container %s: its cgroups can't be read", c->command->id);
	/* SIZE_MAX means no device cgroup: the helper checks that there is one */
	return devcgroup == SIZE_MAX ? 0 : devcgroup_has_rules(own.v[devcgroup], why) == -1 ? -1 :
	    node_access_check_inside(c->access, own.v[devcgroup], why);
}

/*
 * Checks the capabilities of the first process, which waits to be started. runc and crun have dropped all others by
 * then. If one is left, they were deceived.
 */
static int
check_capabilities(const struct creation *c, pid_t init, struct why *why)
{
	/* the line with the program's name comes first, but the kernel escapes the newlines in it */
	static const char *const sets[] = { "\nCapBnd:", "\nCapPrm:", "\nCapEff:", "\nCapInh:", "\nCapAmb:", NULL };
	const int root = file_root();
	autofree char *text = NULL;
	const char *name, *at;
	char file[40];
	size_t i;

	snprintf(file, sizeof(file), "proc/%d/status", init);
	if (root == -1 || (text = file_read_at(root, file, 65536, NULL)) == NULL)
		return refuse(why, WHY_IO, "/%s: %s", file, strerror(errno));
	for (i = 0; sets[i] != NULL; i++) {
		if ((at = strstr(text, sets[i])) == NULL)
			return refuse(why, WHY_IO, "/%s: it has no line %.6s", file, sets[i] + 1);
		if ((name = capability_strong_in(strtoull(at + strlen(sets[i]), NULL, 16))) != NULL)
			return refuse(why, WHY_DENIED, "container %s: the runtime left it %s (%.6s), which config.json does not list, and "
			    PRIVILEGED_DENIED, c->command->id, name, sets[i] + 1);
	}
	return 0;
}

/* The container's first process, once it was searched for. */
struct first {
	bool sought, found;
	struct process_id process;
};

static bool
find_first(const struct creation *c, struct first *f)
{
	bool own_pids;

	if (!f->sought)
		f->found = container_find_init(getpid(), c->conn->pid, &f->process, &own_pids);
	f->sought = true;
	return f->found;
}

/* Checks the first process before anyone can start it. After «run», its task may have ended already. */
static int
check_first_process(const struct creation *c, struct first *f, struct why *why)
{
	const bool waits = strcmp(c->command->verb, "create") == 0;
	const bool root = c->root != NULL, folders = waits && c->folders->fs_path.n > 0;
	const bool capabilities = waits && c->check_capabilities, denied = c->access->denials > 0;

	if (!root && !folders && !capabilities && !denied && !c->check_rules)
		return 0;
	if (!find_first(c, f))
		return refuse(why, WHY_IO, "container %s: its first process can't be found, so the container can't be checked",
		    c->command->id);
	return (root && check_root_dir(c, f->process.pid, why) == -1) ||
	    (folders && check_granted_folders(c, f->process.pid, why) == -1) ||
	    (capabilities && check_capabilities(c, f->process.pid, why) == -1) ||
	    (denied && node_access_check_beneath(c->access, f->process.pid, why) == -1) ||
	    (c->check_rules && check_device_rules(c, f->process.pid, why) == -1) ? -1 : 0;
}

/* Closes the promised nodes: the first process waits to be started, and no task can be there yet. */
static int
deny_promised(const struct creation *c, const struct container_record *r, struct why *why)
{
	autofree struct promised_node *v = calloc(c->access->nodes + 1, sizeof(*v));
	size_t i;

	if (v == NULL)
		return refuse_nomem(why);
	if (r->devcgroup == NULL)
		return refuse(why, WHY_IO, "container %s: its device cgroup can't be found", c->command->id);
	for (i = 0; i < c->access->nodes; i++)
		v[i] = (struct promised_node){ c->access->node[i].major, c->access->node[i].minor, false };
	return devcgroup_set(r->devcgroup, v, c->access->nodes, true, why);
}

static int
write_record(const struct creation *c, const struct container_record *r, struct why *why)
{
	char key[LEASE_KEY_SIZE];

	lease_key_of(c->command, key);
	return container_record_write(key, r, why);
}

/* The granted nodes, as the record's. False: memory is short. */
static bool
add_nodes(const struct node_access *a, struct container_record *r)
{
	if ((r->node = calloc(a->nodes + 1, sizeof(*r->node))) == NULL)
		return false;
	for (; r->nodes < a->nodes; r->nodes++)
		r->node[r->nodes] = (struct devnum){ a->node[r->nodes].major, a->node[r->nodes].minor };
	return true;
}

/* Root's wrapper notes which container it has made, for what root will do to it later (containerrecord.h). */
static int
record_container(const struct creation *c, struct first *f, struct why *why)
{
	const bool roots = record_dir_is_hosts_root();
	struct container_record r = { .devcgroup = NULL };
	int ret;

	if (!roots && !c->promised)
		return 0;
	if (!find_first(c, f))
		/* after «run», its task may have ended already */
		return strcmp(c->command->verb, "create") != 0 && !c->promised ? 0 : refuse(why, WHY_IO, "container %s: its first "
		    "process can't be found", c->command->id);
	ret = container_record_fill(f->process, &r, why);
	r.promised = c->promised;
	if (ret == 0 && !add_nodes(c->access, &r))
		ret = refuse_nomem(why);
	if (ret == 0 && ((roots && write_record(c, &r, why) == -1) || (c->promised && deny_promised(c, &r, why) == -1)))
		ret = -1;
	container_record_free(&r);
	return ret;
}

int
create_check_start(const struct command *c, struct why *why)
{
	struct lease l = { .id = NULL };
	int ret;

	if (grant_record_refuse_unconfirmed(c, why) == -1)
		return -1;
	if (!lease_is_recorded(c) || (ret = lease_read(c, &l, why)) == 1)
		return 0;
	if (ret == 0 && l.gpus_by_task && l.state == LEASE_PROMISED && l.tasks.devcgroup != NULL)
		ret = devcgroup_check(l.tasks.devcgroup, l.tasks.node, l.tasks.nodes, true, why);
	lease_free(&l);
	return ret;
}

/* 1 with *why: as lease_report_created(). */
static int
check_created(const struct creation *c, struct why *why)
{
	struct first first = { .sought = false };
	int ret;

	if (check_first_process(c, &first, why) == -1)
		return -1;
	if (!c->leased)
		return 0;
	if (record_container(c, &first, why) == -1)
		return -1;
	if ((ret = lease_report_created(c->command, c->door, c->conn, why)) != 0)
		return ret;
	return record_dir_is_hosts_root() ? grant_record_confirm(c->command, why) : 0;
}

/*
 * Adds the cause to the runtime's error if the runtime could not write the device rules of cgroup v1. Engines show the
 * last error only, so it must not be a guess.
 */
static void
explain_failure(const struct creation *c)
{
	struct why why;

	if (c->access->nodes > 0 && report_log_may_have(c->command, "devices.allow") &&
	    node_access_explain(c->access, c->cgroups_path, c->command->id, &why))
		report_error(c->command, &why);
}

enum created
create_container(const struct creation *c, struct why *why)
{
	int status, failed = 0;

	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	switch (runtime_fork(&status, true, why)) {
	case 1:
		return CREATED_IN_CHILD;
	case -1:
		return CREATED_NOT;
	}
	if (status == 0)
		failed = check_created(c, why);
	else
		explain_failure(c);
	ask_end(c->conn);
	if (failed == 0)
		exit(status);
	/* no lease follows this container: its GPU would stay taken, or go to another container as well */
	runtime_delete(c->runtime, c->argv, c->command->verb_at, c->command->id);
	records_forget(c->command);
	return failed == 1 ? CREATED_IN_VAIN : CREATED_NOT;
}
