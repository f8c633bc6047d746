/*
 * In the machine: reports what SELinux allows a program that is confined like the helper.  The job labels it like the
 * helper's file, so it runs in gpuhelper_t; it runs as root, so that only SELinux is in its way.
 *
 *	tries domain PROGRAM	starts the helper, prints its label while it waits for a request
 *	tries by PROGRAM ARG...	starts PROGRAM as the helper starts its programs, and prints its output
 *	tries connect SOCKET	connects to the socket, sends nothing for some seconds
 *	tries label|write|make|read|list|exec|inet|inet6|open|relabel|truncate|unlink|rmdir|kill [PATH]
 *				tries that, prints errno's name
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static int
domain(const char *program)
{
	char path[64], label[256] = "";
	int pair[2], fd, i;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == -1 || (pid = fork()) == -1)
		return 1;
	if (pid == 0) {
		dup2(pair[1], 0);
		execl(program, program, (char *)0);
		_exit(127);
	}
	close(pair[1]);
	snprintf(path, sizeof(path), "/proc/%d/attr/current", (int)pid);
	/* until the child has executed the helper, which waits two seconds for a request */
	for (i = 0; i < 100 && strstr(label, "gpuhelper_t") == NULL; i++) {
		usleep(10000);
		memset(label, 0, sizeof(label));
		if ((fd = open(path, O_RDONLY)) == -1 || read(fd, label, sizeof(label) - 1) < 0)
			break;
		close(fd);
	}
	printf("%s\n", label);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return 0;
}

/* Through a socket of this process: the program may not write to its starter's pipe. */
static int
start(const char *program, char **argv)
{
	char text[256];
	int ends[2];
	ssize_t n;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == -1 || (pid = fork()) == -1)
		return 1;
	if (pid == 0) {
		dup2(ends[1], 1);
		close(ends[0]);
		execv(program, argv);
		printf("%s\n", strerrorname_np(errno));
		_exit(127);
	}
	close(ends[1]);
	while ((n = read(ends[0], text, sizeof(text))) > 0)
		(void)!write(1, text, (size_t)n);
	waitpid(pid, NULL, 0);
	return 0;
}

static int
keep_open(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	if (fd == -1 || connect(fd, (struct sockaddr *)&a, sizeof(a)) == -1) {
		perror(path);
		return 1;
	}
	sleep(3);
	return 0;
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *path = argc > 2 ? argv[2] : "/";
	static const char label[] = "system_u:object_r:container_file_t:s0";
	char text[256] = "";
	int ret = -1;

	errno = ENOSYS;
	if (strcmp(what, "domain") == 0)
		return domain(path);
	if (strcmp(what, "by") == 0 && argc > 2)
		return start(path, &argv[2]);
	if (strcmp(what, "connect") == 0)
		return keep_open(path);
	if (strcmp(what, "label") == 0)
		ret = open("/proc/self/attr/current", O_RDONLY);
	else if (strcmp(what, "write") == 0)
		ret = open(path, O_WRONLY);
	else if (strcmp(what, "truncate") == 0)
		ret = open(path, O_WRONLY | O_TRUNC);
	else if (strcmp(what, "make") == 0)
		ret = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	else if (strcmp(what, "read") == 0)
		ret = open(path, O_RDONLY);
	else if (strcmp(what, "list") == 0)
		ret = open(path, O_RDONLY | O_DIRECTORY);
	else if (strcmp(what, "open") == 0)
		ret = open(path, O_RDWR | O_NONBLOCK);
	else if (strcmp(what, "unlink") == 0)
		ret = unlink(path);
	else if (strcmp(what, "rmdir") == 0)
		ret = rmdir(path);
	else if (strcmp(what, "exec") == 0)
		ret = execl(path, path, "-c", "echo executed", (char *)0);
	else if (strcmp(what, "inet") == 0)
		ret = socket(AF_INET, SOCK_STREAM, 0);
	else if (strcmp(what, "inet6") == 0)
		ret = socket(AF_INET6, SOCK_DGRAM, 0);
	else if (strcmp(what, "kill") == 0)
		ret = kill(atoi(path), SIGTERM);
	else if (strcmp(what, "relabel") == 0)
		ret = lsetxattr(path, "security.selinux", label, sizeof(label), 0);
	if (ret > 0 && strcmp(what, "label") == 0)
		(void)!read(ret, text, sizeof(text) - 1);
	printf("%s\n", ret == -1 ? strerrorname_np(errno) : text[0] != '\0' ? text : "done");
	return 0;
}
