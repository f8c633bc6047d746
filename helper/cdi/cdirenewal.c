/* See cdirenewal.h. */
#include "cdirenewal.h"

#include <stdio.h>
#include <string.h>

#include "../base/path.h"
#include "../base/pathshort.h"
#include "nvhook.h"

/*
 * True for what nvidia-container-toolkit 1.14 to 1.20 writes for all devices: a variable, and hooks of its own or
 * (without hooks) another variable. Specs written by hand have copied one or the other.
 */
static bool
is_of_ctk(const struct cdi_edits *e)
{
	size_t i;

	if (!strlist_has(&e->env, "NVIDIA_VISIBLE_DEVICES=void"))
		return false;
	for (i = 0; i < e->hooks; i++)
		if (nvhook_of(&e->hook[i]) != NVHOOK_NONE)
			return true;
	for (i = 0; i < e->env.n; i++)
		if (text_starts(e->env.v[i], "NVIDIA_CTK_"))
			return true;
	return false;
}

const char *
cdi_renewal(const char *path, const struct cdi_spec *s, enum gpu_vendor v, char out[CDI_RENEWAL_MAX])
{
	const char *vendor = gpu_vendor_name(v);
	char shown[PATH_SHOWN], own[64];

	path_short(path, shown, sizeof(shown));
	snprintf(own, sizeof(own), "gpuhelper-%s.json", vendor);
	if (v == GPU_NVIDIA && is_of_ctk(&s->edits))
		snprintf(out, CDI_RENEWAL_MAX, "nvidia-ctk cdi generate --output=%s", shown);
	else if (strcmp(path_last(path), own) == 0)
		snprintf(out, CDI_RENEWAL_MAX, "gpuhelperctl cdi generate --vendor %s --output %s", vendor, shown);
	else
		snprintf(out, CDI_RENEWAL_MAX, "mend it, or move it to another directory and write a spec anew: gpuhelperctl cdi "
		    "generate --vendor %s --output /etc/cdi/%s", vendor, own);
	return out;
}
