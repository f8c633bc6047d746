/* host/rootfile.c: a path that leads upwards is followed, although other processes rename files meanwhile. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/rootfile.h"
#include "tap.h"

#define OPENS 3000

/* Moves a file back and forth between two directories, until the test ends. */
static void
rename_for_ever(void)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		if (rename("one/file", "two/file") == -1 || rename("two/file", "one/file") == -1)
			_exit(1);
}

static bool
make_tree(void)
{
	int fd;

	if (mkdir("one", 0755) == -1 || mkdir("two", 0755) == -1 || mkdir("root", 0755) == -1 ||
	    mkdir("root/a", 0755) == -1 || mkdir("root/b", 0755) == -1 || symlink("../b", "root/a/link") == -1 ||
	    (fd = open("one/file", O_WRONLY | O_CREAT, 0644)) == -1)
		return false;
	close(fd);
	return true;
}

int
main(void)
{
	char dir[] = "/tmp/t_rootfile.XXXXXX", command[64];
	int root, fd, i, failed = 0, error = 0, status;
	pid_t other;

	if (emulated())
		skip_all("qemu-user has no openat2(2)");
	if (mkdtemp(dir) == NULL || chdir(dir) == -1 || !make_tree() || (root = open("root", O_PATH | O_DIRECTORY)) == -1)
		return 1;
	if ((other = fork()) == 0)
		rename_for_ever();
	for (i = 0; i < OPENS; i++) {
		if ((fd = rootfile_open(root, "/a/link", O_PATH, NULL)) != -1) {
			close(fd);
			continue;
		}
		failed++;
		error = errno;
	}
	is_int(failed, 0, "each of %d opens follows «..»: %s", OPENS, strerror(error));
	ok(other > 0 && waitpid(other, &status, WNOHANG) == 0, "the other process renamed a file all the time");
	(void)kill(other, SIGKILL);
	(void)waitpid(other, &status, 0);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return chdir("/") == 0 && system(command) == 0 ? done_testing() : 1;
}
