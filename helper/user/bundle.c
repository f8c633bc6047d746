/*
 * See bundle.h. Works with the caller's rights in the caller's directory. A link or a pipe there could deceive only
 * the caller, but it is refused all the same.
 */
#include "bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../host/file.h"

static int
refuse_config(const struct bundle *b, enum why_code code, const char *what, struct why *why)
{
	return refuse(why, code, "%s/config.json: %s", b->path, what);
}

static int
read_config(struct bundle *b, struct why *why)
{
	autoclose int fd = file_open_beneath(b->dir, "config.json", O_RDONLY);
	struct stat after;

	if (fd == -1)
		return refuse_config(b, WHY_DATA, errno == ELOOP ? "is a symbolic link" : strerror(errno), why);
	if (fstat(fd, &b->st) == -1)
		return refuse_config(b, WHY_IO, strerror(errno), why);
	if (!S_ISREG(b->st.st_mode))
		return refuse_config(b, WHY_DATA, "is not a regular file", why);
	if (b->st.st_nlink != 1)
		return refuse_config(b, WHY_DATA, "has more than one link", why);
	if ((b->text = file_read_fd(fd, BUNDLE_CONFIG_MAX, &b->len)) == NULL)
		return refuse_config(b, WHY_DATA, errno == EFBIG ? "is larger than 4 MiB" : strerror(errno), why);
	if (fstat(fd, &after) == -1 || (size_t)after.st_size != b->len)
		return refuse_config(b, WHY_DATA, "changed while it was read", why);
	return 0;
}

int
bundle_open(const char *path, struct bundle *b, struct why *why)
{
	const char *given = path != NULL ? path : ".";

	*b = (struct bundle){ .dir = -1 };
	if ((b->dir = open(given, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		return refuse(why, WHY_DATA, "bundle %s: %s", given, strerror(errno));
	if ((b->path = realpath(given, NULL)) == NULL)
		return refuse(why, WHY_DATA, "bundle %s: %s", given, strerror(errno));
	return read_config(b, why);
}

static int
write_whole(int fd, const char *text, size_t len)
{
	ssize_t n;

	while (len > 0) {
		n = write(fd, text, len);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return -1;
		text += n;
		len -= (size_t)n;
	}
	return 0;
}

static int
refuse_staged(struct bundle *b, const char *staged, int error, struct why *why)
{
	bundle_discard(b, staged);
	return refuse(why, WHY_IO, "%s: can't write a new config.json there: %s", b->path, strerror(error));
}

int
bundle_stage(struct bundle *b, const char *text, size_t len, bool secret, char staged[64], struct why *why)
{
	int fd, saved;
	bool kept;

	snprintf(staged, 64, ".config.json.gpuhelper.%d", getpid());
	(void)unlinkat(b->dir, staged, 0);
	fd = openat(b->dir, staged, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd == -1)
		return refuse(why, WHY_IO, "%s: can't write a new config.json there: %s", b->path, strerror(errno));
	/*
	 * Keep owner, group and mode. If owner and group can't be kept, the mode's group bits would apply to
	 * another group. With «secret», the text has variables that config.json did not have. Group and others must
	 * not read these.
	 */
	kept = fchown(fd, b->st.st_uid, b->st.st_gid) == 0;
	if ((!kept && errno != EPERM) || write_whole(fd, text, len) == -1 ||
	    fchmod(fd, b->st.st_mode & (kept && !secret ? 0777 : 0700)) == -1) {
		saved = errno;
		close(fd);
		return refuse_staged(b, staged, saved, why);
	}
	/* no fsync(2): it waits for the disk, and no container outlives a crash of the host */
	return close(fd) == 0 ? 0 : refuse_staged(b, staged, errno, why);
}

int
bundle_commit(struct bundle *b, const char *staged, struct why *why)
{
	struct stat now;

	if (fstatat(b->dir, "config.json", &now, AT_SYMLINK_NOFOLLOW) == -1 || now.st_ino != b->st.st_ino ||
	    now.st_dev != b->st.st_dev || now.st_size != b->st.st_size ||
	    memcmp(&now.st_mtim, &b->st.st_mtim, sizeof(now.st_mtim)) != 0 ||
	    memcmp(&now.st_ctim, &b->st.st_ctim, sizeof(now.st_ctim)) != 0) {
		bundle_discard(b, staged);
		return refuse_config(b, WHY_DATA, "was changed by another process meanwhile: try again", why);
	}
	if (renameat(b->dir, staged, b->dir, "config.json") == -1) {
		refuse_config(b, WHY_IO, strerror(errno), why);
		bundle_discard(b, staged);
		return -1;
	}
	return 0;
}

void
bundle_discard(struct bundle *b, const char *staged)
{
	if (staged[0] != '\0')
		(void)unlinkat(b->dir, staged, 0);
}

void
bundle_close(struct bundle *b)
{
	if (b->dir != -1)
		close(b->dir);
	free(b->path);
	free(b->text);
	*b = (struct bundle){ .dir = -1 };
}
