/* host/driver/drivernames.c, driverfound.c: the names that a driver's libraries get, and those that programs find. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cdi/loaderdirs.h"
#include "ctl/cdi/cdimake.h"
#include "gpu/gpu.h"
#include "host/driver/driverfound.h"
#include "host/driver/drivernames.h"
#include "lease/editsdriver.h"
#include "tap.h"

#define V "615.71.09"

/* The loader's directories in images like Debian's and like RHEL's, for the machine of this test. */
#define DEB loader_dirs_here()[0]
#define RHEL loader_dirs_here()[1]

/* A spec: edits of all devices, and of this one. */
struct fake {
	struct cdi_edits edits[2];
	struct edits out;
};

static const char *const no_options[] = { NULL };

static void
mount_to(struct fake *f, int which, const char *source, const char *dir, const char *name)
{
	char target[256];

	snprintf(target, sizeof(target), "%s/%s", dir, name);
	if (!cdi_make_mount(&f->edits[which], source, target, no_options) ||
	    !edits_add_mount(&f->out, source, target, no_options))
		abort();
	f->out.mount[f->out.mounts - 1].driver = true;
}

/* A library that is mounted where it is on the host, as nvidia-ctk lists it. */
static void
same(struct fake *f, const char *dir, const char *name)
{
	char source[256];

	snprintf(source, sizeof(source), "%s/%s", dir, name);
	mount_to(f, 0, source, dir, name);
}

static struct cdi_hook *
hook(struct fake *f, const char *verb, const char *link)
{
	struct cdi_hook *h;

	f->edits[0].hook = realloc(f->edits[0].hook, (f->edits[0].hooks + 1) * sizeof(*f->edits[0].hook));
	h = &f->edits[0].hook[f->edits[0].hooks++];
	*h = (struct cdi_hook){ .when = CDI_CREATE_CONTAINER, .path = strdup("/usr/bin/nvidia-cdi-hook") };
	if (!strlist_add(&h->args, "nvidia-cdi-hook", SIZE_MAX) || !strlist_add(&h->args, verb, SIZE_MAX) ||
	    (link != NULL && (!strlist_add(&h->args, "--link", SIZE_MAX) || !strlist_add(&h->args, link, SIZE_MAX))))
		abort();
	return h;
}

/* Has the hook run, as with cdi_hooks = "allow". */
static void
let_run(struct fake *f, const struct cdi_hook *h)
{
	struct edit_hook *to = edits_add_hook(&f->out);
	size_t i;

	if (to == NULL || (to->path = strdup(h->path)) == NULL)
		abort();
	for (i = 0; i < h->args.n; i++)
		if (!strlist_add(&to->args, h->args.v[i], SIZE_MAX))
			abort();
}

static void
name_all(struct fake *f)
{
	const struct cdi_edits *const from[2] = { &f->edits[0], &f->edits[1] };

	ok(driver_names_add(from, &f->out), "  the names are added");
}

/* The source that is mounted there; NULL if none is. */
static const char *
at(const struct fake *f, const char *dir, const char *name)
{
	const char *source = NULL;
	char target[256];
	size_t i;

	snprintf(target, sizeof(target), "%s/%s", dir, name);
	for (i = 0; i < f->out.mounts; i++)
		if (strcmp(f->out.mount[i].target, target) == 0) {
			ok(source == NULL, "  %s is mounted once", target);
			source = f->out.mount[i].source;
		}
	return source;
}

static bool
in_both(const struct fake *f, const char *name)
{
	return at(f, DEB, name) != NULL && at(f, RHEL, name) != NULL;
}

static void
drop(struct fake *f)
{
	struct cdi_spec all = { .edits = f->edits[0] }, one = { .edits = f->edits[1] };

	edits_free(&f->out);
	cdi_free(&all);
	cdi_free(&one);
}

/* Libraries that a driver ships under their SONAMEs only, or with a version of their own. */
static void
test_one_by_soname(void)
{
	static const char *const own[] = { "libnvidia-nvvm70.so.4", "libnvidia-api.so.1", "libnvidia-egl-wayland.so.1",
		"libnvidia-nvvm.so.4" };
	size_t i;

	for (i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		struct fake f = { 0 };

		same(&f, RHEL, "libcuda.so." V);
		same(&f, RHEL, "libnvidia-ml.so." V);
		same(&f, RHEL, own[i]);
		name_all(&f);
		ok(in_both(&f, "libcuda.so.1") && in_both(&f, "libnvidia-ml.so.1"), "%s leaves the other libraries their names", own[i]);
		ok(in_both(&f, "libcuda.so." V) && in_both(&f, "libcuda.so"), "  the other names, too");
		ok(in_both(&f, own[i]), "  it is in both loaders' directories itself");
		ok(driver_finds(&f.out, "libcuda.so.1") && driver_finds(&f.out, own[i]), "  programs find them");
		drop(&f);
	}
}

