/*
 * A process 1 that only pauses, like Concourse's gdn-init; the tests bind-mount it in that place.  With
 * HOLD=open:PATH or HOLD=map:PATH in its environment it keeps that file open, or only mapped.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void
reap(int sig)
{
	(void)sig;
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

int
main(void)
{
	const char *hold = getenv("HOLD");
	int fd;

	(void)signal(SIGCHLD, reap);
	if (hold != NULL && (fd = open(strchr(hold, ':') + 1, O_RDWR)) != -1 && strncmp(hold, "map:", 4) == 0) {
		if (mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED)
			return 1;
		close(fd);
	}
	for (;;)
		pause();
}
