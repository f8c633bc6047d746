/*
 * See leakedmounts.h. Looks at /proc only, because others wait for the lock meanwhile. Must never make a file
 * system answer: its owner may let it stall (FUSE).
 */
#include "leakedmounts.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../base/path.h"
#include "../host/file.h"
#include "../host/folder/containers.h"
#include "../host/folder/mounts.h"
#include "../host/process/fdinfo.h"
#include "../host/process/hostprocess.h"
#include "../host/process/namespaces.h"
#include "../host/process/opennode.h"
#include "../host/process/process.h"
#include "../host/process/threads.h"
#include "realuid.h"
#include "walk.h"

#define RING "anon_inode:[io_uring]"
#define READINGS 12		/* attempts to read what an io_uring tells only while nobody uses it */

struct leak_search {
	int proc;
	struct host_process host;
	uint64_t mounts;		/* inode of our own mount namespace */
	const struct lookup *lookup;
	size_t lookups;
	struct budget *budget;
	bool has_ring;			/* the process at hand has a descriptor of an io_uring(7) */
	bool missed;			/* something vanished before it could be looked at */
	bool fewer;			/* some descriptors were not listed (threads.h) */
	struct mount_ns_list ns_list;
	struct mount_ids *known;		/* one for each of «ns_list» */
};

/* The ids of the mounts in one namespace. */
struct mount_ids {
	uint64_t *id;
	size_t n, room;
	bool read;
};

/* True if the file is on the file system of this folder, whose file system path reads «8:1 /srv/data» (lookup.h). */
static bool
is_on_its_file_system(const struct lookup *w, const struct statx *st)
{
	unsigned major, minor;

	if (!w->writable || w->at.n == 0)
		return false;
	if (sscanf(w->at.v[0], "%u:%u ", &major, &minor) != 2)
		return true;
	/* the kernel's own files (pipes, memfd) have major number 0, too, but no directories */
	if (major == 0)
		return st->stx_dev_major == 0 && S_ISDIR(st->stx_mode);
	return st->stx_dev_major == major && st->stx_dev_minor == minor;
}

static bool
is_on_a_file_system(const struct leak_search *s, const struct statx *st)
{
	size_t i;

	for (i = 0; i < s->lookups; i++)
		if (is_on_its_file_system(&s->lookup[i], st))
			return true;
	return false;
}

/* True if memory is short. */
static bool
add_known(void *ctx, struct mount *m)
{
	struct mount_ids *k = ctx;
	const size_t room = k->room > 0 ? 2 * k->room : 64;
	uint64_t *id;

	if (k->n == k->room) {
		if ((id = reallocarray(k->id, room, sizeof(*id))) == NULL)
			return true;
		k->id = id;
		k->room = room;
	}
	k->id[k->n++] = m->id;
	return false;
}

/*
 * True if the thread's mount namespace has this mount. Goes by the process that sees all of the namespace,
 * because a chrooted one sees only a part.
 */
static bool
has_mount(struct leak_search *s, const char *thread, uint64_t id)
{
	struct mount_ids *k;
	uint64_t ns;
	size_t i;

	if (!ns_find(s->proc, thread, "mnt", &ns)) {
		s->missed = s->missed || process_is_gone(errno);
		return process_is_gone(errno);
	}
	for (i = 0; i < s->ns_list.n && s->ns_list.v[i].inode != ns; i++)
		;
	if (i == s->ns_list.n)
		return false;
	k = &s->known[i];
	if (!k->read)
		(void)mounts_any(s->proc, s->ns_list.v[i].top, add_known, k);
	k->read = true;
	for (i = 0; i < k->n; i++)
		if (k->id[i] == id)
			return true;
	return false;
}

/*
 * True for the link of a descriptor that keeps open a mount namespace other than ours («mnt:[4026531841]»).
 * Such a namespace may have no process, or none whose root directory shows all of its mounts.
 */
static bool
is_other_namespace(const struct leak_search *s, const char *name)
{
	unsigned long long inode;

	return sscanf(name, "mnt:[%llu]", &inode) == 1 && inode != s->mounts;
}

/*
 * True for a descriptor that keeps others which /proc does not show: a Unix socket keeps those in flight to
 * it (scm_fds), an io_uring those registered with it (UserFiles). The kernel tells UserFiles only while
 * nobody uses the ring, hence the repeated reading.
 */
