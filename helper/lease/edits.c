/* See edits.h. */
#include "edits.h"

#include <stdlib.h>
#include <string.h>

bool
edits_add_node(struct edits *e, const struct edit_node *n)
{
	struct edit_node *v;
	size_t i;

	for (i = 0; i < e->nodes; i++)
		if (strcmp(e->node[i].path, n->path) == 0)
			return true;
	if ((v = reallocarray(e->node, e->nodes + 1, sizeof(*v))) == NULL)
		return false;
	e->node = v;
	e->node[e->nodes++] = *n;
	return true;
}

/* FNV-1a (Fowler, Noll, Vo). */
uint32_t
target_sum(const char *target)
{
	uint32_t sum = 2166136261U;

	for (; *target != '\0'; target++)
		sum = (sum ^ (unsigned char)*target) * 16777619U;
	return sum;
}

bool
edits_add_mount(struct edits *e, const char *source, const char *target, const char *const *options)
{
	struct edit_mount *v = reallocarray(e->mount, e->mounts + 1, sizeof(*v)), *m;

	if (v == NULL)
		return false;
	e->mount = v;
	m = &e->mount[e->mounts++];
	*m = (struct edit_mount){ .source = strdup(source), .target = strdup(target), .sum = target_sum(target) };
	if (m->source == NULL || m->target == NULL)
		return false;
	for (; *options != NULL; options++)
		if (!strlist_add(&m->options, *options, SIZE_MAX))
			return false;
	return true;
}

void
driver_edits_free(struct driver_edits *d)
{
	free(d->files);
	free(d->process);
	strlist_free(&d->mounted);
	strlist_free(&d->run);
	strlist_free(&d->specs);
	*d = (struct driver_edits){ 0 };
}

void
edits_free(struct edits *e)
{
	size_t i;

	for (i = 0; i < e->mounts; i++) {
		free(e->mount[i].source);
		free(e->mount[i].target);
		free(e->mount[i].fs_path);
		strlist_free(&e->mount[i].options);
	}
	for (i = 0; i < e->hooks; i++) {
		free(e->hook[i].when);
		free(e->hook[i].path);
		strlist_free(&e->hook[i].args);
		strlist_free(&e->hook[i].env);
	}
	free(e->mount);
	free(e->hook);
	free(e->node);
	strlist_free(&e->env);
	strlist_free(&e->gpus);
	strlist_free(&e->masked);
	strlist_free(&e->notes);
	driver_edits_free(&e->driver);
	free(e->label);
	free(e->mount_label);
	*e = (struct edits){ 0 };
}

void
edits_write_mounts(struct jsonout *j, const struct edits *e)
{
	size_t i;

	jsonout_begin(j, "mounts", "[");
	for (i = 0; i < e->mounts; i++) {
		jsonout_begin(j, NULL, "{");
		jsonout_text(j, "hostPath", e->mount[i].source);
		jsonout_text(j, "containerPath", e->mount[i].target);
		jsonout_list(j, "options", &e->mount[i].options);
		if (e->mount[i].fs_path != NULL)
			jsonout_text(j, "place", e->mount[i].fs_path);
		jsonout_end(j, "}");
	}
	jsonout_end(j, "]");
}

void
edits_write_groups(struct jsonout *j, const char *key, const struct edits *e)
{
	size_t i;

	jsonout_begin(j, key, "[");
	for (i = 0; i < e->gids; i++)
		jsonout_int(j, NULL, e->gid[i]);
	jsonout_end(j, "]");
}
