/* See dropped.h. Names paths of config.json, which a task's author may have chosen, and decides nothing by them. */
#include "dropped.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../../base/cleanup.h"
#include "../../base/path.h"
#include "../../base/strange.h"
#include "../../gpu/vendorvars.h"
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
dropped_device(const struct dropping *d, struct spec_device *v)
{
	if (is_granted(d->grant, v->path))
		return true;
	/*
	 * Drop a GPU's number under every type but «b» and «p»: crun makes a character device of a type that it does not
	 * know. Drop a GPU's path with any number: in a user namespace, a runtime binds the host's node at this path.
	 */
	v->lost = d->hide && ((v->type != 'b' && v->type != 'p' && v->major >= 0 &&
	    devmajors_is_gpu(d->majors, (uint32_t)v->major)) || node_is_gpu(d->s, d->majors, v->path));
	return v->lost;
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
dropped_mount(const struct dropping *d, struct spec_mount *m, bool *failed)
{
	if (m->granted)
		return true;
	m->lost = asks_vendor(m, failed) ||
	    (d->hide && m->bind && m->source != NULL && (m->taken_out || node_is_gpu(d->s, d->majors, m->source)));
	return m->lost;
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
		buf_printf(b, "%s%.60s", *n > 1 ? ", " : "", strange(name));
}

void
dropped_tell(const struct spec *s, bool hide, bool granted, char out[NOTE_MAX])
{
	const char *hook = hide ? find_vendor_hook(s) : NULL;
	autobuf struct buf b = { 0 };
	size_t n = 0, i;

	out[0] = '\0';
	for (i = 0; i < s->device_count; i++)
		if (s->device[i].lost)
			add_name(&b, &n, s->device[i].path);
	for (i = 0; i < s->mount_count; i++)
		if (s->mount[i].lost)
			add_name(&b, &n, s->mount[i].target);
	if (hook != NULL)
		add_name(&b, &n, hook);
	if (n > NAMES_SHOWN)
		buf_printf(&b, " and %zu more", n - NAMES_SHOWN);
	if (n > 0 && !b.failed)
		snprintf(out, NOTE_MAX, "removed %s: %s", b.p, granted ? "the grant of this container does not have that" :
		    "this container has no grant");
}

/* One of our names that this one nearly is; NULL if it is one of ours, or far from all. */
static const char *
meant_by(const char *name)
{
	static const char *const ours[] = { "GPUHELPER_TOKEN", "GPUHELPER_GPUS", "GPUHELPER_FOLDERS", NULL };

	return text_among(name, ours) ? NULL : text_nearest(name, ours);
}

/* «name» has len bytes. */
static bool
tell_if_misspelt(const struct spec *s, const char *name, size_t len, char out[NOTE_MAX])
{
	char copy[32];
	const char *meant;

	/* most names are far from ours, and are compared no further */
	if (len >= sizeof(copy) || strncasecmp(name, "GPUH", 4) != 0)
		return false;
	snprintf(copy, sizeof(copy), "%.*s", (int)len, name);
	if ((meant = strlist_has(&s->tokens, copy) ? NULL : meant_by(copy)) != NULL)
		snprintf(out, NOTE_MAX, "%.60s has no effect: did you mean %s?", strange(copy), meant);
	return meant != NULL;
}

void
misspelt_tell(const struct spec *s, char out[NOTE_MAX])
{
	size_t i;
	uint32_t k;

	out[0] = '\0';
	for (i = 0; i < s->env_text.n; i++)
		if (tell_if_misspelt(s, s->env_text.v[i], strcspn(s->env_text.v[i], "="), out))
			return;
	for (k = doc_first(&s->doc, s->annotations); k != DOC_NONE; k = doc_next(&s->doc, k)) {
		autofree char *key = doc_string(&s->doc, k);

		if (key != NULL && tell_if_misspelt(s, key, strlen(key), out))
			return;
	}
}
