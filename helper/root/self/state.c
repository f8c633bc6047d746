/* See state.h. File names are our own (hashes, uids), never a caller's. */
#include "state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../host/file.h"
#include "../../host/listing.h"
#include "../../host/trust.h"
#include "timer.h"

/*
 * Only root may list these directories. Any user who can list a directory can block changes in it for ever, and no
 * signal ends that: getdents(2) holds the directory's lock while it writes to the user's memory, which may be a FUSE
 * file that never answers.
 */
#define RUN_MODE 0711

/* Corrects a mode that the umask or an older version has left. */
static int
set_mode(int dir, mode_t mode)
{
	struct stat st;

	return fstat(dir, &st) == -1 || ((st.st_mode & 07777) != mode && fchmod(dir, mode) == -1) ? -1 : 0;
}

static int run_dir = -1;

void
state_forget(void)
{
	run_dir = -1;
}

/*
 * Opens /run/gpuhelper once, and makes it if it is missing. The descriptor is kept: the directory is root's, and
 * stays where it is. -1 with *why.
 */
static int
open_run(struct why *why)
{
	enum trust_found found;

	if (run_dir != -1)
		return run_dir;
	found = trust_find_dir(GPUHELPER_RUNDIR, true, &run_dir, why);
	if (found != TRUST_FOUND && found != TRUST_ABSENT)
		return -1;
	if (found == TRUST_ABSENT) {
		if (mkdir(GPUHELPER_RUNDIR, RUN_MODE) == -1 && errno != EEXIST)
			return refuse(why, WHY_IO, "%s: %s", GPUHELPER_RUNDIR, strerror(errno));
		if ((run_dir = trust_open_dir(GPUHELPER_RUNDIR, true, why)) == -1)
			return -1;
	}
	if (set_mode(run_dir, RUN_MODE) == 0)
		return run_dir;
	refuse(why, WHY_IO, "%s: %s", GPUHELPER_RUNDIR, strerror(errno));
	close(run_dir);
	return run_dir = -1;
}

int
state_dir(const char *name, struct why *why)
{
	const int run = open_run(why);
	const mode_t mode = strcmp(name, "exec") == 0 ? 0711 : 0700;
	int fd;

	if (run == -1)
		return -1;
	if ((fd = file_open_beneath(run, name, O_RDONLY | O_DIRECTORY)) == -1 && errno == ENOENT) {
		if (mkdirat(run, name, mode) == -1 && errno != EEXIST)
			return refuse(why, WHY_IO, "%s/%s: %s", GPUHELPER_RUNDIR, name, strerror(errno));
		fd = file_open_beneath(run, name, O_RDONLY | O_DIRECTORY);
	}
	if (fd == -1 || set_mode(fd, mode) == -1)
		refuse(why, WHY_IO, "%s/%s: %s", GPUHELPER_RUNDIR, name, strerror(errno));
	else if (trust_check(fd, name, why) == 0)
		return fd;
	if (fd != -1)
		close(fd);
	return -1;
}

int
state_list(int dir, const char *shown, size_t max, struct strlist *out, struct why *why)
{
	if (listing_names(openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), max, out) == 0)
		return 0;
	if (errno == E2BIG)
		return refuse(why, WHY_AGAIN, "%s: more than %zu files", shown, max);
	return errno == ENOMEM ? refuse_nomem(why) : refuse(why, WHY_IO, "%s: %s", shown, strerror(errno));
}

/* The name of a file that is not whole yet: always the same, so that a later helper finds it. */
static void
unfinished(const char *name, char out[128])
{
	snprintf(out, 128, "%s.new", name);
}

int
state_write(int dir, const char *name, const void *bytes, size_t len, mode_t mode, struct why *why)
{
	autoclose int fd = -1;
	char temp[128];
	ssize_t n;

	unfinished(name, temp);
	(void)unlinkat(dir, temp, 0);
	fd = openat(dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd == -1)
		return refuse(why, WHY_IO, "%s/.../%s: %s", GPUHELPER_RUNDIR, temp, strerror(errno));
	n = write(fd, bytes, len);
	if (n != (ssize_t)len || fchown(fd, 0, 0) == -1 || fchmod(fd, mode) == -1 ||
	    renameat(dir, temp, dir, name) == -1) {
		refuse(why, WHY_IO, "%s/.../%s: %s", GPUHELPER_RUNDIR, name,
		    n >= 0 && n != (ssize_t)len ? "no space left" : strerror(errno));
		(void)unlinkat(dir, temp, 0);
		return -1;
	}
	return 0;
}

int
state_remove(int dir, const char *name)
{
	char temp[128];

	unfinished(name, temp);
	if (unlinkat(dir, temp, 0) == -1 && errno != ENOENT)
		return -1;
	return unlinkat(dir, name, 0) == -1 && errno != ENOENT ? -1 : 0;
}

/* Waits in the kernel's queue, which is fair. With polling, some helpers could wait for ever. */
int
state_lock_fd(int fd, const char *shown, int wait_ms, struct why *why)
{
	int ret, saved;

	interrupt_after(wait_ms);
	ret = flock(fd, LOCK_EX);
	saved = errno;
	interrupt_after(0);
	if (ret == 0)
		return 0;
	if (saved == EINTR)
		return refuse(why, WHY_AGAIN, "another gpuhelper has held %s for over %d ms: try again", shown, wait_ms);
	return refuse(why, WHY_IO, "%s: %s", shown, strerror(saved));
}

int
state_lock(int dir, const char *name, int wait_ms, struct why *why)
{
	const char *slash = strrchr(name, '/');
	char shown[160];
	int fd;

	snprintf(shown, sizeof(shown), GPUHELPER_RUNDIR "/%s%.100s", slash != NULL ? "" : ".../", slash != NULL ? slash + 1 :
	    name);
	if ((fd = openat(dir, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)) == -1)
		return refuse(why, WHY_IO, "%s: %s", shown, strerror(errno));
	if (state_lock_fd(fd, shown, wait_ms, why) == 0)
		return fd;
	close(fd);
	return -1;
}
