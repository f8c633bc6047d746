/*
 * cdi/nvhook.c: what the hooks of NVIDIA's toolkit would do; cdi/loaderdirs.c; the SONAMEs of
 * cdi/nvlibs.c.
 */
#include "cdi/loaderdirs.h"
#include "cdi/nvhook.h"
#include "cdi/nvlibs.h"
#include "tap.h"

#define D "/usr/lib/x86_64-linux-gnu"

static void
set(struct cdi_hook *h, const char *path, const char *const *args)
{
	*h = (struct cdi_hook){ .path = strdup(path) };
	for (; *args != NULL; args++)
		ok(strlist_add(&h->args, *args, SIZE_MAX), "an argument is added");
}

static void
unset(struct cdi_hook *h)
{
	free(h->path);
	strlist_free(&h->args);
}

static const struct {
	const char *path;
	const char *args[4];
	enum nvhook is;
} hooks[] = {
	{ "/usr/bin/nvidia-cdi-hook", { "nvidia-cdi-hook", "create-symlinks" }, NVHOOK_LINKS },
	{ "/usr/bin/nvidia-ctk", { "nvidia-ctk", "hook", "create-symlinks" }, NVHOOK_LINKS },
	{ "/usr/bin/nvidia-cdi-hook", { "nvidia-cdi-hook", "update-ldcache" }, NVHOOK_CACHE },
	{ "/usr/bin/nvidia-cdi-hook", { "nvidia-cdi-hook", "enable-cuda-compat" }, NVHOOK_NEEDLESS },
	{ "/usr/bin/nvidia-cdi-hook", { "nvidia-cdi-hook", "disable-device-node-modification" }, NVHOOK_NEEDLESS },
	{ "/usr/bin/nvidia-ctk", { "nvidia-ctk", "hook", "chmod" }, NVHOOK_NEEDLESS },
	{ "/usr/bin/nvidia-cdi-hook", { "nvidia-cdi-hook", "apply-cuda-memory-limits" }, NVHOOK_NEEDLESS },
	{ "/usr/bin/nvidia-cdi-hook", { "nvidia-cdi-hook", "what-is-new" }, NVHOOK_UNKNOWN },
	{ "/usr/bin/nvidia-ctk", { "nvidia-ctk", "create-symlinks" }, NVHOOK_NONE },
	{ "/usr/bin/nvidia-ctk", { "nvidia-ctk", "hook" }, NVHOOK_NONE },
	{ "/usr/bin/nvidia-cdi-hook", { "nvidia-cdi-hook" }, NVHOOK_NONE },
	{ "/usr/bin/amd-ctk", { "amd-ctk", "create-symlinks" }, NVHOOK_NONE },
	/* where hooks do not run, a spec may have a path that no hook can have */
	{ "nvidia-cdi-hook", { "nvidia-cdi-hook", "create-symlinks" }, NVHOOK_NONE },
};

static const struct {
	const char *value, *target, *link;	/* target NULL: the link is skipped */
} links[] = {
	{ "libcuda.so.1::" D "/libcuda.so", D "/libcuda.so.1", D "/libcuda.so" },
	{ "../libnvidia-allocator.so.1::" D "/gbm/nvidia-drm_gbm.so", D "/libnvidia-allocator.so.1", D "/gbm/nvidia-drm_gbm.so" },
	{ "/opt/a//b/./c::/x", "/opt/a/b/c", "/x" },
	{ "../card1::/dev/dri/by-path/pci-0000:3b:00.0-card", "/dev/dri/card1", "/dev/dri/by-path/pci-0000:3b:00.0-card" },
	{ "a::/b", "/a", "/b" },
	{ "../a::/b", NULL, NULL }, { "../../a::/b/c", NULL, NULL }, { "..::/b/c", NULL, NULL }, { "a::b", NULL, NULL },
	{ "a::", NULL, NULL }, { "::/b", NULL, NULL }, { "a:/b", NULL, NULL }, { "a", NULL, NULL }, { "", NULL, NULL },
	{ "a::/b/../c", NULL, NULL }, { "a::/b//c", NULL, NULL }, { "a::/b/", NULL, NULL },
};

static void
test_links(void)
{
	char target[NVHOOK_PATH_MAX], link[NVHOOK_PATH_MAX], joined[2048];
	struct cdi_hook h;
	size_t i, at;

	for (i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		snprintf(joined, sizeof(joined), "--link=%s", links[i].value);
		set(&h, "/usr/bin/nvidia-cdi-hook", (const char *const[]){ "nvidia-cdi-hook", "create-symlinks", joined, "--link",
		    links[i].value, "--other", "--link", NULL });
		at = 0;
		if (links[i].target == NULL)
			ok(!nvhook_link(&h, &at, target, link),
			    "this is no link: %s", links[i].value);
		else {
			ok(nvhook_link(&h, &at, target, link) && strcmp(target, links[i].target) == 0 &&
			    strcmp(link, links[i].link) == 0, "%s: %s", links[i].value, target);
			ok(nvhook_link(&h, &at, target, link) &&
			    strcmp(target, links[i].target) == 0,
			    "  the same link in two words is read");
			ok(!nvhook_link(&h, &at, target, link), "  after it comes no link");
		}
		unset(&h);
	}
}

static void
test_folders(void)
{
	ok(loader_looks_in("/usr/lib64") && loader_looks_in("/lib64") && loader_looks_in(D) && loader_looks_in("/lib/x86_64-linux-gnu"),
	    "the loaders' directories are known");
	ok(!loader_looks_in("/opt/lib") && !loader_looks_in("/usr/lib64/nvidia") && !loader_looks_in("/") && !loader_looks_in(""),
	    "other directories are not");
}

static void
test_sonames(void)
{
	char name[64];

	ok(nvlib_soname("libcuda.so.580.95.05", name), "a library of the driver has a SONAME");
	is_str(name, "libcuda.so.1", "the usual SONAME ends with 1");
	ok(nvlib_soname("libnvidia-nvvm.so.580.95.05", name) &&
	    strcmp(name, "libnvidia-nvvm.so.4") == 0,
	    "a library may have another number in its SONAME");
	ok(nvlib_soname("libEGL_nvidia.so.580.95.05", name) &&
	    strcmp(name, "libEGL_nvidia.so.0") == 0,
	    "a library may have the number 0 in its SONAME");
	ok(nvlib_soname("libnvidia-glcore.so.580.95.05", name) && strcmp(name, "libnvidia-glcore.so.580.95.05") == 0,
	    "some SONAMEs have the driver's version");
	ok(nvlib_soname("libnvidia-egl-wayland.so.1.1.19", name) && strcmp(name, "libnvidia-egl-wayland.so.1") == 0,
	    "a library with a version of its own has a SONAME like others");
	ok(!nvlib_soname("libc.so.6", name) && !nvlib_soname("libcuda", name),
	    "other files have no SONAME");
}

int
main(void)
{
	struct cdi_hook h;
	size_t i;

	for (i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++) {
		set(&h, hooks[i].path, hooks[i].args);
		is_int(nvhook_of(&h), hooks[i].is, "%s %s", hooks[i].args[0], hooks[i].args[1] != NULL ? hooks[i].args[1] : "");
		unset(&h);
	}
	test_links();
	test_folders();
	test_sonames();
	return done_testing();
}
