/* See removed.h. Names paths of config.json, which a task's author may have chosen, and decides nothing by them. */
#include "removed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "../../base/path.h"
#include "../../base/pathclean.h"
#include "../../base/quoted.h"
#include "../../gpu/vendorasks.h"
#include "../../gpu/vendorvars.h"
#include "../../lease/editsdriver.h"
#include "../mount/nodes.h"

#define NAMES_SHOWN 3

static bool
is_granted(const struct edits *grant, const char *path)
{
	size_t i;

	for (i = 0; i < grant->nodes && strcmp(grant->node[i].path, path) != 0; i++)
		;
	return i < grant->nodes;
}

bool
removed_device(const struct removal *r, struct spec_device *v)
{
	if (is_granted(r->grant, v->path))
		return true;
	/*
	 * Drop a GPU's number under every type but «b» and «p»: crun makes a character device of a type that it does not
	 * know. Drop a GPU's path with any number: in a user namespace, a runtime binds the host's node at this path.
	 */
	v->removed = r->hide && ((v->type != 'b' && v->type != 'p' && v->major >= 0 &&
	    devmajors_is_gpu(r->majors, (uint32_t)v->major)) || node_is_gpu(r->s, r->majors, v->path));
	return v->removed;
}

/* A mount that an NVIDIA runtime would read as a request. The word is one component, so it stands in any spelling. */
static bool
asks_vendor(const struct spec_mount *m, bool *failed)
{
	autofree char *target = NULL;

	if (strstr(m->target, "nvidia-container-devices") == NULL)
		return false;
	if ((target = path_cleaned(m->target)) == NULL)
		*failed = true;
	return target == NULL || vendor_mount_asks(target);
}

bool
removed_mount(const struct removal *r, struct spec_mount *m, bool *failed)
{
	if (m->duplicate)
		return true;
	m->removed = asks_vendor(m, failed) ||
	    (r->hide && m->bind && m->source != NULL && (m->only_gpus || node_is_gpu(r->s, r->majors, m->source)));
	return m->removed;
}

/* docker's --gpus: NVIDIA's hook would add the GPUs, but NVIDIA_VISIBLE_DEVICES=void tells it to add none. */
static const char *
find_vendor_hook(const struct spec *s)
{
	static const char name[] = "nvidia-container-runtime-hook";
	const struct doc *d = &s->doc;
	uint32_t n;

	for (n = doc_first(d, doc_get(d, s->hooks, "prestart")); n != DOC_NONE; n = doc_next(d, n)) {
		autofree char *path = doc_string(d, doc_get(d, n, "path"));

		if (path != NULL && strcmp(path_last(path), name) == 0)
			return name;
	}
	return NULL;
}

static void
add_name(struct buf *b, size_t *n, const char *name)
{
	if ((*n)++ < NAMES_SHOWN)
		buf_printf(b, "%s%.60s", *n > 1 ? ", " : "", quoted(name));
}

void
removed_tell(const struct spec *s, bool hide, bool granted, char out[NOTE_MAX])
{
	const char *hook = hide ? find_vendor_hook(s) : NULL;
	autobuf struct buf b = { 0 };
	size_t n = 0, i;

	out[0] = '\0';
	for (i = 0; i < s->device_count; i++)
		if (s->device[i].removed)
			add_name(&b, &n, s->device[i].path);
	for (i = 0; i < s->mount_count; i++)
		if (s->mount[i].removed)
			add_name(&b, &n, s->mount[i].target);
	if (hook != NULL)
		add_name(&b, &n, hook);
	if (n > NAMES_SHOWN)
		buf_printf(&b, " and %zu more", n - NAMES_SHOWN);
	if (n > 0 && !b.failed)
		snprintf(out, NOTE_MAX, "removed %s: %s", b.p, granted ? "the grant of this container does not have that" :
		    "this container has no grant");
}
