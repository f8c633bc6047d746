/* See cdi_validate.h: checks that programs of a container find the libraries that each of them needs. */
#include "cdi_validate.h"

#include <stdio.h>
#include <string.h>

#include "../../gpu/gpu.h"
#include "../../host/driver/driverfound.h"
#include "../../host/driver/drivernames.h"

/* The node that makes a device an NVIDIA GPU, by its path in the container; NULL if there is none. */
static const struct cdi_devnode *
nvidia_node(const struct cdi_edits *e)
{
	unsigned number;
	char rest;
	size_t i;

	for (i = 0; i < e->nodes; i++)
		if (e->node[i].path != NULL && sscanf(e->node[i].path, "/dev/nvidia%u%c", &number, &rest) == 1)
			return &e->node[i];
	return NULL;
}

static bool
add_mounts(const struct cdi_edits *from, struct edits *out)
{
	static const char *const options[] = { NULL };
	size_t i;

	for (i = 0; i < from->mounts; i++) {
		if (!cdi_mount_is_bind(&from->mount[i]))
			continue;
		if (!edits_add_mount(out, from->mount[i].host_path, from->mount[i].container_path, options))
			return false;
		out->mount[out->mounts - 1].driver = true;
	}
	return true;
}

void
cdi_check_libraries(const struct cdi_spec *s, struct cdi_faults *f)
{
	char missing[DRIVER_MISSING_MAX] = "", path[64];
	const struct cdi_devnode *node;
	size_t i;

	/* one warning is enough: mostly all devices have the libraries of the whole spec */
	for (i = 0; i < s->devices && missing[0] == '\0' && !f->starved; i++) {
		const struct cdi_edits *const from[2] = { &s->edits, &s->device[i].edits };
		struct edits e = { 0 };

		if ((node = nvidia_node(from[1])) == NULL)
			continue;
		if (!add_mounts(from[0], &e) || !add_mounts(from[1], &e) || !driver_names_add(from, &e))
			f->starved = true;
		driver_missing(&e, GPU_CAP_COMPUTE | GPU_CAP_UTILITY, missing);
		snprintf(path, sizeof(path), "devices[%zu]", i);
		if (missing[0] != '\0')
			cdi_fault(f, CDI_WARNING, node->line, node->column, path, "a container gets no %s, without which programs "
			    "can't use the GPU: mount it, or: gpuhelperctl cdi generate --vendor nvidia", missing);
		edits_free(&e);
	}
}
