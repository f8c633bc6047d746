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

#include "../../host/file.h"

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

/* True if the hook's user could read the file that was read. */
static bool
could_read(const struct bundle *b, const struct bundle_readers *r)
{
	return (b->st.st_mode & 0004) != 0 || ((b->st.st_mode & 0040) != 0 && r->mapped && b->st.st_gid == r->gid);
}

/*
 * Lets the hook's user read a secret text, which group and others can't read. The user becomes the group and not the
 * owner, because an owner could also change the file. -1 with *why.
 */
static int
let_hook_read(const struct bundle *b, int fd, const struct bundle_readers *r, mode_t *mode, struct why *why)
{
	struct stat st;

	if (!r->secret || !r->hook || !could_read(b, r))
		return 0;
	if (fstat(fd, &st) == -1)
		return refuse_config(b, WHY_IO, strerror(errno), why);
	if (r->mapped && st.st_uid == r->uid)
		return 0;
	if (r->mapped && fchown(fd, (uid_t)-1, r->gid) == 0) {
		*mode |= 0040;
		return 0;
	}
	return refuse(why, WHY_DENIED, "%s/config.json has variables of the policy, so a hook can't read it as the "
	    "container's root (%s): remove env from the policy, or the hook (cdi_hooks = \"deny\" in gpuhelper.conf; an "
	    "engine's --device)", b->path,
	    r->mapped ? strerror(errno) : "linux.uidMappings and gidMappings do not say which user that is");
}

static int
refuse_staged(const struct bundle *b, int error, struct why *why)
{
	return refuse(why, WHY_IO, "%s: can't write a new config.json there: %s", b->path, strerror(error));
}

static int
fill_staged(const struct bundle *b, int fd, const char *text, size_t len, const struct bundle_readers *readers,
    struct why *why)
{
	/*
	 * Keep owner, group and mode. If owner and group can't be kept, the mode's group bits would apply to
	 * another group. A secret text has variables that config.json did not have. Group and others must not read
	 * these.
	 */
	const bool kept = fchown(fd, b->st.st_uid, b->st.st_gid) == 0;
	mode_t mode = b->st.st_mode & (kept && !readers->secret ? 0777 : 0700);

	if (!kept && errno != EPERM)
		return refuse_staged(b, errno, why);
	if (let_hook_read(b, fd, readers, &mode, why) == -1)
		return -1;
	return write_whole(fd, text, len) == 0 && fchmod(fd, mode) == 0 ? 0 : refuse_staged(b, errno, why);
}

int
bundle_stage(struct bundle *b, const char *text, size_t len, const struct bundle_readers *readers, char staged[64],
    struct why *why)
{
	int fd, ret;

	snprintf(staged, 64, ".config.json.gpuhelper.%d", getpid());
	(void)unlinkat(b->dir, staged, 0);
	fd = openat(b->dir, staged, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd == -1)
		return refuse_staged(b, errno, why);
	ret = fill_staged(b, fd, text, len, readers, why);
	/* no fsync(2): it waits for the disk, and no container outlives a crash of the host */
	if (close(fd) == -1 && ret == 0)
		ret = refuse_staged(b, errno, why);
	if (ret == -1)
		bundle_discard(b, staged);
	return ret;
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
