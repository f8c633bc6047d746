/*
 * cdi/cdirenewal.c: who wrote a spec, and what a message says to do about it.
 */
#include "cdi/cdirenewal.h"
#include "tap.h"

#define MEND(vendor) "mend it, or move it to another directory and write a spec anew: gpuhelperctl cdi generate --vendor " \
	vendor " --output /etc/cdi/gpuhelper-" vendor ".json"

/* A spec with these variables and a hook with these arguments; each list ends with NULL. */
static struct cdi_spec
made(const char *const *env, const char *path, const char *const *args, struct cdi_hook *h)
{
	struct cdi_spec s = { 0 };

	for (; *env != NULL; env++)
		strlist_add(&s.edits.env, *env, SIZE_MAX);
	if (path == NULL)
		return s;
	*h = (struct cdi_hook){ .path = (char *)(uintptr_t)path };
	for (; *args != NULL; args++)
		strlist_add(&h->args, *args, SIZE_MAX);
	s.edits.hook = h;
	s.edits.hooks = 1;
	return s;
}

int
main(void)
{
	static const char void_[] = "NVIDIA_VISIBLE_DEVICES=void";
	static const struct {
		const char *what, *file;
		enum gpu_vendor vendor;
		const char *env[4], *hook, *args[4], *want;
	} t[] = {
		{ "nvidia-ctk's spec", "/etc/cdi/nvidia.yaml", GPU_NVIDIA, { void_ }, "/usr/bin/nvidia-cdi-hook",
		    { "nvidia-cdi-hook", "update-ldcache" }, "nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml" },
		{ "of 1.14", "/run/cdi/x.yaml", GPU_NVIDIA, { void_ }, "/usr/bin/nvidia-ctk", { "nvidia-ctk", "hook", "chmod" },
		    "nvidia-ctk cdi generate --output=/run/cdi/x.yaml" },
		{ "in JSON", "/etc/cdi/x.json", GPU_NVIDIA, { void_ }, "/usr/bin/nvidia-cdi-hook",
		    { "nvidia-cdi-hook", "update-ldcache" }, "nvidia-ctk cdi generate --output=/etc/cdi/x.json" },
		{ "without hooks", "/etc/cdi/x.yaml", GPU_NVIDIA, { "NVIDIA_CTK_LIBCUDA_DIR=/usr/lib64", void_ }, NULL, { NULL },
		    "nvidia-ctk cdi generate --output=/etc/cdi/x.yaml" },
		{ "our spec", "/run/cdi/gpuhelper-nvidia.json", GPU_NVIDIA, { void_ }, NULL, { NULL },
		    "gpuhelperctl cdi generate --vendor nvidia --output /run/cdi/gpuhelper-nvidia.json" },
		{ "our spec for AMD", "/etc/cdi/gpuhelper-amd.json", GPU_AMD, { NULL }, NULL, { NULL },
		    "gpuhelperctl cdi generate --vendor amd --output /etc/cdi/gpuhelper-amd.json" },
		{ "a spec by hand", "/etc/cdi/nvidia.yaml", GPU_NVIDIA, { NULL }, NULL, { NULL }, MEND("nvidia") },
		{ "one with the tool's variable", "/etc/cdi/nvidia.json", GPU_NVIDIA, { void_ }, NULL, { NULL }, MEND("nvidia") },
		{ "one with the tool's hook", "/etc/cdi/nvidia.yaml", GPU_NVIDIA, { "NVIDIA_VISIBLE_DEVICES=0" }, "/usr/bin/nvidia-ctk",
		    { "nvidia-ctk", "hook", "update-ldcache" }, MEND("nvidia") },
		{ "one with another hook", "/etc/cdi/nvidia.yaml", GPU_NVIDIA, { void_ }, "/sbin/ldconfig", { "ldconfig" },
		    MEND("nvidia") },
		{ "one for AMD", "/etc/cdi/amd.json", GPU_AMD, { NULL }, NULL, { NULL }, MEND("amd") },
		{ "one with a name like ours", "/etc/cdi/gpuhelper-amd.json", GPU_NVIDIA, { NULL }, NULL, { NULL }, MEND("nvidia") },
	};
	char out[CDI_RENEWAL_MAX];
	struct cdi_hook h;
	struct cdi_spec s;
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		h = (struct cdi_hook){ .path = NULL };
		s = made(t[i].env, t[i].hook, t[i].args, &h);
		is_str(cdi_renewal(t[i].file, &s, t[i].vendor, out), t[i].want, "%s", t[i].what);
		strlist_free(&s.edits.env);
		strlist_free(&h.args);
	}
	return done_testing();
}
