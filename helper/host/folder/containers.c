/*
 * See containers.h. Looks at /proc only. A process sees of its mount namespace what its root directory
 * reaches, and each thread may have a root directory of its own.
 */
#include "containers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../file.h"
#include "../process/hostprocess.h"
#include "../process/namespaces.h"
#include "../process/opennode.h"
#include "../process/procdir.h"
#include "../process/process.h"
#include "../process/threads.h"

#define NAMESPACES_MAX 4096

/* A namespace and a root directory in it. Threads with the same view see the same mounts. */
struct view {
	uint64_t ns, mount, inode;
	uint32_t major, minor;
};

struct container_search {
	int proc;
	struct host_process host;
	mount_test *test;
	void *ctx;
	struct view *seen;
	size_t seen_n;
	struct mount_ns_list *ns_list;
	bool at_root;		/* the thread at hand has a mount at its root directory */
};

/* True if the error says that the process is gone (EINVAL: a zombie), or that we may not look at it. */
static bool
is_hidden_process(int error)
{
	return process_is_gone(error) || error == EACCES || error == EPERM || error == EINVAL;
}

void
mount_ns_list_free(struct mount_ns_list *s)
{
	free(s->v);
	*s = (struct mount_ns_list){ 0 };
}

/* The entry for this namespace, added if it is new. NULL if there is no room. */
static struct mount_ns *
ns_at(struct mount_ns_list *s, uint64_t inode)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->v[i].inode == inode)
			return &s->v[i];
	if (s->n == NAMESPACES_MAX)
		return NULL;
	s->v[s->n] = (struct mount_ns){ .inode = inode };
	return &s->v[s->n++];
}

static bool
show_mount(void *ctx, struct mount *m)
{
	struct container_search *s = ctx;

	s->at_root = s->at_root || strcmp(m->point, "/") == 0;
	return s->test(s->ctx, m);
}

/*
 * Gets the thread's view. False if it can't be read. Kernels before Linux 5.8 do not tell the mount, so that the view
 * can't be read there, and each thread is looked at.
 */
static bool
find_view(const struct container_search *s, const char *thread, uint64_t ns, struct view *out)
{
	struct statx st;
	char name[64];

	snprintf(name, sizeof(name), "%.50s/root", thread);
	if (statx(s->proc, name, AT_STATX_DONT_SYNC, STATX_INO | STATX_MNT_ID, &st) == -1 || !(st.stx_mask & STATX_MNT_ID))
		return false;
	*out = (struct view){ ns, st.stx_mnt_id, st.stx_ino, st.stx_dev_major, st.stx_dev_minor };
	return true;
}

static bool
is_seen_view(const struct container_search *s, const struct view *v)
{
	size_t i;

	for (i = 0; i < s->seen_n; i++)
		if (s->seen[i].ns == v->ns && s->seen[i].mount == v->mount && s->seen[i].inode == v->inode &&
		    s->seen[i].major == v->major && s->seen[i].minor == v->minor)
			return true;
	return false;
}

/*
 * True if the thread sees its whole namespace: its root directory has nothing above and is a mount of the
 * namespace. Otherwise the thread is chrooted, or its root directory is no longer mounted anywhere.
 */
static bool
is_at_top(const struct container_search *s, const char *thread)
{
	char name[64], root[8];

	snprintf(name, sizeof(name), "%.50s/root", thread);
	return s->at_root && readlinkat(s->proc, name, root, sizeof(root)) == 1 && root[0] == '/';
}

static bool
thread_has_mount(void *ctx, const char *thread, bool unshared_fds)
{
	struct mount_ns *ns;
	struct container_search *s = ctx;
	struct view view;
	uint64_t inode;
	bool known;
	int found;

	(void)unshared_fds;
	if (!ns_find(s->proc, thread, "mnt", &inode))
		return !is_hidden_process(errno);
	known = find_view(s, thread, inode, &view);
	if (known && is_seen_view(s, &view))
		return false;
	s->at_root = false;
	if ((found = mounts_any(s->proc, thread, show_mount, s)) != 0)
		return found == 1 || !is_hidden_process(errno);
	if ((ns = ns_at(s->ns_list, inode)) == NULL)
		return true;
	if (ns->top[0] == '\0' && is_at_top(s, thread))
		snprintf(ns->top, sizeof(ns->top), "%.39s", thread);
	if (known && s->seen_n < NAMESPACES_MAX)
		s->seen[s->seen_n++] = view;
	return false;
}

/*
 * Adds the namespace of a host process, by a thread of it. Its mounts are not shown to the test. Its root directory is
 * the host's, so it sees all mounts of its namespace.
 */
static bool
add_hosts(struct container_search *s, const char *tid)
{
	struct mount_ns *ns;
	uint64_t inode;

	if (!ns_find(s->proc, tid, "mnt", &inode))
		return true;
	if ((ns = ns_at(s->ns_list, inode)) == NULL)
		return false;
	if (ns->top[0] == '\0')
		snprintf(ns->top, sizeof(ns->top), "%.15s", tid);
	return true;
}

static bool
look_at_processes(struct container_search *s, DIR *d)
{
	bool found = false;
	struct dirent *e;
	char tid[16];
	size_t i;

	while (!found && (errno = 0, e = readdir(d)) != NULL) {
		if (e->d_name[0] < '1' || e->d_name[0] > '9')
			continue;
		switch (process_in_container(&s->host, s->proc, e->d_name, tid)) {
		case -1:
			found = !is_hidden_process(errno);
			break;
		case 0:
			found = tid[0] != '\0' && !add_hosts(s, tid);
			break;
		default:
			found = thread_any(s->proc, e->d_name, thread_has_mount, s);
		}
	}
	found = found || errno != 0;
	for (i = 0; !found && i < s->ns_list->n; i++)
		found = s->ns_list->v[i].top[0] == '\0';
	return found;
}

bool
containers_mount_any(mount_test *test, void *ctx, struct mount_ns_list *all)
{
	int proc = procdir_open(O_RDONLY);
	DIR *d = file_list(proc);
	struct mount_ns_list own = { 0 };
	struct container_search s = { .proc = proc, .test = test, .ctx = ctx, .seen = calloc(NAMESPACES_MAX, sizeof(*s.seen)),
		.ns_list = all != NULL ? all : &own };
	bool found = true;

	*s.ns_list = (struct mount_ns_list){ .v = calloc(NAMESPACES_MAX, sizeof(*s.ns_list->v)) };
	if (d != NULL && s.seen != NULL && s.ns_list->v != NULL && host_process_find(proc, &s.host))
		found = look_at_processes(&s, d);
	if (d != NULL)
		closedir(d);
	free(s.seen);
	mount_ns_list_free(&own);
	return found;
}
