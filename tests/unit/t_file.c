/* host/file.c: no link beneath a directory is followed, with openat2(2) and without it. */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/file.h"
#include "tap.h"

/* Makes openat2() fail, as systemd's RestrictSUIDSGID= does. */
static bool
without_openat2(int error)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog prog = { .len = sizeof(filter) / sizeof(filter[0]), .filter = filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) == 0;
}

static int
opens(int dir, const char *path, int flags)
{
	int fd = file_open_beneath(dir, path, flags);

	if (fd == -1)
		return errno;
	ok(fcntl(fd, F_GETFD) & FD_CLOEXEC, "%s is closed on exec", path);
	close(fd);
	return 0;
}

static void
check_all(int dir, const char *how)
{
	char *text;
	size_t len;

	ok(opens(dir, "file", O_RDONLY) == 0, "%s: a file is opened", how);
	ok(opens(dir, "a/b/file", O_RDONLY) == 0, "%s: a file in a subdirectory is opened", how);
	ok(opens(dir, "a/b", O_RDONLY | O_DIRECTORY) == 0, "%s: a directory is opened", how);
	ok(opens(dir, "a/b/file", O_PATH) == 0, "%s: a file is opened with O_PATH", how);
	ok(opens(dir, "link", O_RDONLY) == ELOOP, "%s: a link is not followed", how);
	ok(opens(dir, "link", O_PATH) == ELOOP, "%s: a link is not opened with O_PATH", how);
	ok(opens(dir, "dirlink/file", O_RDONLY) != 0,
	    "%s: a link in the middle of a path is not followed", how);
	ok(opens(dir, "dirlink/file", O_PATH) != 0,
	    "%s: a link in the middle of a path is not followed with O_PATH", how);
	ok(opens(dir, "dirlink", O_PATH | O_DIRECTORY) == ELOOP,
	    "%s: a link to a directory gives ELOOP", how);
	ok(opens(dir, "dirlink/file", O_RDONLY) == ELOOP,
	    "%s: a link in the middle of a path gives ELOOP", how);
	ok(opens(dir, "file", O_PATH | O_DIRECTORY) == ENOTDIR,
	    "%s: a file is not opened as a directory", how);
	ok(opens(dir, "a/../../etc/passwd", O_RDONLY) != 0,
	    "%s: .. in a path does not lead out", how);
	ok(opens(dir, "..", O_PATH) != 0, "%s: .. alone does not lead out", how);
	ok(opens(dir, "/etc/passwd", O_RDONLY) != 0, "%s: an absolute path does not lead out", how);
	ok(opens(dir, "nothing", O_RDONLY) == ENOENT, "%s: a missing file gives ENOENT", how);
	ok(opens(dir, "file/x", O_RDONLY) == ENOTDIR,
	    "%s: a path beneath a file gives ENOTDIR", how);
	ok(opens(dir, "fifo", O_RDONLY) == 0, "%s: opening a FIFO does not block", how);
	ok(file_read_at(dir, "fifo", 100, NULL) == NULL && errno == EINVAL,
	    "%s: a FIFO is not read as a file", how);
	ok(file_read_at(dir, "a/b/file", 3, NULL) == NULL && errno == EFBIG,
	    "%s: a file that is larger than allowed is not read", how);
	text = file_read_at(dir, "a/b/file", 4, &len);
	ok(text != NULL && len == 4 && strcmp(text, "text") == 0,
	    "%s: a file is read as a whole", how);
	free(text);
}

static void
make(int dir, const char *path)
{
	int fd = openat(dir, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd == -1 || write(fd, "text", 4) != 4)
		abort();
	close(fd);
}

int
main(void)
{
	char top[] = "/tmp/t_file.XXXXXX";
	int dir;

	if (mkdtemp(top) == NULL || (dir = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1 ||
	    mkdirat(dir, "a", 0700) == -1 || mkdirat(dir, "a/b", 0700) == -1 ||
	    symlinkat("/etc/passwd", dir, "link") == -1 || symlinkat("a/b", dir, "dirlink") == -1 ||
	    mkfifoat(dir, "fifo", 0600) == -1)
		abort();
	make(dir, "file");
	make(dir, "a/b/file");
	check_all(dir, "openat2");
	if (!without_openat2(ENOSYS))
		skip("without openat2", "this kernel has no seccomp");
	else
		check_all(dir, "without openat2");
	unlinkat(dir, "file", 0);
	unlinkat(dir, "a/b/file", 0);
	unlinkat(dir, "a/b", AT_REMOVEDIR);
	unlinkat(dir, "a", AT_REMOVEDIR);
	unlinkat(dir, "link", 0);
	unlinkat(dir, "dirlink", 0);
	unlinkat(dir, "fifo", 0);
	rmdir(top);
	return done_testing();
}