static void
test_own_version(void)
{
	struct fake f = { 0 };

	same(&f, DEB, "libnvidia-egl-wayland.so.1.1.19");
	name_all(&f);
	ok(in_both(&f, "libnvidia-egl-wayland.so.1") && in_both(&f, "libnvidia-egl-wayland.so.1.1.19"),
	    "a library with a version of its own has its SONAME, by which its settings name it");
	drop(&f);
}

/* By hand: SONAMEs only, in the device's edits, for one kind of image. */
static void
test_by_hand(void)
{
	struct fake f = { 0 };
	size_t before;

	mount_to(&f, 1, "/usr/lib/x/libcuda.so." V, DEB, "libcuda.so.1");
	mount_to(&f, 0, "/usr/lib64/libnvidia-ml.so." V, "/lib64", "libnvidia-ml.so.1");
	same(&f, "/usr/bin", "nvidia-smi");
	name_all(&f);
	ok(in_both(&f, "libcuda.so.1"), "a spec that is written by hand works in images of both kinds");
	ok(at(&f, DEB, "libnvidia-ml.so.1") != NULL && at(&f, RHEL, "libnvidia-ml.so.1") == NULL &&
	    driver_finds(&f.out, "libnvidia-ml.so.1"),
	    "/lib64 is the same place as /usr/lib64");
	ok(at(&f, DEB, "nvidia-smi") == NULL, "a program gets no name");
	before = f.out.mounts;
	name_all(&f);
	is_int(f.out.mounts, before, "a second GPU of the spec adds no name again");
	drop(&f);
}

static void
test_complete(void)
{
	static const char *const names[] = { "libcuda.so.1", "libcuda.so." V, "libcuda.so" };
	struct fake f = { 0 };
	size_t i, before;

	for (i = 0; i < 3; i++) {
		mount_to(&f, 0, "/opt/libcuda.so." V, DEB, names[i]);
		mount_to(&f, 0, "/opt/libcuda.so." V, RHEL, names[i]);
	}
	mount_to(&f, 0, "/opt/32/libcuda.so." V, "/usr/lib/i386-linux-gnu", "libcuda.so.1");
	before = f.out.mounts;
	name_all(&f);
	is_int(f.out.mounts, before, "a spec with all names gets none, and a 32-bit library none of a 64-bit one");
	drop(&f);
	f = (struct fake){ 0 };
	mount_to(&f, 0, "/opt/32/libcuda.so." V, "/usr/lib/i386-linux-gnu", "libcuda.so.1");
	name_all(&f);
	is_int(f.out.mounts, 1, "a 32-bit library alone gets no name");
	ok(!driver_finds(&f.out, "libcuda.so.1"), "  programs of 64 bits do not find it");
	drop(&f);
}

/* Two files with one SONAME: the spec may have one for programs that ask for it. */
static void
test_two_of_one_soname(void)
{
	struct fake f = { 0 };

	mount_to(&f, 0, "/opt/compat/libcuda.so.1", "/usr/local/cuda/compat", "libcuda.so.1");
	same(&f, DEB, "libcuda.so." V);
	name_all(&f);
	ok(at(&f, RHEL, "libcuda.so.1") != NULL && strcmp(at(&f, RHEL, "libcuda.so.1"), "/opt/compat/libcuda.so.1") != 0,
	    "of two files, the one in a loader's directory gets the name");
	drop(&f);
}

static void
test_links(void)
{
	struct fake f = { 0 }, g = { 0 };
	char link[256];

	same(&f, RHEL, "libmakers-own.so.3.1");
	same(&f, RHEL, "libnvidia-nvvm70.so.4");
	hook(&f, "create-symlinks", "libmakers-own.so.3.1::/usr/lib64/libmakers-own.so.3");
	name_all(&f);
	ok(at(&f, RHEL, "libmakers-own.so.3") != NULL, "a link of the hook becomes a mount, though one library has its SONAME");
	drop(&f);

	/* as nvidia-ctk lists a driver that the host's cache has in /lib64; the SONAME is then mounted in /usr/lib64 */
	same(&g, RHEL + strlen("/usr"), "libnvidia-ml.so." V);
	snprintf(link, sizeof(link), "libnvidia-ml.so.1::%s/libnvidia-ml.so", RHEL + strlen("/usr"));
	hook(&g, "create-symlinks", link);
	name_all(&g);
	ok(at(&g, RHEL + strlen("/usr"), "libnvidia-ml.so") != NULL, "a link to a name that is mounted in the merged directory, too");
	drop(&g);
}

