/*
 * See trust.h.  Assumes nothing of the tree; pins each component before it
 * looks at it, so that what was checked is what is used.
 */
#include "trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../pure/cleanup.h"
#include "../pure/path.h"
#include "file.h"

/* Where root is someone else to be seen, and the program's own user. */
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

int
trust_check(int fd, const char *shown, struct why *why)
{
	struct stat st;

	if (fstat(fd, &st) == -1)
		return refuse(why, WHY_IO, "%s: %s", shown, strerror(errno));
	if (!trust_is_root(st.st_uid))
		return refuse(why, WHY_CONFIG, "%s belongs to uid %u and not to root: chown root it", shown, st.st_uid);
	/* an ACL that lets others write shows in the group bits, which are then its mask (acl(5)) */
	if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return refuse(why, WHY_CONFIG, "%s may be written by others than root (mode %04o): chmod go-w it", shown,
		    st.st_mode & 07777U);
	return 0;
}

int
trust_open_dir(const char *path, bool strict, struct why *why)
{
	autofree char *part = NULL, *sofar = NULL;
	int dir, next, saved;
	char *p, *end;

	if (path_check(path, why) == -1)
		return -1;
	if ((part = strdup(path + 1)) == NULL || (sofar = strdup(path)) == NULL)
		return refuse_nomem(why);
	if ((dir = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)) == -1)
		return refuse(why, WHY_IO, "/: %s", strerror(errno));
	if (strict && trust_check(dir, "/", why) == -1) {
		close(dir);
		return -1;
	}
	for (p = part; p != NULL && *p != '\0'; p = end) {
		if ((end = strchr(p, '/')) != NULL)
			*end++ = '\0';
		sofar[(size_t)(p - part) + 1 + strlen(p)] = '\0';
		/* those on the way are not read: SELinux may keep that from the helper */
		next = file_open_beneath(dir, p, (end != NULL ? O_PATH : O_RDONLY) | O_DIRECTORY);
		saved = errno;
		close(dir);
		if ((dir = next) == -1) {
			refuse(why, saved == ELOOP ? WHY_CONFIG : WHY_IO, "%s: %s", sofar,
			    saved == ELOOP ? "is a symbolic link" : strerror(saved));
			errno = saved;
			return -1;
		}
		if (strict && trust_check(dir, sofar, why) == -1) {
			close(dir);
			return -1;
		}
		if (end != NULL)
			sofar[(size_t)(end - part)] = '/';
	}
	return dir;
}

char *
trust_read(int dirfd, const char *name, const char *shown, size_t max, bool strict, size_t *len, struct why *why)
{
	autoclose int fd = file_open_beneath(dirfd, name, O_RDONLY);
	struct stat before, after;
	int saved;
	char *text;

	if (fd == -1) {
		saved = errno;
		refuse(why, saved == ELOOP ? WHY_CONFIG : WHY_IO, "%s: %s", shown,
		    saved == ELOOP ? "is a symbolic link" : strerror(saved));
		errno = saved;
		return NULL;
	}
	errno = 0;
	if (fstat(fd, &before) == -1) {
		refuse(why, WHY_IO, "%s: %s", shown, strerror(errno));
		return NULL;
	}
	if (!S_ISREG(before.st_mode)) {
		refuse(why, WHY_CONFIG, "%s is not a regular file", shown);
		return NULL;
	}
	if (before.st_nlink == 0) {
		refuse(why, WHY_AGAIN, "%s was removed or replaced while it was read: try again", shown);
		errno = ESTALE;
		return NULL;
	}
	if (strict && trust_check(fd, shown, why) == -1)
		return NULL;
	if (strict && before.st_nlink != 1) {
		refuse(why, WHY_CONFIG, "%s has %lu links: it must have one", shown, (unsigned long)before.st_nlink);
		return NULL;
	}
	if ((text = file_read_fd(fd, max, len)) == NULL) {
		if (errno == ENOMEM)
			refuse_nomem(why);
		else
			refuse(why, errno == EFBIG ? WHY_CONFIG : WHY_IO, "%s: %s", shown,
			    errno == EFBIG ? "is too large" : strerror(errno));
		errno = 0;
		return NULL;
	}
	if (fstat(fd, &after) == -1 || after.st_size != before.st_size ||
	    memcmp(&after.st_mtim, &before.st_mtim, sizeof(after.st_mtim)) != 0) {
		refuse(why, WHY_AGAIN, "%s changed while it was read: try again", shown);
		free(text);
		return NULL;
	}
	return text;
}
