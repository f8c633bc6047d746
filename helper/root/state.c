/* See state.h.  Names are our own (hashes, uids), never a caller's. */
#include "state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "../host/file.h"
#include "../host/trust.h"
#include "../pure/cleanup.h"
#include "../pure/path.h"

#define LOCK_WAIT_MS 1500	/* a waiter that asks again after this has its place still (queue.c) */

int
state_dir(const char *name, struct why *why)
{
	autoclose int run = trust_open_dir(GPUHELPER_RUNDIR, true, why);
	mode_t mode = strcmp(name, "exec") == 0 ? 0711 : 0700;
	int fd;

	if (run == -1) {
		if (mkdir(GPUHELPER_RUNDIR, 0755) == -1 && errno != EEXIST)
			return refuse(why, WHY_IO, "%s: %s", GPUHELPER_RUNDIR, strerror(errno));
		if ((run = trust_open_dir(GPUHELPER_RUNDIR, true, why)) == -1)
			return -1;
	}
	(void)fchmod(run, 0755);
	/* the second is for the umask */
	if ((mkdirat(run, name, mode) == -1 && errno != EEXIST) || fchmodat(run, name, mode, 0) == -1)
		return refuse(why, WHY_IO, "%s/%s: %s", GPUHELPER_RUNDIR, name, strerror(errno));
	if ((fd = file_open_beneath(run, name, O_RDONLY | O_DIRECTORY)) == -1)
		return refuse(why, WHY_IO, "%s/%s: %s", GPUHELPER_RUNDIR, name, strerror(errno));
	if (trust_check(fd, name, why) == -1) {
		close(fd);
		return -1;
	}
	return fd;
}

int
state_user_dir(int dir, uint32_t uid, gid_t gid, struct why *why)
{
	char name[16];
	int fd;

	snprintf(name, sizeof(name), "%u", uid);
	if (mkdirat(dir, name, 0700) == -1 && errno != EEXIST)
		return refuse(why, WHY_IO, "%s/exec/%s: %s", GPUHELPER_RUNDIR, name, strerror(errno));
	if ((fd = file_open_beneath(dir, name, O_RDONLY | O_DIRECTORY)) == -1)
		return refuse(why, WHY_IO, "%s/exec/%s: %s", GPUHELPER_RUNDIR, name, strerror(errno));
	if (trust_check(fd, name, why) == -1 || fchown(fd, 0, gid) == -1 || fchmod(fd, 0750) == -1) {
		close(fd);
		return refuse(why, WHY_IO, "%s/exec/%s: can't be set up", GPUHELPER_RUNDIR, name);
	}
	return fd;
}

