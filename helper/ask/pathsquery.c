/* See pathsquery.h. Both ends use these functions, but only gpuhelper-look reads a question. */
#include "pathsquery.h"

#include <stdlib.h>

#include "parsed.h"

#define FILES_MAX 4096		/* of a driver, and the hooks */

/* The question. */

static void
idmap_lines(struct lines *t, const char *name, struct idmap *m)
{
	size_t i;

	lines_begin(t, name);
	field_bool(t, &m->identity);
	for (i = 0; !t->failed && lines_more(t, "range", i < m->n); i++) {
		if (i == IDMAP_MAX) {
			t->failed = true;
			return;
		}
		field_u32(t, &m->v[i].inside);
		field_u32(t, &m->v[i].outside);
		field_u32(t, &m->v[i].size);
		if (t->out == NULL)
			m->n = i + 1;
	}
}

static void
groups_lines(struct lines *t, struct paths_query *a)
{
	size_t i;

	for (i = 0; !t->failed && lines_more(t, "group", i < a->groups); i++) {
		if (i == REQUEST_GIDS_MAX) {
			t->failed = true;
			return;
		}
		field_u32(t, &a->group[i]);
		if (t->out == NULL)
			a->groups = i + 1;
	}
}

static void
folder_query_fields(struct lines *t, void *member)
{
	struct folder_query *f = member;

	field_copy(t, &f->path);
	field_copy(t, &f->target);
	field_copy_if_any(t, &f->base);
	field_bool(t, &f->writable);
	field_bool(t, &f->submounts);
	f->relabel = (enum relabel)field_index(t, f->relabel, RELABEL_PRIVATE + 1);
}

static void
cgroups_query_fields(struct lines *t, struct cgroups_query *c)
{
	field_u32(t, &c->asker);
	field_copy_if_any(t, &c->path);
	field_copy_if_any(t, &c->id);
	field_bool(t, &c->rootful);
	field_bool(t, &c->by_systemd);
}

void
paths_query_lines(struct lines *t, struct paths_query *a)
{
	lines_begin(t, "cgroups");
	cgroups_query_fields(t, &a->cgroups);
	lines_begin(t, "process");
	field_u32(t, &a->uid);
	field_u32(t, &a->gid);
	field_bool(t, &a->dac_override);
	groups_lines(t, a);
	idmap_lines(t, "uids", &a->uids);
	idmap_lines(t, "gids", &a->gids);
	lines_members(t, "folder", (void **)&a->folder, &a->folders, FOLDER_RULES_MAX, sizeof(*a->folder),
	    folder_query_fields);
	lines_members(t, "nested", (void **)&a->writers.v, &a->writers.n, POLICY_FILES_MAX, sizeof(*a->writers.v),
	    writer_lines);
	lines_texts(t, "file", &a->file);
	t->failed = t->failed || a->file.n > FILES_MAX;
}

/* The answer. */

static void
found_path_fields(struct lines *t, void *member)
{
	struct found_path *f = member;

	field_u32(t, &f->of);
	field_copy(t, &f->path);
	fields_list(t, &f->at);
}

void
paths_answer_lines(struct lines *t, struct paths_answer *a)
{
	lines_begin(t, "paths");
	why_fields(t, &a->why);
	a->fault = (enum file_fault)field_index(t, a->fault, FILE_FAULT_MEMORY + 1);
	field_u32(t, &a->at_fault);
	lines_members(t, "found", (void **)&a->found, &a->n, CONTAINER_FOLDERS_MAX + FILES_MAX, sizeof(*a->found),
	    found_path_fields);
	lines_texts(t, "cgroup", &a->cgroup);
}

void
paths_answer_free(struct paths_answer *a)
{
	size_t i;

	for (i = 0; i < a->n; i++) {
		free(a->found[i].path);
		strlist_free(&a->found[i].at);
	}
	free(a->found);
	strlist_free(&a->cgroup);
	*a = (struct paths_answer){ .n = 0 };
}
