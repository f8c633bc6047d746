/*
 * Stands in for the helper: writes the wrapper's first request to /run/gpuhelper/asked, for attack/faultat.c; sends
 * no reply.
 */
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

int
main(void)
{
	struct pollfd in = { .fd = 0, .events = POLLIN };
	int out = open("/run/gpuhelper/asked", O_WRONLY | O_CREAT | O_EXCL, 0600);
	char buf[65536];
	ssize_t n;

	while (out != -1 && poll(&in, 1, 500) == 1 && (n = read(0, buf, sizeof(buf))) > 0)
		if (write(out, buf, (size_t)n) != n)
			return 1;
	return 75;
}