int
state_list(int dir, const char *shown, size_t max, struct strlist *out, struct why *why)
{
	struct dirent *e;
	DIR *d = NULL;
	int fd = dup(dir), ret = 0;

	if (fd == -1 || (d = fdopendir(fd)) == NULL) {
		if (fd != -1)
			close(fd);
		return refuse(why, WHY_IO, "%s: %s", shown, strerror(errno));
	}
	rewinddir(d);
	while (ret == 0 && (errno = 0, e = readdir(d)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (out->n >= max)
			ret = refuse(why, WHY_AGAIN, "%s: more than %zu files", shown, max);
		else if (!strlist_add(out, e->d_name, SIZE_MAX))
			ret = refuse_nomem(why);
	}
	if (ret == 0 && errno != 0)
		ret = refuse(why, WHY_IO, "%s: %s", shown, strerror(errno));
	closedir(d);
	return ret;
}

/* The name of a file that is not whole yet: always the same, so that it can be found again. */
static void
unfinished(const char *name, char out[128])
{
	snprintf(out, 128, "%s.new", name);
}

int
state_write(int dir, const char *name, const char *text, mode_t mode, gid_t gid, struct why *why)
{
	size_t len = strlen(text);
	char temp[128];
	ssize_t n;
	int fd;

	unfinished(name, temp);
	(void)unlinkat(dir, temp, 0);
	fd = openat(dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd == -1)
		return refuse(why, WHY_IO, "%s/.../%s: %s", GPUHELPER_RUNDIR, temp, strerror(errno));
	n = write(fd, text, len);
	if (n != (ssize_t)len || fchown(fd, 0, gid) == -1 || fchmod(fd, mode) == -1 ||
	    renameat(dir, temp, dir, name) == -1) {
		refuse(why, WHY_IO, "%s/.../%s: %s", GPUHELPER_RUNDIR, name,
		    n >= 0 && n != (ssize_t)len ? "no space left" : strerror(errno));
		close(fd);
		(void)unlinkat(dir, temp, 0);
		return -1;
	}
	close(fd);
	return 0;
}

void
state_remove(int dir, const char *name)
{
	char temp[128];

	unfinished(name, temp);
	(void)unlinkat(dir, temp, 0);
	(void)unlinkat(dir, name, 0);
}

static void
wake_up(int sig)
{
	(void)sig;
}

/* Waits in the kernel's own line, which is fair; asking again and again would let some wait for ever. */
int
state_lock(int dir, const char *name, struct why *why)
{
	/* once more every 100 ms, in case it fires before flock(2) waits */
	const struct itimerval limit = { .it_value = { LOCK_WAIT_MS / 1000, LOCK_WAIT_MS % 1000 * 1000 },
		.it_interval = { .tv_usec = 100000 } };
	const struct itimerval off = { 0 };
	struct sigaction wake = { .sa_handler = wake_up };
	int fd, ret, saved;

	fd = openat(dir, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd == -1)
		return refuse(why, WHY_IO, "%s/%s: %s", GPUHELPER_RUNDIR, path_last(name), strerror(errno));
	(void)sigaction(SIGALRM, &wake, NULL);
	(void)setitimer(ITIMER_REAL, &limit, NULL);
	ret = flock(fd, LOCK_EX);
	saved = errno;
	(void)setitimer(ITIMER_REAL, &off, NULL);
	if (ret == 0)
		return fd;
	close(fd);
	if (saved == EINTR)
		return refuse(why, WHY_AGAIN, "%s/%s is held by another gpuhelper for over %d ms: try again", GPUHELPER_RUNDIR,
		    path_last(name), LOCK_WAIT_MS);
	return refuse(why, WHY_IO, "%s/%s: %s", GPUHELPER_RUNDIR, path_last(name), strerror(saved));
}

/* What the users' processes are searched for, while others wait: so never for longer than «looks», and never asking a
 * file system, which may be one that its owner lets stall (FUSE). */
struct node_search {
	const struct edit_node *nodes;
	size_t n;
	const struct idspan *users;
	size_t spans;
	unsigned *looks;
};

/* A process or a descriptor that is no longer there; all else that goes wrong may hide one. */
static bool
is_gone(int error)
{
	return error == ENOENT || error == ESRCH;
}

static bool
may_look(const struct node_search *s)
{
	if (*s->looks == 0)
		return false;
	--*s->looks;
	return true;
}

static bool
fd_is(const struct node_search *s, int fds, const char *name)
{
	struct statx st;
	char link[8];
	size_t i;

	if (!may_look(s))
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
state_node_open(const struct edit_node *nodes, size_t n, const struct idspan *users, size_t spans, unsigned *looks)
{
	const struct node_search s = { nodes, n, users, spans, looks };
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool found = false;
	struct dirent *e;
	DIR *d;

	if (proc == -1 || (d = fdopendir(proc)) == NULL) {
		if (proc != -1)
			close(proc);
		return true;
	}
	while (!found && (errno = 0, e = readdir(d)) != NULL) {
		if (e->d_name[0] < '1' || e->d_name[0] > '9')
			continue;
		found = !may_look(&s) || (is_of_users(&s, proc, e->d_name) && process_has(&s, proc, e->d_name));
	}
	found = found || errno != 0;
	closedir(d);
	return found;
}
