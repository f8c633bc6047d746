/*
 * See rootlessuse.h. Looks at /proc only, because others wait for the lock meanwhile. Must never make a file system
 * answer: its owner may let it stall (FUSE).
 */
#include "rootlessuse.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../host/file.h"
#include "../host/folder/mounts.h"
#include "../host/process/namespaces.h"
#include "../host/process/opennode.h"
#include "../host/process/process.h"
#include "../host/process/threads.h"
#include "realuid.h"
#include "walk.h"

#define NAMESPACES_MAX 1024

/* The user of a process. */
struct owner {
	uint32_t effective, real;	/* «real» differs only where the effective uid is 0 */
};

struct ns_list {
	ino_t *v;		/* NAMESPACES_MAX at most */
	size_t n;
};

/* The search for what a lease's users have. */
struct use_search {
	int proc;
	const struct lease *lease;
	struct budget *budget;
	char *root_fs, *root_fs_path;	/* of our own root directory (mounts.h); set only if the lease has folders */
	struct ns_list seen;	/* mount namespaces without anything of the lease's; the first is our own */
	struct ns_list partly;	/* mount namespaces of which a process showed only a part */
};

static bool
ns_list_has(const struct ns_list *s, ino_t ns)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->v[i] == ns)
			return true;
	return false;
}

/* False if there is no room. */
static bool
ns_list_add(struct ns_list *s, ino_t ns)
{
	if (ns_list_has(s, ns))
		return true;
	if (s->n == NAMESPACES_MAX)
		return false;
	s->v[s->n++] = ns;
	return true;
}

/* The users of processes. */

/*
 * /proc/PID belongs to the effective uid. A setuid program may have inherited a node from its real uid, so
 * the real one counts there.
 */
