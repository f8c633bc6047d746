/*
 * deep DIR DEPTH FILES: makes nested directories with long names in DIR, and files with two names each in the
 * innermost one.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	int dir = argc == 4 ? open(argv[1], O_RDONLY | O_DIRECTORY) : -1, next, i;
	char name[256], one[32], other[32];

	memset(name, 'd', 255);
	name[255] = '\0';
	for (i = 0; dir != -1 && i < atoi(argv[2]); i++, dir = next) {
		next = mkdirat(dir, name, 0755) == -1 ? -1 : openat(dir, name, O_RDONLY | O_DIRECTORY);
		close(dir);
	}
	for (i = 0; dir != -1 && i < atoi(argv[3]); i++) {
		snprintf(one, sizeof(one), "%d", i);
		snprintf(other, sizeof(other), "%d.too", i);
		if ((next = openat(dir, one, O_WRONLY | O_CREAT | O_EXCL, 0644)) == -1 || linkat(dir, one, dir, other, 0) == -1)
			break;
		close(next);
	}
	if (dir == -1 || i < atoi(argv[3])) {
		perror("deep");
		return 1;
	}
	return 0;
}
