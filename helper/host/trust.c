/*
 * See trust.h. Assumes nothing about the directories and files. Opens each component before it looks at it,
 * so that the checked file is the file that is used.
 */
#include "trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../base/path.h"
#include "file.h"

/* The uids that count as root's besides 0; both 0 until trust_in_namespace(). */
static uint32_t root_shown, root_self;

void
trust_in_namespace(uint32_t shown, uint32_t self)
{
	root_shown = shown;
	root_self = self;
}

bool
trust_is_root(uint32_t uid)
{
	return uid == root_shown || uid == root_self;
}

static int
check_owner(const struct stat *st, const char *shown, struct why *why)
{
	if (!trust_is_root(st->st_uid))
		return refuse(why, WHY_CONFIG, "%s belongs to uid %u and not to root: chown root it", shown, st->st_uid);
	/* group bits show the ACL's mask, so they show whether any ACL entry may write (acl(5)) */
	if ((st->st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return refuse(why, WHY_CONFIG, "%s may be written by others than root (mode %04o): %s", shown,
		    st->st_mode & 07777U, (st->st_mode & S_ISVTX) != 0 ? "use another place" : "chmod go-w it");
	return 0;
}

int
trust_check(int fd, const char *shown, struct why *why)
{
	struct stat st;

	return fstat(fd, &st) == -1 ? refuse(why, WHY_IO, "%s: %s", shown, strerror(errno)) : check_owner(&st, shown, why);
}

/* Refuses what can't be opened. */
static enum trust_found
refuse_open(const char *shown, int error, struct why *why)
{
	refuse(why, error == ELOOP ? WHY_CONFIG : WHY_IO, "%s: %s", shown,
	    error == ELOOP ? "is a symbolic link" : strerror(error));
	switch (error) {
	case ENOENT:
		return TRUST_ABSENT;
	case EACCES:
	case EPERM:
		return TRUST_NO_ACCESS;
	case ELOOP:
	case ENOTDIR:
	case ENXIO:
		return TRUST_REFUSED;
	}
	return TRUST_FAILED;
}

/* The result for a file that was opened and then refused. */
static enum trust_found
refused_after_stat(const struct why *why)
{
	return why->code == WHY_CONFIG ? TRUST_REFUSED : TRUST_FAILED;
}

/* Opens the next component in place of *dir, which is closed unless it is "/". *dir is -1 on failure. */
static enum trust_found
open_next(int *dir, const char *name, int flags, const char *sofar, bool strict, struct why *why)
{
	const int next = file_open_beneath(*dir, name, flags | O_DIRECTORY), error = errno;

	if (*dir != file_root())
		close(*dir);
	if ((*dir = next) == -1)
		return refuse_open(sofar, error, why);
	if (!strict || trust_check(next, sofar, why) == 0)
		return TRUST_FOUND;
	close(next);
	*dir = -1;
	return refused_after_stat(why);
}

static enum trust_found
find_dir(const char *path, int flags, bool strict, int *fd, struct why *why)
{
	autofree char *part = NULL, *sofar = NULL;
	enum trust_found found = TRUST_FOUND;
	char *p, *end;

	*fd = -1;
	if (path_check(path, why) == -1)
		return TRUST_REFUSED;
	if ((part = strdup(path + 1)) == NULL || (sofar = strdup(path)) == NULL) {
		refuse_nomem(why);
		return TRUST_FAILED;
	}
	if (file_root() == -1)
		return refuse_open("/", errno, why);
	if (strict && trust_check(file_root(), "/", why) == -1)
		return refused_after_stat(why);
	*fd = part[0] != '\0' ? file_root() : openat(file_root(), ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (*fd == -1)
		return refuse_open("/", errno, why);
	for (p = part; found == TRUST_FOUND && p != NULL && *p != '\0'; p = end) {
		if ((end = strchr(p, '/')) != NULL)
			*end++ = '\0';
		sofar[(size_t)(p - part) + 1 + strlen(p)] = '\0';
		/* directories on the way are not opened for reading, which SELinux may deny to the helper */
		found = open_next(fd, p, end != NULL ? O_PATH : flags, sofar, strict, why);
		if (end != NULL)
			sofar[(size_t)(end - part)] = '/';
	}
	return found;
}

enum trust_found
trust_find_dir(const char *path, bool strict, int *fd, struct why *why)
{
	return find_dir(path, O_RDONLY, strict, fd, why);
}

enum trust_found
trust_pin_dir(const char *path, bool strict, int *fd, struct why *why)
{
	return find_dir(path, O_PATH, strict, fd, why);
}

int
trust_open_dir(const char *path, bool strict, struct why *why)
{
	int fd;

	(void)trust_find_dir(path, strict, &fd, why);
	return fd;
}

/* Checks that the descriptor's file is one to read. */
static enum trust_found
check_text_file(int fd, const char *shown, bool strict, struct stat *st, struct why *why)
{
	if (fstat(fd, st) == -1) {
		refuse(why, WHY_IO, "%s: %s", shown, strerror(errno));
		return TRUST_FAILED;
	}
	if (!S_ISREG(st->st_mode)) {
		refuse(why, WHY_CONFIG, "%s is not a regular file", shown);
		return TRUST_REFUSED;
	}
	if (st->st_nlink == 0) {
		refuse(why, WHY_AGAIN, "%s was removed or replaced while it was read: try again", shown);
		return TRUST_REPLACED;
	}
	if (strict && check_owner(st, shown, why) == -1)
		return refused_after_stat(why);
	/*
	 * crun writes output of hooks to any path (run.oci.hooks.stdout), in files that are root's and
	 * executable
	 */
	if (strict && (st->st_mode & 0111) != 0) {
		refuse(why, WHY_CONFIG, "%s is executable, and no file that gpuhelper reads is: see who wrote it, then chmod -x it",
		    shown);
		return TRUST_REFUSED;
	}
	if (strict && st->st_nlink != 1) {
		refuse(why, WHY_CONFIG, "%s has %lu links: it must have one", shown, (unsigned long)st->st_nlink);
		return TRUST_REFUSED;
	}
	return TRUST_FOUND;
}

static void
refuse_read(const char *shown, const struct stat *st, size_t max, int error, struct why *why)
{
	if (error == EFBIG)
		refuse(why, WHY_CONFIG, "%s: is too large: it has %lld bytes, and at most %zu are read", shown,
		    (long long)st->st_size, max);
	else
		refuse(why, WHY_IO, "%s: %s", shown, strerror(error));
}

enum trust_found
trust_find_text(int dirfd, const char *name, const char *shown, size_t max, bool strict, char **text, size_t *len,
    struct why *why)
{
	autoclose int fd = file_open_beneath(dirfd, name, O_RDONLY);
	struct stat before, after;
	enum trust_found found;

	*text = NULL;
	if (fd == -1)
		return refuse_open(shown, errno, why);
	if ((found = check_text_file(fd, shown, strict, &before, why)) != TRUST_FOUND)
		return found;
	if ((*text = file_read_stated(fd, &before, max, len)) == NULL) {
		if (errno == ENOMEM)
			refuse_nomem(why);
		else
			refuse_read(shown, &before, max, errno, why);
		return refused_after_stat(why);
	}
	if (fstat(fd, &after) == -1 || after.st_size != before.st_size ||
	    memcmp(&after.st_mtim, &before.st_mtim, sizeof(after.st_mtim)) != 0) {
		refuse(why, WHY_AGAIN, "%s changed while it was read: try again", shown);
		free(*text);
		*text = NULL;
		return TRUST_FAILED;
	}
	return TRUST_FOUND;
}

char *
trust_read(int dirfd, const char *name, const char *shown, size_t max, bool strict, size_t *len, struct why *why)
{
	char *text;

	(void)trust_find_text(dirfd, name, shown, max, strict, &text, len, why);
	return text;
}
