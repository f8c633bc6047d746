/*
 * See inuse.h.  Looks at /proc alone, while others wait for the lock: must never
 * ask a file system, which may be one that its owner lets stall (FUSE).
 */
#include "inuse.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../pure/cleanup.h"
#include "file.h"
#include "mounts.h"
#include "opennode.h"
#include "process.h"
#include "task.h"

#define NAMESPACES_MAX 1024

struct process {
	char pid[16];
	uint32_t owner, real;	/* of /proc/PID, the effective uid; the real one where that is root's */
};

/* What a user's processes are searched for. */
struct search {
	int proc;
	const struct lease *lease;
	struct looks *looks;
	char *root_fs, *root_place;	/* of our own root directory (mounts.h); only where there are folders */
	ino_t *seen;		/* mount namespaces that have nothing of it; the first is our own */
	size_t seens;
};

/* Whose processes there are. */

/* /proc/PID belongs to the effective uid. Of a setuid program, which may have inherited a node, the real one counts. */
static bool
read_owner(int proc, struct process *p)
{
	struct stat st;

	if (fstatat(proc, p->pid, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return false;
	p->owner = p->real = st.st_uid;
	return st.st_uid != 0 || process_real_uid(proc, p->pid, &p->real);
}

static bool
add_process(struct processes *all, int proc, const char *pid)
{
	struct process *v = reallocarray(all->v, all->n + 1, sizeof(*v));

	if (v == NULL)
		return false;
	all->v = v;
	v[all->n] = (struct process){ 0 };
	snprintf(v[all->n].pid, sizeof(v[all->n].pid), "%.15s", pid);
	if (read_owner(proc, &v[all->n]))
		all->n++;
	else
		return process_is_gone(errno);
	return true;
}

static void
read_processes(struct processes *all)
{
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = proc != -1 ? fdopendir(proc) : NULL;
	struct dirent *e;

	all->read = all->failed = true;
	if (d == NULL) {
		if (proc != -1)
			close(proc);
		return;
	}
	for (all->failed = false; !all->failed && (errno = 0, e = readdir(d)) != NULL;)
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9')
			all->failed = !add_process(all, dirfd(d), e->d_name);
	all->failed = all->failed || errno != 0;
	closedir(d);
}

void
processes_free(struct processes *p)
{
	free(p->v);
	*p = (struct processes){ 0 };
}

static bool
in_spans(const struct search *s, uint32_t uid)
{
	size_t i;

	for (i = 0; i < s->lease->users; i++)
		if (uid >= s->lease->user[i].first && uid - s->lease->user[i].first < s->lease->user[i].size)
			return true;
	return false;
}

/* What one of them has. */

/* One of the nodes; /dev may be a file system of its own, or not. */
static bool
mount_is_node(const struct search *s, const struct mount *m)
{
	size_t i;

	for (i = 0; i < s->lease->nodes; i++)
		if (strcmp(m->place, s->lease->node[i].path) == 0 ||
		    strcmp(m->place, s->lease->node[i].path + strlen("/dev")) == 0)
			return true;
	return false;
}

static bool
mount_is_folder(const struct search *s, const struct mount *m)
{
	size_t i;

	for (i = 0; i < s->lease->folders; i++)
		if (strcmp(m->fs, s->lease->folder[i].fs) == 0 && strcmp(m->place, s->lease->folder[i].place) == 0)
			return true;
	return false;
}

/* What one mount namespace has. */
struct finding {
	const struct search *search;
	bool node, folder;
	bool copy;		/* it has our root directory: it is a copy of ours */
	bool unseen;
};

/* True where it has one of the nodes, or no more may be looked at. */
static bool
look_at_mount(void *ctx, struct mount *m)
{
	struct finding *f = ctx;
	const struct search *s = f->search;
	char *gone;

	if ((f->unseen = !looks_take(s->looks)))
		return true;
	/* of what was removed since */
	if ((gone = strstr(m->place, "//deleted")) != NULL)
		*gone = '\0';
	f->node = mount_is_node(s, m);
	if (s->lease->folders == 0)
		return f->node;
	f->folder = f->folder || mount_is_folder(s, m);
	f->copy = f->copy || (strcmp(m->point, "/") == 0 && strcmp(m->fs, s->root_fs) == 0 &&
	    strcmp(m->place, s->root_place) == 0);
	return f->node;
}

static bool
mounts_bind(const struct search *s, const char *task)
{
	struct finding f = { .search = s };

	if (mounts_any(s->proc, task, look_at_mount, &f) == -1 && !process_is_gone(errno) && errno != EINVAL)
		return true;
	return f.unseen || f.node || (f.folder && !f.copy);
}

/* Its mount namespace has one of the nodes bound into it. */
static bool
task_sees(struct search *s, const char *task)
{
	char name[64], root[8];
	struct stat ns;
	ssize_t n;
	size_t i;

	snprintf(name, sizeof(name), "%.50s/ns/mnt", task);
	if (fstatat(s->proc, name, &ns, 0) == -1)
		return !process_is_gone(errno);
	for (i = 0; i < s->seens; i++)
		if (s->seen[i] == ns.st_ino)
			return false;
	if (mounts_bind(s, task))
		return true;
	/* who is chrooted sees a part of the namespace, and speaks for no more */
	snprintf(name, sizeof(name), "%.50s/root", task);
	n = readlinkat(s->proc, name, root, sizeof(root));
	if (n == 1 && root[0] == '/' && s->seens < NAMESPACES_MAX)
		s->seen[s->seens++] = ns.st_ino;
	return false;
}

static bool
task_uses(void *ctx, const char *task, bool own_files)
{
	struct search *s = ctx;

	return !looks_take(s->looks) ||
	    (own_files && task_has_open(s->proc, task, s->lease->node, s->lease->nodes, s->looks)) || task_sees(s, task);
}

static bool
process_uses(struct search *s, const char *pid)
{
	return task_any(s->proc, pid, task_uses, s) ||
	    process_has_mapped(s->proc, pid, s->lease->node, s->lease->nodes, s->looks);
}

/* A process of the lease's users does. */
static bool
any_uses(struct search *s, const struct processes *all)
{
	struct stat ours;
	size_t i;

	if (fstatat(s->proc, "self/ns/mnt", &ours, 0) == 0)
		s->seen[s->seens++] = ours.st_ino;
	for (i = 0; i < all->n; i++)
		if ((in_spans(s, all->v[i].owner) || in_spans(s, all->v[i].real)) && process_uses(s, all->v[i].pid))
			return true;
	return false;
}

bool
lease_in_use(struct processes *all, const struct lease *l, struct looks *looks)
{
	autoclose int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	autoclose int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct search s = { .proc = proc, .lease = l, .looks = looks, .seen = calloc(NAMESPACES_MAX, sizeof(*s.seen)) };
	automounts struct mount_table *mounts = l->folders > 0 ? mounts_read() : NULL;
	bool uses = true;

	if (!all->read)
		read_processes(all);
	if (!all->failed && proc != -1 && root != -1 && s.seen != NULL &&
	    (l->folders == 0 || mounts_place(mounts, root, "/", &s.root_fs, &s.root_place)))
		uses = any_uses(&s, all);
	free(s.seen);
	free(s.root_fs);
	free(s.root_place);
	return uses;
}