/* Hooks that run make some of the names. */
static void
test_running_hooks(void)
{
	static const char link[] = "libcuda.so." V "::/usr/lib64/libcuda.so.1";
	struct fake f = { 0 };

	same(&f, RHEL, "libcuda.so." V);
	let_run(&f, hook(&f, "update-ldcache", NULL));
	let_run(&f, hook(&f, "create-symlinks", "libcuda.so.1::/usr/lib64/libcuda.so"));
	name_all(&f);
	is_int(f.out.mounts, 1, "with both hooks no name is added");
	ok(driver_finds(&f.out, "libcuda.so.1") && !driver_finds(&f.out, "libnvidia-ml.so.1"), "  programs find what is mounted");
	drop(&f);
	f = (struct fake){ 0 };
	same(&f, RHEL, "libcuda.so." V);
	let_run(&f, hook(&f, "update-ldcache", NULL));
	name_all(&f);
	ok(in_both(&f, "libcuda.so") && at(&f, RHEL, "libcuda.so.1") == NULL, "the hook for the cache alone makes no other names");
	drop(&f);
	f = (struct fake){ 0 };
	same(&f, RHEL, "libcuda.so." V);
	let_run(&f, hook(&f, "create-symlinks", link));
	name_all(&f);
	ok(at(&f, DEB, "libcuda.so.1") != NULL && at(&f, RHEL, "libcuda.so.1") == NULL,
	    "the hook for links alone makes no SONAMEs but those it lists, and nothing is mounted over these");
	ok(driver_finds(&f.out, "libcuda.so.1"), "  programs find it");
	drop(&f);
	f = (struct fake){ 0 };
	same(&f, RHEL, "libcuda.so." V);
	let_run(&f, hook(&f, "disable-device-node-modification", NULL));
	name_all(&f);
	ok(in_both(&f, "libcuda.so.1") && in_both(&f, "libcuda.so"), "a hook that makes no names leaves them to be mounted");
	drop(&f);
	f = (struct fake){ 0 };
	let_run(&f, hook(&f, "create-symlinks", link));
	ok(!driver_finds(&f.out, "libcuda.so.1"), "a link to a library that is not mounted leads nowhere");
	drop(&f);
}

static void
is_missing(const struct edits *e, unsigned capabilities, const char *want, const char *name)
{
	char missing[DRIVER_MISSING_MAX];

	driver_missing(e, capabilities, missing);
	is_str(missing, want, "%s", name);
}

static void
test_missing(void)
{
	char dir[] = "/tmp/t_drivernames.XXXXXX", path[128];
	struct fake f = { 0 };
	FILE *file;

	is_missing(&f.out, GPU_CAP_COMPUTE | GPU_CAP_UTILITY, "libcuda.so.1 or libnvidia-ml.so.1", "both are missing");
	is_missing(&f.out, GPU_CAP_UTILITY, "libnvidia-ml.so.1", "utility needs one");
	is_missing(&f.out, GPU_CAP_VIDEO | GPU_CAP_GRAPHICS, "", "other capabilities need none of them");
	same(&f, DEB, "libcuda.so." V);
	is_missing(&f.out, GPU_CAP_COMPUTE, "libcuda.so.1", "a file under another name is not found");
	name_all(&f);
	is_missing(&f.out, GPU_CAP_COMPUTE | GPU_CAP_UTILITY, "libnvidia-ml.so.1", "with its name it is");
	drop(&f);

	f = (struct fake){ 0 };
	if (!ok(mkdtemp(dir) != NULL, "a directory is made"))
		return;
	mount_to(&f, 0, dir, "/usr/local", "nvidia");
	is_missing(&f.out, GPU_CAP_COMPUTE, "libcuda.so.1", "a directory without the library");
	snprintf(path, sizeof(path), "%s/lib64", dir);
	ok(mkdir(path, 0755) == 0, "  it gets one beneath");
	snprintf(path, sizeof(path), "%s/lib64/libcuda.so.1", dir);
	if ((file = fopen(path, "w")) != NULL)
		fclose(file);
	is_missing(&f.out, GPU_CAP_COMPUTE, "", "a directory with the library, as drivers for containers have it");
	(void)unlink(path);
	*strrchr(path, '/') = '\0';
	(void)rmdir(path);
	(void)rmdir(dir);
	drop(&f);
}

int
main(void)
{
	test_one_by_soname();
	test_own_version();
	test_by_hand();
	test_complete();
	test_two_of_one_soname();
	test_links();
	test_running_hooks();
	test_missing();
	return done_testing();
}
