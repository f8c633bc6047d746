/* host/folder/mounts.c: parses mountinfo, and finds a directory's place in its file system. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "host/file.h"
#include "host/folder/mounts.h"
#include "tap.h"

static void
test_lines(void)
{
	char a[] = "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue";
	char b[] = "7 1 0:43 /a\\040b\\134c /x\\011y rw - tmpfs tmpfs rw", c[] = "36 35 98:0 /mnt1", d[] = "";
	char f[] = "7 1 0:43 /a /x rw master:1 propagate_from:2 - tmpfs - rw", g[] = "7 1 0:43 /a /x rw master:1";
	char e[] = "8 1 8:1 / /y ro,nosuid - ext4 /dev/sda1 rw";
	struct mount m;

	ok(mount_line(a, &m) && m.id == 36 && strcmp(m.fs, "98:0") == 0 && strcmp(m.root, "/mnt1") == 0 &&
	    strcmp(m.point, "/mnt2") == 0 && m.writable, "the example of proc(5) is parsed");
	ok(mount_line(b, &m) && strcmp(m.root, "/a b\\c") == 0 && strcmp(m.point, "/x\ty") == 0,
	    "escaped characters are decoded");
	ok(mount_line(e, &m) && !m.writable,
	    "a read-only mount is not writable, even of a writable file system");
	ok(!mount_has_option(&m, "nodev") && !mount_has_option(&m, "suid") && mount_has_option(&m, "nosuid") && mount_has_option(&m, "ro"),
	    "options are found by their whole names");
	is_str(mount_type(&m), "ext4", "the type is found without optional fields");
	ok(mount_line(f, &m), "a line with two optional fields is parsed");
	is_str(mount_type(&m), "tmpfs", "the type is found after optional fields");
	ok(mount_line(g, &m), "a line without a type is parsed");
	is_str(mount_type(&m), "", "a line without a type has an empty type");
	ok(!mount_line(c, &m) && !mount_line(d, &m), "an incomplete line is refused");
}

static void
test_place(void)
{
	char dir[] = "/tmp/t_mounts.XXXXXX", path[64];
	autofree char *root_fs = NULL, *root = NULL, *fs = NULL, *fs_path = NULL, *beneath_fs = NULL, *beneath = NULL;
	autoclose int slash = open("/", O_PATH | O_DIRECTORY), fd = -1, sub = -1, proc = open("/proc", O_PATH | O_DIRECTORY);
	automounts struct mount_table *mounts = mounts_read();
	char first[64];
	size_t n;

	ok(mkdtemp(dir) != NULL, "a directory is made");
	snprintf(path, sizeof(path), "%s/sub", dir);
	(void)mkdir(path, 0755);
	fd = open(dir, O_PATH | O_DIRECTORY);
	sub = open(path, O_PATH | O_DIRECTORY);
	if (!ok(mounts_fs_path(mounts, slash, "/", &root_fs, &root) && mounts_fs_path(mounts, fd, dir, &fs, &fs_path) &&
	    mounts_fs_path(mounts, sub, path, &beneath_fs, &beneath),
	    "the places of three directories are found"))
		return;
	ok(root[0] == '/', "the root directory has a place: %s %s", root_fs, root);
	n = strlen(fs_path);
	ok(strcmp(fs, beneath_fs) == 0 && strncmp(beneath, fs_path, n) == 0 && strcmp(beneath + n, "/sub") == 0,
	    "a subdirectory's place is beneath its parent's: %s", beneath);
	free(fs);
	free(fs_path);
	if (ok(mounts_fs_path(mounts, proc, "/proc", &fs, &fs_path), "the place of /proc is found"))
		ok(strcmp(fs, root_fs) != 0, "/proc is on another file system: %s", fs);
	free(fs);
	free(fs_path);
	ok(!mounts_fs_path(mounts, proc, "/elsewhere", &fs, &fs_path) && fs == NULL && fs_path == NULL,
	    "no place is found for a path outside the descriptor's mount");
	ok(!mounts_fs_path(NULL, proc, "/proc", &fs, &fs_path), "no place is found without a table");
	ok(mounts_beneath(mounts, "/", first, sizeof(first)) && first[0] == '/' && first[1] != '\0',
	    "a mount beneath / is found: %s",
	    first);
	ok(!mounts_beneath(mounts, "/proc/1/no-such-directory", first, sizeof(first)) &&
	    !mounts_beneath(mounts, "/pro", first, sizeof(first)),
	    "no mount is found beneath a missing directory, or beneath the beginning of a name");
	ok(mounts_beneath(NULL, dir, first, sizeof(first)) && strcmp(first, "?") == 0,
	    "without a table, the answer is that there may be a mount");
	(void)rmdir(path);
	(void)rmdir(dir);
}

/* Types as the kernel writes them. */
static void
test_unsure(void)
{
	static const struct {
		const char *type;
		bool unsure;
	} cases[] = {
		{ " - ext4 /dev/sda1 rw", false },
		{ " shared:1 - fuse.sshfs a - b rw", true },
		{ " - fuse host rw", true },
		{ " shared:1 master:2 - fuseblk /dev/sdb1 rw", true },
		{ " - autofs systemd-1 rw", true },
		{ " - fusectl fusectl rw", false },
		{ " - ext4 autofs rw", false },
		{ "", true },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char line[128];
		struct mount m;

		snprintf(line, sizeof(line), "36 35 98:0 / /usr rw%s", cases[i].type);
		ok(mount_line(line, &m) && mount_is_unsure(&m) == cases[i].unsure, "«%s»: the file system %s", cases[i].type,
		    cases[i].unsure ? "may never answer" : "answers");
	}
	ok(mounts_unsure(NULL, "/usr") != NULL, "without a table no file system is known to answer");
}

int
main(void)
{
	test_lines();
	test_unsure();
	/* qemu 7.2 drops the mount id from statx(2)'s result, but not from its mask */
	if (emulated())
		skip("the places of directories", "qemu-user shows no mounts");
	else
		test_place();
	return done_testing();
}