static bool
read_owner(int proc, const char *pid, struct owner *out)
{
	struct stat st;

	if (fstatat(proc, pid, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return false;
	*out = (struct owner){ st.st_uid, st.st_uid };
	return st.st_uid != 0 || process_real_uid(proc, pid, &out->real);
}

static bool
in_spans(const struct use_search *s, uint32_t uid)
{
	const struct lease_container *c = &s->lease->container;
	size_t i;

	for (i = 0; i < c->users; i++)
		if (uid >= c->user[i].first && uid - c->user[i].first < c->user[i].size)
			return true;
	return false;
}

/* What one process has. */

/*
 * True for a bind mount of a node. /dev may be a file system of its own, or a part of the root file system.
 */
static bool
mount_is_node(const struct use_search *s, const struct mount *m)
{
	size_t i;

	for (i = 0; i < s->lease->nodes; i++)
		if (strcmp(m->root, s->lease->node[i].path) == 0 ||
		    strcmp(m->root, s->lease->node[i].path + strlen("/dev")) == 0)
			return true;
	return false;
}

static bool
mount_is_folder(const struct use_search *s, const struct mount *m)
{
	size_t i;

	for (i = 0; i < s->lease->folders; i++)
		if (strcmp(m->fs, s->lease->folder[i].fs) == 0 && strcmp(m->root, s->lease->folder[i].fs_path) == 0)
			return true;
	return false;
}

/* What was found in one mount namespace. */
struct finding {
	const struct use_search *search;
	bool node, folder;
	bool copy;		/* it has our root directory, so it is a copy of our own */
	uint64_t root;		/* the mount at the namespace's root; 0: the process does not see the whole namespace */
	bool top;		/* that mount was among those seen */
	bool over_budget;
};

/* True if the mount is of one of the nodes, or no step is left. */
static bool
mount_counts(void *ctx, struct mount *m)
{
	struct finding *f = ctx;
	const struct use_search *s = f->search;
	char *gone;

	if ((f->over_budget = !budget_spend(s->budget)))
		return true;
	/* the kernel appends this to the file system path of a directory that was removed */
	if ((gone = strstr(m->root, "//deleted")) != NULL)
		*gone = '\0';
	f->node = mount_is_node(s, m);
	f->top = f->top || (f->root != 0 && m->id == f->root && strcmp(m->point, "/") == 0);
	if (s->lease->folders == 0)
		return f->node;
	f->folder = f->folder || mount_is_folder(s, m);
	f->copy = f->copy || (strcmp(m->point, "/") == 0 && strcmp(m->fs, s->root_fs) == 0 &&
	    strcmp(m->root, s->root_fs_path) == 0);
	return f->node;
}

/*
 * The mount at a thread's root directory, if that is the root of its mount namespace. 0 for a chrooted
 * thread, which sees only a part of the namespace. Uses one descriptor for both questions, because the thread
 * may change its root directory between them.
 */
static uint64_t
whole_root(const struct use_search *s, const char *thread)
{
	char name[64], path[8];
	autoclose int fd = -1;
	uint64_t id;

	snprintf(name, sizeof(name), "%.50s/root", thread);
	if ((fd = openat(s->proc, name, O_PATH | O_CLOEXEC)) == -1 || !mount_of(fd, &id))
		return 0;
	snprintf(name, sizeof(name), "self/fd/%d", fd);
	return readlinkat(s->proc, name, path, sizeof(path)) == 1 && path[0] == '/' ? id : 0;
}

/*
 * True if the namespace of this thread has a node or a folder of the lease. *top: the whole namespace was
 * seen.
 */
static bool
mounts_bind(const struct use_search *s, const char *thread, bool *top)
{
	struct finding f = { .search = s, .root = whole_root(s, thread) };

	*top = false;
	if (mounts_any(s->proc, thread, mount_counts, &f) == -1 && !process_is_gone(errno) && errno != EINVAL)
		return true;
	*top = f.top;
	return f.over_budget || f.node || (f.folder && !f.copy);
}

/* True if the thread's mount namespace has a node or a folder of the lease, or may have one. */
static bool
thread_sees_mount(struct use_search *s, const char *thread)
{
	char name[64], root[1];
	uint64_t ns;
	bool top;

	if (!ns_find(s->proc, thread, "mnt", &ns))
		return !process_is_gone(errno);
	if (ns_list_has(&s->seen, ns))
		return false;
	if (mounts_bind(s, thread, &top))
		return true;
	/*
	 * A root directory that is mounted nowhere (after umount2(2) with MNT_DETACH) reads as «/», too, and
	 * its process sees no mount. If no process sees more of the namespace, a directory that one of them
	 * has open may still lead to the rest.
	 */
	snprintf(name, sizeof(name), "%.50s/root", thread);
	if (!top && readlinkat(s->proc, name, root, sizeof(root)) == -1 && process_is_gone(errno))
		return false;
	return !ns_list_add(top ? &s->seen : &s->partly, ns);
}

static bool
thread_uses(void *ctx, const char *thread, bool unshared_fds)
{
	struct use_search *s = ctx;

	return !budget_spend(s->budget) ||
	    (unshared_fds && thread_has_open(s->proc, thread, s->lease->node, s->lease->nodes, s->budget)) ||
	    thread_sees_mount(s, thread);
}

static bool
process_uses(struct use_search *s, const char *pid)
{
	return thread_any(s->proc, pid, thread_uses, s) ||
	    process_has_mapped(s->proc, pid, s->lease->node, s->lease->nodes, s->budget);
}

/* True if one of the lease's users runs the process and it uses what the lease gave, or if its user can't be seen. */
static bool
users_process_uses(struct use_search *s, const char *pid)
{
	struct owner o;

	if (!read_owner(s->proc, pid, &o))
		return !process_is_gone(errno);
	return (in_spans(s, o.effective) || in_spans(s, o.real)) && process_uses(s, pid);
}

static bool
any_uses(struct use_search *s, bool *kept_waiting)
{
	autowalk struct walk w;
	uint64_t ours;
	char pid[16];
	size_t i;

	walk_begin(&w);
	s->proc = w.proc;
	s->seen.n = s->partly.n = 0;
	if (ns_find(w.proc, "self", "mnt", &ours))
		(void)ns_list_add(&s->seen, ours);
	while (walk_next(&w, pid))
		if (users_process_uses(s, pid))
			return true;
	*kept_waiting = w.kept_waiting != 0;
	for (i = 0; i < s->partly.n; i++)
		if (!ns_list_has(&s->seen, s->partly.v[i]))
			return true;
	return w.failed;
}

/* Repeats the walk until no process kept it waiting (walk.h). All of these walks together use up *budget. */
static bool
any_uses_for_sure(struct use_search *s)
{
	bool kept_waiting = true;

	while (kept_waiting)
		if (!budget_spend(s->budget) || any_uses(s, &kept_waiting))
			return true;
	return false;
}

bool
rootless_lease_in_use(const struct lease *l, struct budget *budget)
{
	const int root = file_root();
	struct use_search s = { .proc = -1, .lease = l, .budget = budget,
		.seen.v = calloc(NAMESPACES_MAX, sizeof(ino_t)), .partly.v = calloc(NAMESPACES_MAX, sizeof(ino_t)) };
	automounts struct mount_table *mounts = l->folders > 0 ? mounts_read() : NULL;
	bool uses = true;

	if (root != -1 && s.seen.v != NULL && s.partly.v != NULL &&
	    (l->folders == 0 || mounts_fs_path(mounts, root, "/", &s.root_fs, &s.root_fs_path)))
		uses = any_uses_for_sure(&s);
	free(s.seen.v);
	free(s.partly.v);
	free(s.root_fs);
	free(s.root_fs_path);
	return uses;
}