static bool
keeps_others(struct leak_search *s, const char *thread, const char *fd, const char *leads_to)
{
	unsigned i;
	long n = FDINFO_LACKS;

	if (text_starts(leads_to, "socket:")) {
		n = fdinfo_in_flight(s->proc, thread, fd);
		s->missed = s->missed || n == FDINFO_GONE;
		return n > 0 || n == FDINFO_LACKS;
	}
	if (strcmp(leads_to, RING) != 0)
		return false;
	s->has_ring = true;
	for (i = 0; i < READINGS && (n = fdinfo_number(s->proc, thread, fd, "UserFiles:")) == FDINFO_LACKS; i++)
		sched_yield();
	s->missed = s->missed || n == FDINFO_GONE;
	return n > 0 || n == FDINFO_LACKS;
}

/* True if the file that this link of procfs leads to has leaked. «dir» is the directory of the link. */
static bool
has_leaked(struct leak_search *s, const char *thread, int dir, const char *link)
{
	struct statx st;

	if (!budget_spend(s->budget))
		return true;
	if (statx(dir, link, AT_STATX_DONT_SYNC, STATX_TYPE | STATX_MNT_ID, &st) == -1) {
		s->missed = s->missed || process_is_gone(errno);
		return !process_is_gone(errno) && !link_exists(dir, link, errno);
	}
	/*
	 * A directory on a mount that the namespace lacks gives access to all that is mounted beneath it.
	 * Before Linux 5.8 statx(2) does not tell the mount, so only files on the folder's own file system
	 * count there.
	 */
	if (!is_on_a_file_system(s, &st) && !(S_ISDIR(st.stx_mode) && (st.stx_mask & STATX_MNT_ID)))
		return false;
	return !has_mount(s, thread, st.stx_mnt_id);
}

static bool
fd_keeps_others(struct leak_search *s, const char *thread, int dir, const char *fd)
{
	char leads_to[32];
	ssize_t n = readlinkat(dir, fd, leads_to, sizeof(leads_to) - 1);

	if (n == -1) {
		s->missed = s->missed || process_is_gone(errno);
		return !process_is_gone(errno);
	}
	leads_to[n] = '\0';
	return is_other_namespace(s, leads_to) || keeps_others(s, thread, fd, leads_to);
}

static bool
files_keep_one(struct leak_search *s, const char *thread)
{
	bool has = false, gone;
	off_t listed = 0;
	struct dirent *e;
	char name[64];
	DIR *d;

	snprintf(name, sizeof(name), "%.50s/fd", thread);
	if ((d = thread_dir(s->proc, name, &gone)) == NULL)
		return !gone;
	while (!has && (errno = 0, e = readdir(d)) != NULL)
		if (e->d_name[0] != '.') {
			has = has_leaked(s, thread, dirfd(d), e->d_name) || fd_keeps_others(s, thread, dirfd(d), e->d_name);
			listed++;
		}
	has = has || (errno != 0 && !process_is_gone(errno));
	s->fewer = !thread_lists_all_fds(d, listed);
	closedir(d);
	return has;
}

static bool
thread_has_leak(void *ctx, const char *thread, bool unshared_fds)
{
	struct rescan again = { 0 };
	struct leak_search *s = ctx;
	bool has, gone;
	DIR *d;

	if ((d = thread_dir(s->proc, thread, &gone)) == NULL)
		return !gone;
	has = has_leaked(s, thread, dirfd(d), "cwd") || has_leaked(s, thread, dirfd(d), "root");
	closedir(d);
	/* if these two are gone, the thread has ended, which thread_any() notices */
	s->missed = false;
	if (has || !unshared_fds)
		return has;
	do {
		if (files_keep_one(s, thread))
			return true;
		again.fewer = s->fewer;
	} while (rescan_due(&again, &s->missed));
	return again.never_still;
}

/*
 * A ring that is registered with itself may be used without a descriptor, but not without a mapping of its
 * memory.
 */
