/* See tags.h.  Reads only /sys and /proc. */
#include "tags.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "../../host/file.h"
#include "../../host/gpu/udev.h"
#include "../configload.h"
#include "gpustate.h"

/* What the tags are made from, and the list to add them to. */
struct found {
	const struct settings *settings;
	const struct inventory *inv;
	struct strlist *out;
};

static bool
add_tag(struct strlist *out, const char *name, const char *value)
{
	autobuf struct buf b = { 0 };

	buf_printf(&b, "%s=%s", name, value);
	return !b.failed && (strlist_has(out, b.p) || strlist_add(out, b.p, SIZE_MAX));
}

/* A GPU with MIG instances does not count: containers get its instances. */
static bool
is_given(const struct found *f, const struct gpu *g)
{
	return gpu_never_given(g, f->settings) == NULL && !g->has_instances;
}

/* Makes «nvidia-a100-sxm4-40gb» of "NVIDIA A100-SXM4-40GB", since a tag must not contain spaces or commas. */
static void
model_tag(const char *model, char out[64])
{
	size_t n = 0;

	for (; *model != '\0' && n < 63; model++)
		if ((*model >= 'a' && *model <= 'z') || (*model >= '0' && *model <= '9') || *model == '.')
			out[n++] = *model;
		else if (*model >= 'A' && *model <= 'Z')
			out[n++] = (char)(*model - 'A' + 'a');
		else if (n > 0 && out[n - 1] != '-')
			out[n++] = '-';
	while (n > 0 && out[n - 1] == '-')
		n--;
	out[n] = '\0';
}

/*
 * The GPU's memory in GiB, rounded; 0 if unknown.  Only amdgpu reports it (Documentation/gpu/amdgpu/driver-misc.rst).
 */
static unsigned
memory_of(const struct gpu *g)
{
	autoclose int sys = open("/sys/bus/pci/devices", O_PATH | O_DIRECTORY | O_CLOEXEC);
	autofree char *text = NULL;
	char name[64];
	uint64_t bytes;

	snprintf(name, sizeof(name), "%s/mem_info_vram_total", g->pci);
	if (sys == -1 || g->pci[0] == '\0' || g->part[0] != '\0' || (text = file_read_at(sys, name, 64, NULL)) == NULL)
		return 0;
	text[strcspn(text, "\n")] = '\0';
	return text_u64(text, UINT64_MAX, &bytes) ? (unsigned)((bytes + (1U << 29)) >> 30) : 0;
}

static bool
add_of_each(const struct found *f)
{
	const struct gpu *g;
	char model[64];
	size_t i;

	for (i = 0; i < f->inv->gpus; i++) {
		g = &f->inv->gpu[i];
		if (!is_given(f, g))
			continue;
		model_tag(g->model, model);
		if (!add_tag(f->out, "gpu-type", gpu_vendor_name(g->vendor)) ||
		    (model[0] != '\0' && !add_tag(f->out, "gpu-model", model)))
			return false;
	}
	return true;
}

/* Adds the number of GPUs, their ranks, and the memory of the smallest. */
static bool
add_of_all(const struct found *f)
{
	autobuf struct buf ranks = { 0 };
	unsigned count = 0, vendors = 0, memory, least = UINT32_MAX;
	char text[16];
	size_t i;

	for (i = 0; i < f->inv->gpus; i++) {
		const struct gpu *g = &f->inv->gpu[i];

		if (!is_given(f, g))
			continue;
		count++;
		vendors |= 1U << g->vendor;
		memory = memory_of(g);
		least = memory < least ? memory : least;
		if (g->part[0] == '\0')
			buf_printf(&ranks, "%s%u", ranks.len > 0 ? "," : "", g->rank);
	}
	snprintf(text, sizeof(text), "%u", count);
	if (ranks.failed || !add_tag(f->out, "gpu-count", text))
		return false;
	/* each vendor's ranks begin at 0, so with several vendors they are ambiguous */
	if (ranks.len > 0 && (vendors & (vendors - 1)) == 0 && !add_tag(f->out, "gpu-devices", ranks.p))
		return false;
	snprintf(text, sizeof(text), "%uGiB", least);
	return least == 0 || add_tag(f->out, "gpu-memory", text);
}

int
tags_find(const struct settings *settings, struct strlist *out, struct why *why)
{
	struct inventory inv = { 0 };
	const struct found f = { settings, &inv, out };
	bool good = true, any = false;
	size_t i;
	int ret = gpus_of_host(GPUS_ALL, &inv, why);

	for (i = 0; ret == 0 && i < inv.gpus; i++)
		any = any || is_given(&f, &inv.gpu[i]);
	if (any)
		good = strlist_add(out, "gpu", SIZE_MAX) && add_of_each(&f) && add_of_all(&f);
	inventory_free(&inv);
	return ret == 0 && !good ? refuse_nomem(why) : ret;
}

char *
tags_variable(const char *name, const struct strlist *tags)
{
	autobuf struct buf b = { 0 };
	unsigned n = 0;
	size_t i;

	buf_printf(&b, "%s=", name);
	for (i = 0; i < tags->n; i++)
		if (strchr(tags->v[i], ',') == NULL)
			buf_printf(&b, "%s%s", n++ > 0 ? "," : "", tags->v[i]);
	return b.failed ? NULL : buf_take(&b);
}

int
ctl_tags(const struct options *o)
{
	autosettings struct settings settings = { 0 };
	autostrlist struct strlist tags = { 0 };
	struct why why;
	size_t i;

	if (config_settings_or_default(o, &settings, &why) == -1 || tags_find(&settings, &tags, &why) == -1)
		return give_up(o, &why);
	if (!o->json) {
		for (i = 0; i < tags.n; i++)
			say("%s", tags.v[i]);
		return 0;
	}
	put_out(json_pack("{s:o}", "tags", strings_json(&tags)));
	return 0;
}
