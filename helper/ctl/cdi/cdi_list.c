/* gpuhelperctl cdi list: prints every CDI device, and the problems of every spec file. */
#include "cdi_validate.h"

#include <stdlib.h>

#include "../../base/cleanup.h"
#include "../../read/cdi/cdispec.h"
#include "../../read/parse.h"
#include "cdigroups.h"

static json_t *
printable_json(const struct strlist *l)
{
	json_t *list = json_array(), *j = json_object();
	size_t i;

	for (i = 0; i < l->n; i++) {
		put_text(j, "text", l->v[i]);
		json_array_append(list, json_object_get(j, "text"));
	}
	json_decref(j);
	return list;
}

static json_t *
file_json(const struct cdi_file *f)
{
	json_t *j = json_object(), *faults = json_array();
	size_t i;

	put_text(j, "file", f->path);
	put_text(j, "kind", f->spec.kind);
	put_text(j, "cdiVersion", f->spec.version);
	json_object_set_new(j, "usable", json_boolean(f->usable));
	for (i = 0; i < f->faults.n; i++)
		json_array_append_new(faults, cdi_fault_json(f->path, &f->faults.v[i]));
	json_object_set_new(j, "faults", faults);
	json_object_set_new(j, "problems", printable_json(&f->problems));
	return j;
}

static json_t *
annotations_json(const struct cdi_annotations *a)
{
	json_t *j = json_object();
	size_t i;

	for (i = 0; i < a->key.n; i++)
		put_text(j, a->key.v[i], a->value.v[i]);
	return j;
}

static void
print_registry_json(const struct cdi_registry *r)
{
	json_t *devices = json_array(), *files = json_array(), *j;
	const struct cdi_entry *e;
	size_t i;

	for (i = 0; i < r->entries; i++) {
		e = &r->entry[i];
		j = json_object();
		put_text(j, "name", e->name);
		json_object_set_new(j, "conflict", json_boolean(e->conflict));
		if (!e->conflict) {
			put_text(j, "file", e->file->path);
			json_object_set_new(j, "unsafe", json_boolean(e->file->faults.unsafe > 0));
			json_object_set_new(j, "annotations", annotations_json(&e->device->annotations));
		}
		json_array_append_new(devices, j);
	}
	for (i = 0; i < r->files; i++)
		json_array_append_new(files, file_json(&r->file[i]));
	put_out(json_pack("{s:o, s:o, s:o}", "devices", devices, "files", files, "problems", printable_json(&r->problems)));
}

/*
 * A grant never takes a group from a spec, but other engines do: so warn about groups that give too much.
 * hooks: gpuhelper runs hooks here. If not, these make no spec unsafe.
 */
static int
judge(struct cdi_registry *r, bool hooks, struct why *why)
{
	autofree struct cdi_group *group = NULL;
	size_t groups, i;

	if (cdi_groups_of_host(&group, &groups, why) == -1)
		return -1;
	for (i = 0; i < r->files; i++) {
		if (r->file[i].usable)
			cdi_check_groups(&r->file[i].spec, group, groups, &r->file[i].faults);
		if (r->file[i].faults.starved)
			return refuse_nomem(why);
		if (!hooks)
			cdi_faults_excuse_hooks(&r->file[i].faults);
	}
	return 0;
}

int
ctl_cdi_list(const struct options *o)
{
	autocdiregistry struct cdi_registry r = { 0 };
	autofree char *dirs = NULL;
	struct why why;
	size_t i;
	bool any;

	if ((o->spec_dirs != NULL && (dirs = cdi_spec_dirs(o->spec_dirs, &why)) == NULL) ||
	    cdi_registry_load(dirs != NULL ? dirs : CDI_DIRS, dirs == NULL, specs_parse, &r, &why) == -1 ||
	    judge(&r, cdi_hooks_run(o), &why) == -1)
		return give_up(o, &why);
	if (o->json)
		print_registry_json(&r);
	else
		for (i = 0; i < r.entries; i++)
			if (!r.entry[i].conflict)
				say("%s  %s%s", r.entry[i].name, r.entry[i].file->path,
				    r.entry[i].file->faults.unsafe > 0 ? "  (unsafe)" : "");
	any = cdi_say_problems(&r, true);
	return any ? WHY_DATA : 0;
}