static bool
maps_hidden_ring(struct leak_search *s, const char *pid)
{
	struct rescan again = { 0 };
	bool missed, maps = false;
	char name[40], tid[16];
	char *text;
	int found;

	if (s->has_ring)
		return false;
	do {
		if ((found = process_thread(s->proc, pid, tid)) != 1)
			return found == -1;
		snprintf(name, sizeof(name), "%.15s/maps", tid);
		text = file_read_at(s->proc, name, 16 << 20, NULL);
		maps = text != NULL ? strstr(text, RING) != NULL : !process_is_gone(errno);
		free(text);
		missed = !thread_stays(s->proc, tid);
	} while (!maps && rescan_due(&again, &missed));
	return maps || again.never_still;
}

static bool
process_keeps_one(struct leak_search *s, const char *pid)
{
	s->has_ring = false;
	return thread_any(s->proc, pid, thread_has_leak, s) || maps_hidden_ring(s, pid);
}

/* Only other scans have our uid; each has a process file system open that is mounted nowhere (root/self/ownproc.h). */
static bool
is_roots_or_ours(uint32_t uid)
{
	return uid == 0 || uid == getuid();
}

/*
 * True for a process of the host's root. An engine, for instance, has mounts of others open, and root could
 * do all of this anyway. For a setuid program, the user who started it counts.
 */
static bool
is_host_roots(const struct leak_search *s, const char *pid)
{
	struct stat st;
	uint32_t uid;

	if (fstatat(s->proc, pid, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return process_is_gone(errno);
	if (!is_roots_or_ours(st.st_uid))
		return false;
	return process_real_uid(s->proc, pid, &uid) ? is_roots_or_ours(uid) : process_is_gone(errno);
}

static bool
process_has_leak(struct leak_search *s, const char *pid)
{
	switch (process_in_container(&s->host, s->proc, pid, NULL)) {
	case 0:
		return !is_host_roots(s, pid) && process_keeps_one(s, pid);
	case 1:
		return process_keeps_one(s, pid);
	}
	return true;
}

/*
 * True for a mount of a folder, or of something in it. A container can make one from the mount that it had,
 * and leave it to another container.
 */
static bool
is_in_one(void *ctx, struct mount *m)
{
	const struct leak_search *s = ctx;
	const char *at;
	size_t i, n;

	if (!budget_spend(s->budget) || is_other_namespace(s, m->root))
		return true;
	/* one that is read-only now counts as well: whoever made it may make it writable again */
	for (i = 0; i < s->lookups; i++) {
		if (!s->lookup[i].writable || s->lookup[i].at.n == 0)
			continue;
		at = s->lookup[i].at.v[0];
		n = strcspn(at, " ");
		if (strlen(m->fs) == n && strncmp(m->fs, at, n) == 0 && path_at_or_beneath(m->root, at + n + 1))
			return true;
	}
	return false;
}

static void
free_known(struct leak_search *s)
{
	size_t i;

	for (i = 0; s->known != NULL && i < s->ns_list.n; i++)
		free(s->known[i].id);
	free(s->known);
	mount_ns_list_free(&s->ns_list);
}

/*
 * A process that keeps this walk waiting can meanwhile pass on what it has, so the caller then repeats the
 * walk.
 */
static bool
any_has_one(struct leak_search *s, bool *kept_waiting)
{
	long waits;
	autowalk struct walk w;
	char pid[16];
	bool has;

	walk_begin(&w);
	waits = walk_waits();
	s->proc = w.proc;
	has = w.failed || !ns_find(w.proc, "self", "mnt", &s->mounts) ||
	    containers_mount_any(is_in_one, s, &s->ns_list) || !host_process_find(w.proc, &s->host) ||
	    (s->known = calloc(s->ns_list.n + 1, sizeof(*s->known))) == NULL;
	*kept_waiting = waits == -1 || walk_waits() != waits;
	while (!has && walk_next(&w, pid))
		has = process_has_leak(s, pid);
	*kept_waiting = *kept_waiting || w.kept_waiting != 0;
	return has || w.failed;
}

bool
mount_has_leaked(const struct lookup *lookup, size_t lookups, struct budget *budget)
{
	bool kept_waiting = true, has = false;

	while (kept_waiting && !has) {
		struct leak_search s = { .lookup = lookup, .lookups = lookups, .budget = budget };

		has = !budget_spend(budget) || any_has_one(&s, &kept_waiting);
		free_known(&s);
	}
	return has;
}
