/* host/mounts.c: parses mountinfo, and finds where a directory is in its file system. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/file.h"
#include "host/mounts.h"
#include "pure/cleanup.h"
#include "tap.h"

static void
test_lines(void)
{
	char a[] = "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue";
	char b[] = "7 1 0:43 /a\\040b\\134c /x\\011y rw - tmpfs tmpfs rw", c[] = "36 35 98:0 /mnt1", d[] = "";
	char f[] = "7 1 0:43 /a /x rw master:1 propagate_from:2 - tmpfs - rw", g[] = "7 1 0:43 /a /x rw master:1";
	char e[] = "8 1 8:1 / /y ro,nosuid - ext4 /dev/sda1 rw";
	struct mount m;

	ok(mount_line(a, &m) && m.id == 36 && strcmp(m.fs, "98:0") == 0 && strcmp(m.place, "/mnt1") == 0 &&
	    strcmp(m.point, "/mnt2") == 0 && m.writable, "the line that proc(5) has");
	ok(mount_line(b, &m) && strcmp(m.place, "/a b\\c") == 0 && strcmp(m.point, "/x\ty") == 0, "what is escaped");
	ok(mount_line(e, &m) && !m.writable, "read-only by the mount, whatever the file system is");
	ok(!mount_has_option(&m, "nodev") && !mount_has_option(&m, "suid") && mount_has_option(&m, "nosuid") && mount_has_option(&m, "ro"),
	    "its options");
	is_str(mount_type(&m), "ext4", "its type, without optional fields");
	ok(mount_line(f, &m), "a line with two of them");
	is_str(mount_type(&m), "tmpfs", "its type");
	ok(mount_line(g, &m), "a line that ends early");
	is_str(mount_type(&m), "", "its type");
	ok(!mount_line(c, &m) && !mount_line(d, &m), "no line");
}

static void
test_place(void)
{
	char dir[] = "/tmp/t_mounts.XXXXXX", path[64];
	autofree char *root_fs = NULL, *root = NULL, *fs = NULL, *place = NULL, *beneath_fs = NULL, *beneath = NULL;
	autoclose int slash = open("/", O_PATH | O_DIRECTORY), fd = -1, sub = -1, proc = open("/proc", O_PATH | O_DIRECTORY);
	automounts struct mount_table *mounts = mounts_read();
	char first[64];
	size_t n;

	ok(mkdtemp(dir) != NULL, "a directory");
	snprintf(path, sizeof(path), "%s/sub", dir);
	(void)mkdir(path, 0755);
	fd = open(dir, O_PATH | O_DIRECTORY);
	sub = open(path, O_PATH | O_DIRECTORY);
	if (!ok(mounts_place(mounts, slash, "/", &root_fs, &root) && mounts_place(mounts, fd, dir, &fs, &place) &&
	    mounts_place(mounts, sub, path, &beneath_fs, &beneath), "places of three directories"))
		return;
	ok(root[0] == '/', "the root directory's: %s %s", root_fs, root);
	n = strlen(place);
	ok(strcmp(fs, beneath_fs) == 0 && strncmp(beneath, place, n) == 0 && strcmp(beneath + n, "/sub") == 0,
	    "one beneath lies beneath: %s", beneath);
	free(fs);
	free(place);
	if (ok(mounts_place(mounts, proc, "/proc", &fs, &place), "/proc"))
		ok(strcmp(fs, root_fs) != 0, "is of another file system: %s", fs);
	free(fs);
	free(place);
	ok(!mounts_place(mounts, proc, "/elsewhere", &fs, &place) && fs == NULL && place == NULL, "a path that is not of the descriptor's mount");
	ok(!mounts_place(NULL, proc, "/proc", &fs, &place), "nor where there is no table");
	ok(mounts_beneath(mounts, "/", first, sizeof(first)) && first[0] == '/' && first[1] != '\0', "beneath / is something: %s",
	    first);
	ok(!mounts_beneath(mounts, "/proc/1/no-such-directory", first, sizeof(first)) &&
	    !mounts_beneath(mounts, "/pro", first, sizeof(first)), "beneath what is no directory, or begins like one, is nothing");
	ok(mounts_beneath(NULL, dir, first, sizeof(first)) && strcmp(first, "?") == 0, "without a table there may be something");
	(void)rmdir(path);
	(void)rmdir(dir);
}

int
main(void)
{
	test_lines();
	/* qemu 7.2 drops the mount id of statx(2) from the result, but not from its mask */
	if (emulated())
		skip("places of directories", "qemu-user tells no mounts");
	else
		test_place();
	return done_testing();
}
