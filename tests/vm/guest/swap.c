/*
 * swap DIR TARGET: until it is killed, exchanges in DIR what is called «here» with what is called «link», and gives TARGET
 * a further name «name» there, if it may, and takes it away again.  What a user can do who owns a folder, while root walks it.
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
