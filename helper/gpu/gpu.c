/*
 * See gpu.h. Assumes that texts are the kernel's and mean what the cited sources print, but that any byte may
 * be wrong and the end missing. Must never guess a number: refuses what can't be read.
 */
#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/text.h"
#include "../kernel/kerneltext.h"

static const char *const vendor_names[GPU_VENDORS] = { "nvidia", "amd", "intel" };

const char *
gpu_vendor_name(enum gpu_vendor v)
{
	return (unsigned)v < GPU_VENDORS ? vendor_names[v] : "unknown";
}

bool
gpu_node_is_needed(const struct gpu_node *n, unsigned capabilities)
{
	return n->needed_for == 0 || (n->needed_for & capabilities) != 0;
}

int
gpu_node_check(const struct gpu_node *n, struct why *why)
{
	char module[sizeof(n->path)];
	size_t i;

	if (n->major != GPU_NODE_NO_MODULE)
		return 0;
	/* in a module's name the kernel writes '_' for the '-' of the device's name */
	snprintf(module, sizeof(module), "%s", n->path + strlen("/dev/"));
	for (i = 0; module[i] != '\0'; i++)
		if (module[i] == '-')
			module[i] = '_';
	return refuse(why, WHY_ABSENT, "%s: module %s is not loaded: run modprobe %s", n->path,
	    module, module);
}

/* One line "195 nvidia" of a section of /proc/devices. */
static bool
devmajor_parse(const struct kernel_line *l, char type, struct devmajor *out)
{
	char line[sizeof(out->name) + 16], *name;

	if (!kernel_line_copy(l, line, sizeof(line)) || (name = strchr(line, ' ')) == NULL)
		return false;
	*name++ = '\0';
	*out = (struct devmajor){ .type = type };
	if (!text_u32(line, 1, 4095, &out->major) || *name == ' ')
		return false;
	return (size_t)snprintf(out->name, sizeof(out->name), "%s", name) < sizeof(out->name);
}

static bool
devmajors_add(struct devmajors *m, const struct devmajor *d)
{
	struct devmajor *v = reallocarray(m->v, m->n + 1, sizeof(*v));

	if (v == NULL)
		return false;
	m->v = v;
	m->v[m->n++] = *d;
	return true;
}

int
devmajors_parse(const char *text, struct devmajors *out, struct why *why)
{
	struct devmajor d;
	struct kernel_line l;
	char type = 0;

	*out = (struct devmajors){ 0 };
	while (kernel_next_line(&text, &l)) {
		if (l.len == 0)
			continue;
		if (type == 0 && kernel_line_is(&l, "Character devices:"))
			type = 'c';
		else if (type == 'c' && kernel_line_is(&l, "Block devices:"))
			type = 'b';
		else if (type == 0 || !devmajor_parse(&l, type, &d)) {
			devmajors_free(out);
			return refuse(why, WHY_IO,
			    "/proc/devices: can't make sense of the line \"%.*s\"",
			    (int)(l.len > 80 ? 80 : l.len), l.s);
		} else if (!devmajors_add(out, &d)) {
			devmajors_free(out);
			return refuse_nomem(why);
		}
	}
	if (type == 0 || *text != '\0') {
		devmajors_free(out);
		return refuse(why, WHY_IO, "/proc/devices: empty or cut off: is /proc mounted?");
	}
	return 0;
}

void
devmajors_free(struct devmajors *m)
{
	free(m->v);
	*m = (struct devmajors){ 0 };
}

bool
devmajors_char(const struct devmajors *m, const char *name, uint32_t *major)
{
	bool found = false;
	uint32_t at = 0;
	size_t i;

	for (i = 0; i < m->n; i++) {
		if (m->v[i].type != 'c' || strcmp(m->v[i].name, name) != 0)
			continue;
		if (found && m->v[i].major != at)
			return false;
		at = m->v[i].major;
		found = true;
	}
	if (found)
		*major = at;
	return found;
}

bool
devmajors_is_gpu(const struct devmajors *m, uint32_t major)
{
	static const char *const names[] = { "drm", "kfd", "accel", "gdrdrv" };
	size_t i, j;

	if (major == NVIDIA_MAJOR || major == DRM_MAJOR || major == ACCEL_MAJOR)
		return true;
	for (i = 0; i < m->n; i++) {
		if (m->v[i].type != 'c' || m->v[i].major != major)
			continue;
		if (text_starts(m->v[i].name, "nvidia"))
			return true;
		for (j = 0; j < sizeof(names) / sizeof(*names); j++)
			if (strcmp(m->v[i].name, names[j]) == 0)
				return true;
	}
	return false;
}

static void
param(const char *text, const char *key, uint32_t max, uint32_t *out)
{
	char value[16];

	if (kernel_field(text, key, ':', value, sizeof(value)) == 1)
		(void)text_u32(value, 0, max, out);
}

void
nvidia_params_parse(const char *text, struct inventory *inv)
{
	uint32_t modify = 1;

	inv->nvidia_uid = inv->nvidia_gid = 0;
	inv->nvidia_mode = 0666;
	param(text, "ModifyDeviceFiles", UINT32_MAX, &modify);
	param(text, "DeviceFileUID", UINT32_MAX - 1, &inv->nvidia_uid);
	param(text, "DeviceFileGID", UINT32_MAX - 1, &inv->nvidia_gid);
	param(text, "DeviceFileMode", 0777, &inv->nvidia_mode);
	/* nvidia-modprobe treats any other number as «no», too */
	inv->nvidia_modify = modify == 1;
}
