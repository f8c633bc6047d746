/*
 * fuse DIR UID [allow_other]: mounts a file system of that user's on DIR that never answers, as the user could with
 * fusermount(1) on an own directory.  Without allow_other only that user has access, not even root.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	int fd = open("/dev/fuse", O_RDWR);
	char options[128];

	if (argc < 3 || fd == -1) {
		perror("/dev/fuse");
		return 1;
	}
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=%s,group_id=%s%s%s", fd, argv[2], argv[2],
	    argc > 3 ? "," : "", argc > 3 ? argv[3] : "");
	if (mount("fuse", argv[1], "fuse", MS_NOSUID | MS_NODEV, options) == -1) {
		perror(argv[1]);
		return 1;
	}
	/* the file system ends with this process */
	for (;;)
		pause();
}
