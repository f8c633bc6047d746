/*
 * See leaseinuse.h. Looks at processes of other users, which can keep the caller waiting: must never be called
 * by a process that holds a lock. Does first what nobody can delay.
 */
#include "leaseinuse.h"

#include <string.h>
#include <unistd.h>

#include "../host/cgroup/population.h"
#include "../host/process/namespaces.h"
#include "../host/process/process.h"
#include "rootlessuse.h"

void
process_snapshot_free(struct process_snapshot *s)
{
	ns_set_free(&s->pid_ns_set);
	ns_set_free(&s->mount_ns_set);
	*s = (struct process_snapshot){ 0 };
}

/* False if the host can't be read, so that nothing can be told. */
static bool
begin_snapshot(struct process_snapshot *s)
{
	if (!s->begun)
		s->begun = boot_id(s->boot) && ns_of(getpid(), "pid", &s->pid_ns);
	return s->begun;
}

static bool
shares_pid_ns(const struct process_snapshot *s, const struct lease *l)
{
	return l->container.pid_ns == 0 || l->container.pid_ns == s->pid_ns;
}

static bool
is_pid_ns_inhabited(struct process_snapshot *s, const struct lease *l)
{
	return ns_set_has(&s->pid_ns_set, "pid", l->container.pid_ns);
}

/*
 * True if this process can't see whether anyone is in the lease's container. The lease's process numbers may be of
 * another PID namespace. From a namespace above that one, all of its processes are visible, and the initial namespace
 * is above all others. From anywhere else they are invisible, so that this process can't see that there are none.
 */
static bool
is_invisible(struct process_snapshot *s, const struct lease *l)
{
	return !shares_pid_ns(s, l) && s->pid_ns != INIT_PID_NS &&
	    !(is_pid_ns_inhabited(s, l) && ns_set_surely_has(&s->pid_ns_set, l->container.pid_ns));
}

/*
 * A container may have mounted a file of its own over boot_id. Its lease then has another boot id, although
 * it is alive.
 */
bool
lease_is_of_another_boot(struct process_snapshot *s, const struct lease *l)
{
	return begin_snapshot(s) && strcmp(l->boot, s->boot) != 0 &&
	    (shares_pid_ns(s, l) || (s->pid_ns == INIT_PID_NS && !is_pid_ns_inhabited(s, l)));
}

static bool
lives(const struct process_snapshot *s, const struct lease *l, struct process_id p)
{
	return shares_pid_ns(s, l) ? process_id_lives(p) : ns_has_process(l->container.pid_ns, p);
}

bool
lease_in_use(struct process_snapshot *s, const struct lease *l, struct scan_limits *limits)
{
	if (!begin_snapshot(s) || is_invisible(s, l) || cgroup_populated(&l->container.cgroups, &limits->dirs) ||
	    lives(s, l, l->asker) || lives(s, l, l->container.init))
		return true;
	/* a process that was seen to have ended may have put another into a cgroup just before */
	if (cgroup_populated(&l->container.cgroups, &limits->dirs))
		return true;
	/*
	 * when process 1 of a PID namespace ends, all others end, too; in other cases one may have moved
	 * elsewhere
	 */
	if (l->container.mnt_ns != 0 && ns_set_has(&s->mount_ns_set, "mnt", l->container.mnt_ns))
		return true;
	return l->container.users > 0 && (l->nodes > 0 || l->folders > 0) && rootless_lease_in_use(l, &limits->budget);
}
