/* See state.h.  Names are our own (hashes, uids), never a caller's. */
#include "state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "../host/file.h"
#include "../host/trust.h"

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
		(void)fchmod(run, 0755);
	}
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
	while (ret == 0 && (e = readdir(d)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (out->n >= max)
			ret = refuse(why, WHY_AGAIN, "%s: more than %zu files", shown, max);
		else if (!strlist_add(out, e->d_name, SIZE_MAX))
			ret = refuse_nomem(why);
	}
	closedir(d);
	return ret;
}

int
state_write(int dir, const char *name, const char *text, mode_t mode, gid_t gid, struct why *why)
{
	size_t len = strlen(text);
	char temp[128];
	ssize_t n;
	int fd;

	snprintf(temp, sizeof(temp), "%s.%d", name, getpid());
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

static bool
fd_is(int fds, const char *name, const struct edit_node *nodes, size_t n)
{
	struct stat st;
	size_t i;

	if (fstatat(fds, name, &st, 0) == -1 || !S_ISCHR(st.st_mode))
		return false;
	for (i = 0; i < n; i++)
		if (st.st_rdev == makedev(nodes[i].major, nodes[i].minor))
			return true;
	return false;
}

static bool
process_has(int proc, const char *pid, const struct edit_node *nodes, size_t n)
{
	bool has = false;
	struct dirent *e;
	char name[40];
	DIR *d;
	int fd;

	snprintf(name, sizeof(name), "%.20s/fd", pid);
	if ((fd = file_open_beneath(proc, name, O_RDONLY | O_DIRECTORY)) == -1)
		return false;
	if ((d = fdopendir(fd)) == NULL) {
		close(fd);
		return false;
	}
	while (!has && (e = readdir(d)) != NULL)
		has = e->d_name[0] != '.' && fd_is(dirfd(d), e->d_name, nodes, n);
	closedir(d);
	return has;
}

/* /proc/PID belongs to the process's user (or to root where it hides itself). */
static bool
is_of_users(int proc, const char *pid, const struct idspan *users, size_t spans)
{
	struct stat st;
	size_t i;

	if (fstatat(proc, pid, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return false;
	for (i = 0; i < spans; i++)
		if (st.st_uid >= users[i].first && st.st_uid - users[i].first < users[i].size)
			return true;
	return false;
}

bool
state_node_open(const struct edit_node *nodes, size_t n, const struct idspan *users, size_t spans)
{
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool found = false;
	struct dirent *e;
	DIR *d;

	if (proc == -1 || (d = fdopendir(proc)) == NULL) {
		if (proc != -1)
			close(proc);
		return true;
	}
	while (!found && (e = readdir(d)) != NULL)
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9' && is_of_users(proc, e->d_name, users, spans))
			found = process_has(proc, e->d_name, nodes, n);
	closedir(d);
	return found;
}
