/* See ctl.h: replaces files atomically. */
#include "ctl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../host/file.h"
#include "../host/trust.h"

static int
write_all(int fd, const char *text, size_t len)
{
	ssize_t n;

	while (len > 0) {
		if ((n = write(fd, text, len)) == -1 && errno != EINTR)
			return -1;
		if (n > 0) {
			text += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

/* Gives the new file the group and mode of the file that it replaces. */
static int
keep_group_and_mode(int fd, int dir, const char *name)
{
	struct stat st, mine;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return errno == ENOENT ? fchmod(fd, 0644) : -1;
	if (!S_ISREG(st.st_mode))
		return fchmod(fd, 0644);
	if (fstat(fd, &mine) == -1 || (mine.st_gid != st.st_gid && fchown(fd, (uid_t)-1, st.st_gid) == -1))
		return -1;
	return fchmod(fd, st.st_mode & 0777);
}

static int
set_mode_0644(int fd, int dir, const char *name)
{
	(void)dir, (void)name;
	return fchmod(fd, 0644);
}

static int
set_mode_0640(int fd, int dir, const char *name)
{
	(void)dir, (void)name;
	return fchmod(fd, 0640);
}

/* Gives the file to the owner of the directory. */
static int
give_to_owner(int fd, int dir, const char *name)
{
	struct stat st;

	(void)name;
	return fstat(dir, &st) == -1 || fchown(fd, st.st_uid, (gid_t)-1) == -1 ? -1 : fchmod(fd, 0400);
}

static int
replace_file(int dir, const char *name, const char *shown, const char *text, size_t len,
    const struct timespec *modified, int (*set_mode)(int fd, int dir, const char *name), struct why *why)
{
	const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT },
		modified != NULL ? *modified : (struct timespec){ .tv_nsec = UTIME_NOW } };
	autoclose int fd = -1;
	char temp[300];
	uint64_t salt;

	/* a random name, so that two writers at the same time use different files */
	if (getrandom(&salt, sizeof(salt), 0) != sizeof(salt))
		return refuse(why, WHY_AGAIN, "no random number: %s", strerror(errno));
	snprintf(temp, sizeof(temp), ".%.200s.%016llx", name, (unsigned long long)salt);
	if ((fd = openat(dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)) == -1)
		return refuse(why, WHY_IO, "can't write %s: %s", shown, strerror(errno));
	/* set the mode after writing, so that nobody reads half a file; explicitly, whatever the umask is */
	if (write_all(fd, text, len) == -1 || futimens(fd, times) == -1 || set_mode(fd, dir, name) == -1 || fsync(fd) == -1 ||
	    renameat(dir, temp, dir, name) == -1) {
		refuse(why, WHY_IO, "can't write %s: %s", shown, strerror(errno));
		(void)unlinkat(dir, temp, 0);
		return -1;
	}
	if (fsync(dir) == -1)
		return refuse(why, WHY_IO, "%s: %s", shown, strerror(errno));
	return 0;
}

int
ctl_write_file(int dir, const char *name, const char *shown, const char *text, size_t len,
    const struct timespec *modified, struct why *why)
{
	return replace_file(dir, name, shown, text, len, modified, set_mode_0644, why);
}

int
ctl_change_file(int dir, const char *name, const char *shown, const char *text, size_t len, struct why *why)
{
	return replace_file(dir, name, shown, text, len, NULL, keep_group_and_mode, why);
}

/* Refuses to replace a device, a directory or a link: the caller can't have meant that. */
static int
check_replaced(int dir, const char *name, const char *shown, struct why *why)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return errno == ENOENT ? 0 : refuse(why, WHY_IO, "%s: %s", shown, strerror(errno));
	return S_ISREG(st.st_mode) ? 0 : refuse(why, WHY_IO, "%s is %s: name a file", shown, S_ISLNK(st.st_mode) ?
	    "a symbolic link" : S_ISDIR(st.st_mode) ? "a directory" : "not a regular file");
}

/* Splits the path.  *folder is "." or the path without its last component, and the caller frees it. */
static int
split_output(const char *path, const char **name, char **folder, struct why *why)
{
	const char *slash = strrchr(path, '/');

	*name = slash != NULL ? slash + 1 : path;
	*folder = *name == path ? strdup(".") : strndup(path, *name - path > 1 ? (size_t)(*name - path) - 1 : 1);
	if (*folder == NULL)
		return refuse_nomem(why);
	return **name != '\0' ? 0 : refuse(why, WHY_USAGE, "--output %s is a directory: name a file in it", path);
}

int
ctl_write_output(const char *path, bool closed, const char *text, size_t len, struct why *why)
{
	autofree char *folder = NULL;
	autoclose int dir = -1;
	const char *name;

	if (strcmp(path, "-") == 0)
		return fwrite(text, 1, len, stdout) == len && fflush(stdout) == 0 ? 0 :
		    refuse(why, WHY_IO, "stdout: %s", strerror(errno));
	if (split_output(path, &name, &folder, why) == -1)
		return -1;
	if ((dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		return refuse(why, WHY_IO, "%s: %s", folder, strerror(errno));
	if (check_replaced(dir, name, path, why) == -1)
		return -1;
	return replace_file(dir, name, path, text, len, NULL, closed ? set_mode_0640 : set_mode_0644, why);
}

int
ctl_place_output(const char *path, const char *text, size_t len, struct why *why)
{
	autofree char *folder = NULL;
	autoclose int dir = -1;
	const char *name;

	if (split_output(path, &name, &folder, why) == -1 || trust_find_dir(folder, false, &dir, why) != TRUST_FOUND ||
	    check_replaced(dir, name, path, why) == -1)
		return -1;
	return replace_file(dir, name, path, text, len, NULL, set_mode_0644, why);
}

int
ctl_hand_over(int dir, const char *name, const char *shown, const char *text, size_t len, struct why *why)
{
	return replace_file(dir, name, shown, text, len, NULL, give_to_owner, why);
}
