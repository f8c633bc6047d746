/* host/folder/mountpoint.c: which folders may be mounted inside a read-only folder. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/folder/mountpoint.h"
#include "lease/editsdriver.h"
#include "tap.h"

static char top[] = "/tmp/t_mountpoint.XXXXXX";

static const char *
at(const char *name)
{
	static char path[4][200];
	static unsigned n;

	n = (n + 1) % 4;
	snprintf(path[n], sizeof(path[n]), "%s/%s", top, name);
	return path[n];
}

static void
add(struct edits *e, const char *source, const char *target, const char *access)
{
	const char *options[] = { "bind", access, NULL };

	ok(edits_add_mount(e, at(source), target, options), "%s is mounted at %s", source, target);
}

/* Mounts a second folder at this place, beside /data, which has «dir/deep» and «link» in it. */
static int
put(const char *target, const char *access, struct why *why)
{
	struct edits e = { 0 };
	int ret;

	add(&e, "b", target, "rw");
	add(&e, "a", "/data", access);
	edits_sort_mounts(&e);
	ret = mountpoints_check(&e, why);
	edits_free(&e);
	return ret;
}

int
main(void)
{
	struct edits e = { 0 };
	char want[400];
	struct why why;

	if (mkdtemp(top) == NULL || mkdir(at("a"), 0755) == -1 || mkdir(at("a/dir"), 0755) == -1 ||
	    mkdir(at("a/dir/deep"), 0755) == -1 || mkdir(at("b"), 0755) == -1 || symlink("dir", at("a/link")) == -1)
		skip_all("no temporary directory can be made");
	is_int(put("/data/dir", "ro", &why), 0, "a mount in an existing directory is accepted");
	is_int(put("/data/dir/deep", "ro", &why), 0,
	    "a mount in a deeper existing directory is accepted");
	is_int(put("/data/new", "ro", &why), -1, "a mount in a missing directory is refused");
	snprintf(want, sizeof(want), "folder %s/b would be at /data/new in the container, where %s/a is read-only and has no "
	    "directory new: mkdir -p %s/a/new, or another target in the policy", top, top, top);
	is_str(why.text, want, "the message says what to do");
	is_int(why.code, WHY_CONFIG, "the code says that the policy is at fault");
	is_int(put("/data/dir/new", "ro", &why), -1,
	    "a mount in a deeper missing directory is refused");
	is_int(put("/data/link", "ro", &why), -1, "a mount on a symbolic link is refused");
	is_int(put("/data/link/deep", "ro", &why), -1,
	    "a mount beneath a symbolic link is refused");
	is_int(put("/data/new", "rw", &why), 0,
	    "a mount in a missing directory of a writable folder is accepted (the runtime makes "
	    "it)");
	is_int(put("/datax", "ro", &why), 0, "a mount beside the folder is accepted");
	add(&e, "a", "/data", "ro");
	add(&e, "b", "/data/dir", "rw");
	add(&e, "b", "/data/dir/new", "ro");
	edits_sort_mounts(&e);
	is_int(mountpoints_check(&e, &why), 0, "the nearest folder around a mount decides");
	edits_free(&e);
	ok(unlink(at("a/link")) == 0 && rmdir(at("a/dir/deep")) == 0 && rmdir(at("a/dir")) == 0 && rmdir(at("a")) == 0 &&
	    rmdir(at("b")) == 0 && rmdir(top) == 0, "the test's directories are removed");
	return done_testing();
}
