/*
 * What a user can do to the processes of his helper that count as his (helper/root/lookerloop.h), which is to signal them.
 *
 *	catch stop HELPER REQUEST N OFFSET	starts the helper N times with what is in the file REQUEST (a whole frame),
 *		and stops the process whose number is OFFSET above the helper's as soon as that lets him; the helpers end
 *	catch slow SECONDS	stops the one that looks for 0.7 s, lets it go on for 1.5 ms, and so on
 *
 * Prints how often it stopped one.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STOPPED_US 700000
#define GOING_US 1500
#define TRY_S 2

static char request[1 << 16];
static size_t len;

static int
stop_soon(pid_t pid)
{
	const time_t end = time(NULL) + TRY_S;
	int i;

	while (time(NULL) <= end)
		for (i = 0; i < 200; i++)
			if (kill(pid, SIGSTOP) == 0)
				return 1;
	return 0;
}

static int
stop_one(const char *helper, int offset)
{
	const struct timeval limit = { .tv_sec = 8 };
	int sv[2], hit;
	char reply[4096];
	pid_t h;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv) == -1)
		return 0;
	if ((h = fork()) == 0) {
		dup2(sv[1], 0);
		close(sv[0]);
		close(sv[1]);
		execl(helper, "gpuhelper", (char *)NULL);
		_exit(1);
	}
	close(sv[1]);
	(void)!write(sv[0], request, len);
	hit = stop_soon(h + offset);
	setsockopt(sv[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	(void)!read(sv[0], reply, sizeof(reply));
	close(sv[0]);
	waitpid(h, NULL, 0);
	return hit;
}

/* The parent of a process called gpuhelper; 0 for any other. */
static pid_t
parent_of(pid_t pid)
{
	char name[40], stat[400], *end;
	size_t n;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/stat", pid);
	if ((f = fopen(name, "r")) == NULL)
		return 0;
	n = fread(stat, 1, sizeof(stat) - 1, f);
	fclose(f);
	stat[n] = '\0';
	end = strrchr(stat, ')');
	return end != NULL && strstr(stat, "(gpuhelper)") != NULL ? (pid_t)atoi(end + 4) : 0;
}

/* The one that looks: its parent is one, and so is that one's. */
static pid_t
find_looker(void)
{
	pid_t pid, found = 0;
	struct dirent *e;
	DIR *d = opendir("/proc");

	while (d != NULL && (e = readdir(d)) != NULL)
		if ((pid = (pid_t)atoi(e->d_name)) > 0 && parent_of(parent_of(parent_of(pid))) > 0)
			found = pid;
	if (d != NULL)
		closedir(d);
	return found;
}

static int
slow_down(int seconds)
{
	const time_t end = time(NULL) + seconds;
	int hits = 0;
	pid_t pid;

	while (time(NULL) < end) {
		if ((pid = find_looker()) == 0)
			continue;
		while (time(NULL) < end && parent_of(pid) > 0 && kill(pid, SIGSTOP) == 0) {
			hits++;
			usleep(STOPPED_US);
			kill(pid, SIGCONT);
			usleep(GOING_US);
		}
	}
	return hits;
}

int
main(int argc, char **argv)
{
	int hits = 0, n, fd;

	if (argc == 3 && strcmp(argv[1], "slow") == 0)
		hits = slow_down(atoi(argv[2]));
	else if (argc == 6 && strcmp(argv[1], "stop") == 0 && (fd = open(argv[3], O_RDONLY)) != -1) {
		len = (size_t)read(fd, request, sizeof(request));
		for (n = atoi(argv[4]); n > 0; n--)
			hits += stop_one(argv[2], atoi(argv[5]));
	} else
		return 2;
	printf("%d\n", hits);
	return 0;
}
