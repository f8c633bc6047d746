/* See cdigpus.h. A name that is in conflict belongs to no GPU. Opens nothing. */
#include "cdigpus.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "../../base/path.h"
#include "../../base/pathshort.h"
#include "../../cdi/cdigpu.h"
#include "../../cdi/cdiproblem.h"
#include "../../gpu/extranode.h"
#include "../../gpu/extraword.h"
#include "cdisource.h"

/* Notes the file's first problem, as «/etc/cdi/nvidia.yaml:3:1: ...». */
static bool
note_problem(const struct cdi_file *f, struct inventory *inv)
{
	const struct cdi_fault *first = cdi_first_fault(&f->faults);
	char text[768], file[PATH_SHOWN], where[32] = "", at[128];

	path_short(f->path, file, sizeof(file));
	if (first != NULL && first->line != 0)
		snprintf(where, sizeof(where), "%u:%u:", first->line, first->column);
	if (f->problems.n > 0)
		snprintf(text, sizeof(text), "%s: %s", file, f->problems.v[0]);
	else if (first != NULL)
		snprintf(text, sizeof(text), "%s:%s %s%s%s", file, where, path_short(first->path, at, sizeof(at)),
		    first->path[0] != '\0' ? ": " : "", first->text);
	else
		snprintf(text, sizeof(text), "%s: can't be used", file);
	return cdi_problem_add(inv, cdi_kind_of(&f->spec), text);
}

static bool
note_problems(const struct cdi_registry *r, struct inventory *inv)
{
	const struct cdi_file *f;
	bool whole = true;
	size_t i;

	for (f = r->file; f < r->file + r->files && whole; f++)
		/* no GPU can be missing for a spec without devices */
		if (f->problems.n > 0 || (!f->usable && !f->spec.empty))
			whole = note_problem(f, inv);
	for (i = 0; i < r->problems.n && whole; i++)
		whole = cdi_problem_add(inv, "", r->problems.v[i]);
	return whole;
}

/* The node with this path if all GPUs of a vendor share it, or NULL. */
static const struct gpu_node *
common_of_path(const struct inventory *inv, const char *path)
{
	return gpu_of_node(inv, path) == NULL ? cdi_node_of_path(inv, path) : NULL;
}

/*
 * The inventory's node that the spec's node is by its number, or NULL. A further name of a node of all GPUs
 * (/dev/uvm) is no node of the inventory, because the container gets it by that name, too (drivernodes.h). Where
 * hostPath leads nowhere, a node that all GPUs share is the host's own: it tells no GPU.
 */
static const struct gpu_node *
find_by_number(const struct inventory *inv, const struct cdi_devnode *n)
{
	const char *source = cdi_node_source(n);
	const bool moved = strcmp(source, n->path) != 0;
	const struct gpu_node *own;
	char real[PATH_MAX];
	struct why why;
	struct stat st;
	bool roots;

	if (cdi_node_is_numbered(n)) {
		own = cdi_node_of_number(inv, n->major.v, n->minor.v);
		return own != NULL && (moved || gpu_of_node(inv, own->path) != NULL) ? own : NULL;
	}
	if (!moved || n->major.v != 0)
		return NULL;
	if (cdi_find_source(source, real, &st, &roots, &why) == -1)
		return why.code == WHY_ABSENT ? common_of_path(inv, n->path) : NULL;
	return roots && S_ISCHR(st.st_mode) ? cdi_node_of_number(inv, major(st.st_rdev), minor(st.st_rdev)) : NULL;
}

/* Gives the nodes of the inventory the inventory's paths. False if memory is short. */
static bool
resolve_paths(const struct inventory *inv, struct cdi_edits *e)
{
	const struct gpu_node *own;
	char *path;
	size_t i;

	for (i = 0; i < e->nodes; i++) {
		if (cdi_node_of_path(inv, cdi_node_source(&e->node[i])) != NULL ||
		    (own = find_by_number(inv, &e->node[i])) == NULL)
			continue;
		if ((path = strdup(own->path)) == NULL)
			return false;
		free(e->node[i].host_path);
		e->node[i].host_path = path;
	}
	return true;
}

static bool
resolve_spec(const struct inventory *inv, struct cdi_spec *s)
{
	bool whole = resolve_paths(inv, &s->edits);
	size_t i;

	for (i = 0; i < s->devices; i++)
		whole = whole && resolve_paths(inv, &s->device[i].edits);
	return whole;
}

/* Notes the device, which is no GPU, with the reason, if it is the first one of its kind. False if memory is short. */
static bool
note_other(const struct cdi_entry *e, struct inventory *inv)
{
	struct strlist *l = &inv->cdi_others;
	const char *kind = e->file->spec.kind;
	char line[256];

	/* no device of such a kind is a GPU, which a rule's vendor says without its devices */
	if (extra_kind_word(kind) != 0)
		return true;
	/* devices of a kind follow one another */
	if (l->n > 0 && cdi_name_is_of(l->v[l->n - 1], kind))
		return true;
	snprintf(line, sizeof(line), "%.200s %s", e->name, cdi_no_gpu(e->device, inv));
	return strlist_add(l, line, SIZE_MAX);
}

int
cdigpus_name(struct cdi_registry *r, struct inventory *inv, struct why *why)
{
	struct gpu *g;
	size_t i;

	if (!note_problems(r, inv))
		return refuse_nomem(why);
	for (i = 0; i < r->files; i++)
		if (r->file[i].usable && !resolve_spec(inv, &r->file[i].spec))
			return refuse_nomem(why);
	for (i = 0; i < r->entries; i++) {
		if (r->entry[i].conflict)
			continue;
		g = cdi_gpu_of(r->entry[i].device, inv);
		if (g != NULL ? !strlist_add(&g->cdi, r->entry[i].name, SIZE_MAX) : !note_other(&r->entry[i], inv))
			return refuse_nomem(why);
	}
	return 0;
}
