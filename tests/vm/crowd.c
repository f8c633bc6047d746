/*
 * crowd PATH COUNT: opens COUNT connections to a socket at once, sends nothing, and prints how long it took until the
 * other end had closed all of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int
main(int argc, char **argv)
{
	const struct rlimit files = { 8192, 8192 };
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int count = argc == 3 ? atoi(argv[2]) : 0, i, *fd = calloc((size_t)count + 1, sizeof(*fd));
	double begin = now(), connected;
	char c;

	if (count < 1 || fd == NULL || strlen(argv[1]) >= sizeof(a.sun_path))
		return 2;
	(void)setrlimit(RLIMIT_NOFILE, &files);
	strcpy(a.sun_path, argv[1]);
	for (i = 0; i < count; i++)
		if ((fd[i] = socket(AF_UNIX, SOCK_STREAM, 0)) == -1 || connect(fd[i], (struct sockaddr *)&a, sizeof(a)) == -1) {
			perror(argv[1]);
			return 1;
		}
	connected = now() - begin;
	for (i = 0; i < count; i++)
		while (read(fd[i], &c, 1) > 0)
			;
	printf("%d connections made in %.1f s, all closed after %.1f s\n", count, connected, now() - begin);
	return 0;
}
