/*
 * Maps a file of a FUSE mount in its own user namespace, which even root cannot access; prints «mapped», and stays.
 *
 *	fusemap DIR		(an empty directory of the caller's)
 *	fusemap DIR root	has its root directory there instead
 *	fusemap DIR bad		has a file open there whose inode changes its type: whoever looks at the file gets EIO
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

static int dev, bad;

static void
put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd == -1 || write(fd, text, strlen(text)) == -1)
		perror(path);
	close(fd);
}

static void
reply(uint64_t unique, int error, const void *data, size_t n)
{
	static char b[8192];
	struct fuse_out_header h = { .len = (uint32_t)(sizeof(h) + n), .error = error, .unique = unique };

	memcpy(b, &h, sizeof(h));
	if (n > 0)
		memcpy(b + sizeof(h), data, n);
	if (write(dev, b, h.len) == -1)
		perror("reply");
}

static struct fuse_attr
attr_of(uint64_t ino)
{
	return (struct fuse_attr){ .ino = ino, .mode = ino == 1 ? S_IFDIR | 0777 : S_IFREG | 0666, .nlink = 1, .uid = getuid(),
		.gid = getgid(), .size = ino == 1 ? 0 : 4096, .blksize = 4096 };
}

static void
serve(void)
{
	const struct fuse_init_out init = { .major = 7, .minor = 31, .max_background = 16, .congestion_threshold = 12,
		.max_write = 4096, .time_gran = 1 };
	const struct fuse_entry_out entry = { .nodeid = 2, .attr_valid = bad ? 0 : 9999, .entry_valid = 9999,
		.attr = attr_of(2) };
	const struct fuse_open_out opened = { .fh = 1, .open_flags = FOPEN_KEEP_CACHE };
	static char b[1 << 20], zero[4096];
	const struct fuse_in_header *h = (void *)b;
	struct fuse_attr_out attr;

	for (;;) {
		if (read(dev, b, sizeof(b)) == -1) {
			if (errno == EINTR || errno == EAGAIN || errno == ENOENT)
				continue;
			_exit(0);
		}
		switch (h->opcode) {
		case FUSE_INIT:
			reply(h->unique, 0, &init, sizeof(init));
			break;
		case FUSE_LOOKUP:
			reply(h->unique, 0, &entry, sizeof(entry));
			break;
		case FUSE_GETATTR:
			attr = (struct fuse_attr_out){ .attr_valid = 9999, .attr = attr_of(bad && h->nodeid == 2 ? 1 : h->nodeid) };
			attr.attr.ino = h->nodeid;
			reply(h->unique, 0, &attr, sizeof(attr));
			break;
		case FUSE_OPEN:
			reply(h->unique, 0, &opened, sizeof(opened));
			break;
		case FUSE_READ:
			reply(h->unique, 0, zero, sizeof(zero));
			break;
		case FUSE_FORGET:
		case FUSE_BATCH_FORGET:
		case FUSE_INTERRUPT:
			break;
		case FUSE_FLUSH:
		case FUSE_RELEASE:
			reply(h->unique, 0, NULL, 0);
			break;
		default:
			reply(h->unique, -ENOSYS, NULL, 0);
		}
	}
}

int
main(int argc, char **argv)
{
	const uid_t uid = getuid();
	const gid_t gid = getgid();
	char map[64], options[128], file[256];
	int fd;

	bad = argc == 3 && strcmp(argv[2], "bad") == 0;
	if (argc < 2 || unshare(CLONE_NEWUSER | CLONE_NEWNS) == -1)
		return 77;
	put("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "%u %u 1", uid, uid);
	put("/proc/self/uid_map", map);
	snprintf(map, sizeof(map), "%u %u 1", gid, gid);
	put("/proc/self/gid_map", map);
	if ((dev = open("/dev/fuse", O_RDWR)) == -1)
		return 77;
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=%u,group_id=%u", dev, uid, gid);
	if (mount("f", argv[1], "fuse", MS_NOSUID | MS_NODEV, options) == -1)
		return 77;
	if (fork() == 0) {
		close(1);
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve();
	}
	snprintf(file, sizeof(file), "%s/f", argv[1]);
	if (argc == 3 && !bad) {
		if (chroot(argv[1]) == -1 || chdir("/") == -1)
			return 1;
	} else if ((fd = open(file, O_RDWR)) == -1)
		return 1;
	else if (bad)
		(void)fstat(fd, &(struct stat){ 0 });
	else if (mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED || close(fd) == -1)
		return 1;
	puts("mapped");
	fflush(stdout);
	for (;;)
		pause();
}
