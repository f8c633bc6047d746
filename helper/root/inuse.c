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

#include "../host/file.h"
#include "../pure/cleanup.h"

#define MOUNTINFO_COST 50	/* in looks */
#define MOUNTINFO_MAX (1 << 20)

/* What the users' processes are searched for: never for longer than «looks». */
struct node_search {
	const struct edit_node *nodes;
	size_t n;
	const struct idspan *users;
	size_t spans;
	unsigned *looks;
	ino_t seen[64];		/* mount namespaces that have none of the nodes; the first is our own */
	size_t seens;
};

/* A process or a descriptor that is no longer there; all else that goes wrong may hide one. */
static bool
is_gone(int error)
{
	return error == ENOENT || error == ESRCH;
}

static bool
may_look(const struct node_search *s, unsigned cost)
{
	if (*s->looks < cost)
		return false;
	*s->looks -= cost;
	return true;
}

static bool
fd_is(const struct node_search *s, int fds, const char *name)
{
	struct statx st;
	char link[8];
	size_t i;

	if (!may_look(s, 1))
		return true;
	/* a user's file system may keep even root out, but has no device nodes to use; the link itself is procfs's */
	if (statx(fds, name, AT_STATX_DONT_SYNC, STATX_TYPE, &st) == -1)
		return !is_gone(errno) && !(errno == EACCES && readlinkat(fds, name, link, sizeof(link)) != -1);
	if (!S_ISCHR(st.stx_mode))
		return false;
	for (i = 0; i < s->n; i++)
		if (st.stx_rdev_major == s->nodes[i].major && st.stx_rdev_minor == s->nodes[i].minor)
			return true;
	return false;
}

static bool
process_has(const struct node_search *s, int proc, const char *pid)
{
	bool has = false;
	struct dirent *e;
	char name[40];
	DIR *d;
	int fd;

	snprintf(name, sizeof(name), "%.20s/fd", pid);
	if ((fd = file_open_beneath(proc, name, O_RDONLY | O_DIRECTORY)) == -1)
		return !is_gone(errno);
	if ((d = fdopendir(fd)) == NULL) {
		close(fd);
		return true;
	}
	while (!has && (errno = 0, e = readdir(d)) != NULL)
		has = e->d_name[0] != '.' && fd_is(s, dirfd(d), e->d_name);
	has = has || (errno != 0 && !is_gone(errno));
	closedir(d);
	return has;
}

/*
 * One line of mountinfo (proc(5)): «36 35 0:5 /nvidia0 /dev/nvidia0 rw ...».  The
 * fourth word is what is mounted, as its file system calls it; of a node that was
 * removed since, with «//deleted» after it.
 */
static bool
line_binds(const struct node_search *s, char *line)
{
	char *save = NULL, *word = strtok_r(line, " ", &save), *gone;
	size_t i;

	for (i = 1; word != NULL && i < 4; i++)
		word = strtok_r(NULL, " ", &save);
	if (word == NULL)
		return false;
	if ((gone = strstr(word, "//deleted")) != NULL)
		*gone = '\0';
	/* /dev may be a file system of its own, or not */
	for (i = 0; i < s->n; i++)
		if (strcmp(word, s->nodes[i].path) == 0 || strcmp(word, s->nodes[i].path + strlen("/dev")) == 0)
			return true;
	return false;
}

/* Its mount namespace has one of the nodes bound into it. */
static bool
process_sees(struct node_search *s, int proc, const char *pid)
{
	autofree char *text = NULL;
	char name[40], *line, *save = NULL;
	struct stat ns;
	size_t i;

	snprintf(name, sizeof(name), "%.20s/ns/mnt", pid);
	if (fstatat(proc, name, &ns, 0) == -1)
		return !is_gone(errno);
	for (i = 0; i < s->seens; i++)
		if (s->seen[i] == ns.st_ino)
			return false;
	snprintf(name, sizeof(name), "%.20s/mountinfo", pid);
	if (!may_look(s, MOUNTINFO_COST))
		return true;
	if ((text = file_read_at(proc, name, MOUNTINFO_MAX, NULL)) == NULL)
		return !is_gone(errno) && errno != EINVAL;
	for (line = strtok_r(text, "\n", &save); line != NULL; line = strtok_r(NULL, "\n", &save))
		if (line_binds(s, line))
			return true;
	if (s->seens < sizeof(s->seen) / sizeof(s->seen[0]))
		s->seen[s->seens++] = ns.st_ino;
	return false;
}

static bool
in_spans(const struct node_search *s, uint32_t uid)
{
	size_t i;

	for (i = 0; i < s->spans; i++)
		if (uid >= s->users[i].first && uid - s->users[i].first < s->users[i].size)
			return true;
	return false;
}

/*
 * /proc/PID belongs to the effective uid.  Of a setuid program, which may have
 * inherited a node, the real one counts.
 */
static bool
is_of_users(const struct node_search *s, int proc, const char *pid)
{
	autofree char *status = NULL;
	char name[40], *line;
	struct stat st;
	unsigned uid;

	if (fstatat(proc, pid, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return !is_gone(errno);
	if (in_spans(s, st.st_uid))
		return true;
	if (st.st_uid != 0)
		return false;
	snprintf(name, sizeof(name), "%.20s/status", pid);
	if ((status = file_read_at(proc, name, 65536, NULL)) == NULL)
		return !is_gone(errno);
	return (line = strstr(status, "\nUid:")) != NULL && sscanf(line, "\nUid: %u", &uid) == 1 && in_spans(s, uid);
}

bool
node_in_use(const struct edit_node *nodes, size_t n, const struct idspan *users, size_t spans, unsigned *looks)
{
	struct node_search s = { .nodes = nodes, .n = n, .users = users, .spans = spans, .looks = looks };
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool found = false;
	struct dirent *e;
	struct stat ours;
	DIR *d;

	if (proc == -1 || (d = fdopendir(proc)) == NULL) {
		if (proc != -1)
			close(proc);
		return true;
	}
	if (fstatat(proc, "self/ns/mnt", &ours, 0) == 0)
		s.seen[s.seens++] = ours.st_ino;
	while (!found && (errno = 0, e = readdir(d)) != NULL) {
		if (e->d_name[0] < '1' || e->d_name[0] > '9')
			continue;
		found = !may_look(&s, 1) || (is_of_users(&s, proc, e->d_name) &&
		    (process_has(&s, proc, e->d_name) || process_sees(&s, proc, e->d_name)));
	}
	found = found || errno != 0;
	closedir(d);
	return found;
}
