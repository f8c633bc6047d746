/* See parsedspec.h. */
#include "parsedspec.h"

#include <stdint.h>

/* Negative numbers are allowed here: the reader of the spec checks them. */
static void
spec_number_fields(struct lines *t, struct cdi_i64 *n)
{
	uint64_t v = (uint64_t)n->v;

	field_bool(t, &n->set);
	field_u64(t, &v);
	n->v = (int64_t)v;
}

static void
spec_node_fields(struct lines *t, void *member)
{
	struct cdi_devnode *n = member;
	uint32_t type = (unsigned char)n->type;

	field_copy_if_any(t, &n->path);
	field_copy_if_any(t, &n->host_path);
	field_copy_if_any(t, &n->permissions);
	field_u32(t, &type);
	n->type = (char)type;
	spec_number_fields(t, &n->major);
	spec_number_fields(t, &n->minor);
}

static void
mount_fields(struct lines *t, void *member)
{
	struct cdi_mount *m = member;

	field_copy(t, &m->host_path);
	field_copy(t, &m->container_path);
	field_copy_if_any(t, &m->type);
	fields_list(t, &m->options);
}

static void
hook_fields(struct lines *t, void *member)
{
	struct cdi_hook *h = member;

	h->when = (enum cdi_hook_name)field_index(t, h->when, CDI_HOOKS);
	field_copy(t, &h->path);
	spec_number_fields(t, &h->timeout);
	fields_list(t, &h->args);
	lines_begin(t, "with");
	fields_list(t, &h->env);
}

static void
edits_lines(struct lines *t, struct cdi_edits *e)
{
	lines_begin(t, "env");
	fields_list(t, &e->env);
	lines_members(t, "node", (void **)&e->node, &e->nodes, SIZE_MAX, sizeof(*e->node), spec_node_fields);
	lines_members(t, "mount", (void **)&e->mount, &e->mounts, SIZE_MAX, sizeof(*e->mount), mount_fields);
	lines_members(t, "hook", (void **)&e->hook, &e->hooks, SIZE_MAX, sizeof(*e->hook), hook_fields);
}

static void
device_lines(struct lines *t, void *member)
{
	struct cdi_device *d = member;

	field_copy(t, &d->name);
	edits_lines(t, &d->edits);
}

static void
spec_lines(struct lines *t, struct cdi_spec *s)
{
	lines_begin(t, "spec");
	field_copy(t, &s->kind);
	edits_lines(t, &s->edits);
	lines_members(t, "device", (void **)&s->device, &s->devices, SIZE_MAX, sizeof(*s->device), device_lines);
}

static void
faults_lines(struct lines *t, struct cdi_faults *f)
{
	struct cdi_fault first = { 0 };
	uint64_t counts[] = { f->invalid, f->unsafe, f->unsafe_hooks };
	bool any = f->n > 0;

	if (any && t->out != NULL)
		first = *cdi_first_fault(f);
	lines_begin(t, "faults");
	field_u64(t, &counts[0]);
	field_u64(t, &counts[1]);
	field_u64(t, &counts[2]);
	field_bool(t, &any);
	if (any) {
		field_u32(t, &first.line);
		field_u32(t, &first.column);
		field_text(t, first.path, sizeof(first.path));
		field_text(t, first.text, sizeof(first.text));
	}
	if (t->out != NULL || t->failed)
		return;
	if (any)
		cdi_fault(f, CDI_INVALID, first.line, first.column, first.path, "%s", first.text);
	f->invalid = (size_t)counts[0];
	f->unsafe = (size_t)counts[1];
	f->unsafe_hooks = (size_t)counts[2];
}

void
cdi_file_lines(struct lines *t, bool *usable, struct cdi_spec *s, struct cdi_faults *f)
{
	lines_begin(t, "file");
	field_bool(t, usable);
	if (!*usable) {
		field_copy_if_any(t, &s->kind);
		field_bool(t, &s->empty);
	}
	faults_lines(t, f);
	if (*usable && !t->failed)
		spec_lines(t, s);
}
