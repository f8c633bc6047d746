/* See driveredits.h: what gpuhelper-engine calls. */
#include "driveredits.h"

#include "../base/path.h"

static void
write_hooks(struct jsonout *j, const struct edits *e)
{
	size_t i;

	jsonout_begin(j, "hooks", "[");
	for (i = 0; i < e->hooks; i++) {
		jsonout_begin(j, NULL, "{");
		jsonout_text(j, "hookName", e->hook[i].when);
		jsonout_text(j, "path", e->hook[i].path);
		jsonout_list(j, "args", &e->hook[i].args);
		jsonout_list(j, "env", &e->hook[i].env);
		jsonout_int(j, "timeout", e->hook[i].timeout);
		jsonout_end(j, "}");
	}
	jsonout_end(j, "]");
}

bool
driver_edits_encode(const struct edits *e, struct driver_edits *out)
{
	autojsonout struct jsonout files = { .next = false }, process = { .next = false };

	jsonout_begin(&files, NULL, "{");
	edits_write_mounts(&files, e);
	write_hooks(&files, e);
	jsonout_list(&files, "maskedPaths", &e->masked);
	jsonout_end(&files, "}");
	jsonout_begin(&process, NULL, "{");
	jsonout_list(&process, "env", &e->env);
	jsonout_list(&process, "notes", &e->notes);
	jsonout_end(&process, "}");
	return (out->files = jsonout_take(&files)) != NULL && (out->process = jsonout_take(&process)) != NULL;
}

int
driver_edits_check_folders(const struct edits *driver, const struct edit_mount *folder, size_t n, struct why *why)
{
	const struct edit_mount *m;
	size_t i;

	for (m = driver->mount; m < driver->mount + driver->mounts; m++)
		for (i = 0; i < n; i++)
			if (path_related(folder[i].target, m->target))
				return refuse(why, WHY_CONFIG, "the driver's %s is mounted at %s, where folder %s is", m->source, m->target,
				    folder[i].source);
	return 0;
}
