/*
 * user/mount/foldermounts.c: what the runtime mounted at a granted target, seen from outside of the container's mount namespace.
 * Needs root, for a mount namespace.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/folder/mounts.h"
#include "tap.h"
#include "user/mount/foldermounts.h"

static char top[] = "/tmp/t_foldermounts.XXXXXX", a[64], b[64], target[64], link_to[64], fs_path[80];

static bool
prepare(void)
{
	struct stat st;

	if (unshare(CLONE_NEWNS) == -1 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == -1 ||
	    mount("t_foldermounts", top, "tmpfs", 0, NULL) == -1 || stat(top, &st) == -1)
		return false;
	snprintf(a, sizeof(a), "%s/a", top);
	snprintf(b, sizeof(b), "%s/b", top);
	snprintf(target, sizeof(target), "%s/target", top);
	snprintf(link_to, sizeof(link_to), "%s/link", top);
	snprintf(fs_path, sizeof(fs_path), "%u:%u /a", major(st.st_dev), minor(st.st_dev));
	return mkdir(a, 0755) == 0 && mkdir(b, 0755) == 0 && mkdir(target, 0755) == 0 && symlink(target, link_to) == 0;
}

/* An emulator of another processor says the same mount of every descriptor. */
static bool
tells_mounts(void)
{
	const int fd[] = { open("/", O_PATH | O_CLOEXEC), open(top, O_PATH | O_CLOEXEC) };
	uint64_t id[] = { 0, 0 };
	const bool tells = mount_of(fd[0], &id[0]) && mount_of(fd[1], &id[1]) && id[0] != id[1];

	close(fd[0]);
	close(fd[1]);
	return tells;
}

/* Binds these, the last one on top, and checks the target in a child's namespace. */
static int
check(const char *first, const char *second, const char *at, struct why *why)
{
	struct folder_mounts p = { .target = { .n = 0 } };
	const pid_t pid = fork();
	int ret;

	if (pid == 0) {
		if (unshare(CLONE_NEWNS) == -1 || (first != NULL && mount(first, target, NULL, MS_BIND, NULL) == -1) ||
		    (second != NULL && mount(second, target, NULL, MS_BIND, NULL) == -1))
			_exit(1);
		raise(SIGSTOP);
		_exit(0);
	}
	if (waitpid(pid, &ret, WUNTRACED) == -1 || !WIFSTOPPED(ret))
		return -2;
	*why = (struct why){ .code = WHY_NONE };
	if (!strlist_add(&p.target, at, SIZE_MAX) || !strlist_add(&p.fs_path, fs_path, SIZE_MAX))
		return -2;
	ret = folder_mounts_check(pid, &p, why);
	folder_mounts_free(&p);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return ret;
}

int
main(void)
{
	struct why why;

	if (geteuid() != 0 || mkdtemp(top) == NULL || !prepare()) {
		printf("ok 1 - what is mounted at a target # SKIP no mount namespace: run this as root\n1..1\n");
		return 0;
	}
	is_int(check(a, NULL, target, &why), 0, "the granted folder");
	if (tells_mounts())
		is_int(check(a, NULL, link_to, &why), 0, "behind a link of the image");
	else
		ok(true, "behind a link of the image # SKIP the kernel does not tell a descriptor's mount");
	is_int(check(a, a, target, &why), 0, "the granted folder twice");
	is_int(check(b, NULL, target, &why), -1, "another folder");
	ok(strstr(why.text, "is not what the runtime mounted at") != NULL, "  the message says so: %s", why.text);
	is_int(check(b, NULL, link_to, &why), -1, "another folder behind a link");
	/* the mount table does not say which one is on top */
	is_int(check(a, b, target, &why), -1, "another folder on the granted one");
	is_int(check(b, a, target, &why), -1, "the granted folder on another one");
	is_int(check(NULL, NULL, target, &why), -1, "no mount at all");
	umount2(top, MNT_DETACH);
	rmdir(top);
	return done_testing();
}
