/* See mounts.h: searches a process's mounts, line by line. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../file.h"
#include "mounts.h"

int
mounts_any(int proc, const char *thread, mount_test *test, void *ctx)
{
	char name[64], buffer[4096], *line = NULL;
	bool found = false;
	struct mount m;
	size_t size = 0;
	FILE *file;
	int fd, saved;

	snprintf(name, sizeof(name), "%.50s/mountinfo", thread);
	if ((fd = file_open_beneath(proc, name, O_RDONLY)) == -1)
		return -1;
	if ((file = fdopen(fd, "r")) == NULL) {
		saved = errno;
		close(fd);
		errno = saved;
		return -1;
	}
	/* the kernel gives a page at once, but fopen(3) asks for the 1 KiB that procfs calls its block */
	setvbuf(file, buffer, _IOFBF, sizeof(buffer));
	while (!found && (errno = 0, getline(&line, &size, file)) != -1) {
		line[strcspn(line, "\n")] = '\0';
		found = mount_line(line, &m) && test(ctx, &m);
	}
	saved = found ? 0 : errno;
	fclose(file);
	free(line);
	errno = saved;
	return found ? 1 : saved != 0 ? -1 : 0;
}
