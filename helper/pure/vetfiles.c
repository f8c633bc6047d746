/* See vetparts.h: folders, the driver's files, and programs that the runtime runs. */
#include <stdio.h>
#include <string.h>

#include "grant.h"
#include "loaderdirs.h"
#include "nvhook.h"
#include "nvlibs.h"
#include "path.h"
#include "vetparts.h"

static bool
same_list(const struct strlist *l, const char *const *words)
{
	size_t i;

	for (i = 0; i < l->n && words[i] != NULL; i++)
		if (strcmp(l->v[i], words[i]) != 0)
			return false;
	return i == l->n && words[i] == NULL;
}

static bool
same_lists(const struct strlist *a, const struct strlist *b)
{
	size_t i;

	if (a->n != b->n)
		return false;
	for (i = 0; i < a->n; i++)
		if (strcmp(a->v[i], b->v[i]) != 0)
			return false;
	return true;
}

/* Folders. */

/* True if the rule's folder, or one beneath it, is mounted at this place. */
static bool
rule_puts(const struct folder_rule *r, const char *path, const char *target)
{
	const char *rest;

	if (!folder_rule_gives(r, path, &rest))
		return false;
	if (r->target == NULL)
		return strcmp(target, path) == 0;
	return text_starts(target, r->target) && strcmp(target + strlen(r->target), rest) == 0;
}

static bool
rule_gives(const struct folder_rule *r, const struct edit_mount *m)
{
	return rule_puts(r, m->source, m->target) && (same_list(&m->options, folder_rule_options(r->submounts, false)) ||
	    (r->writable && same_list(&m->options, folder_rule_options(r->submounts, true))));
}

static bool
is_given_folder(const struct vet *v, const struct edit_mount *m)
{
	struct why wrong;
	size_t i;

	if (path_check(m->source, &wrong) == -1 || path_check(m->target, &wrong) == -1)
		return false;
	for (i = 0; i < v->policy->folders; i++)
		if (rule_gives(&v->policy->folder[i], m))
			return v->look.folder(v->look.host, m->source);
	return false;
}

/* The driver's files. */

static bool
rules_give_mps(const struct policy *p)
{
	size_t i;

	for (i = 0; i < p->gpus; i++)
		if (p->gpu[i].mps)
			return true;
	return false;
}

static bool
has_driver_options(const struct edit_mount *m, bool writable, bool noexec)
{
	const char *const words[] = { "bind", "rprivate", writable ? "rw" : "ro", "nosuid", "nodev", noexec ? "noexec" : NULL,
		NULL };

	return same_list(&m->options, words);
}

/* True if the spec's mount puts this file there, and with these options. */
static bool
spec_gives(const struct vet *v, const struct cdi_mount *s, const struct edit_mount *m)
{
	const bool mps = nvfile_is_mps(s->host_path), writable = strlist_has(&m->options, "rw");
	struct vet_file f;

	if (strcmp(s->container_path, m->target) != 0 || cdi_target_wrong(s) != NULL ||
	    !has_driver_options(m, writable, strlist_has(&s->options, "noexec")) ||
	    !v->look.file(v->look.host, s->host_path, &f) || strcmp(f.real, m->source) != 0)
		return false;
	if (cdi_host_control(f.real) != NULL)
		return false;
	if (mps && !rules_give_mps(v->policy))
		return false;
	if (writable && (!(mps || strlist_has(&s->options, "rw")) || strlist_has(&s->options, "ro") ||
	    cdi_host_own(f.real) != NULL))
		return false;
	return ((f.plain || f.socket) && f.roots) || (mps && f.mps);
}

static bool
specs_give(const struct vet *v, const struct edit_mount *m)
{
	const struct cdi_edits *e;
	size_t i, k;

	for (i = 0; i < v->sources; i++)
		for (e = v->source[i].edits, k = 0; k < e->mounts; k++)
			if (spec_gives(v, &e->mount[k], m))
				return true;
	return false;
}

/* True if a program looks for the library «file» at this place (host/drivernames.c). */
static bool
names_library(const char *file, const char *target)
{
	const char *const *dir, *other = nvlib_other_name(file);
	const char *names[] = { NULL, file, other };
	char soname[64], at[PATH_MAX];
	size_t i;

	if (!nvlib_soname(file, soname))
		return false;
	names[0] = soname;
	for (dir = loader_dirs_here(); *dir != NULL; dir++)
		for (i = 0; i < 3; i++)
			if (names[i] != NULL && (size_t)snprintf(at, sizeof(at), "%s/%s%s", *dir, i < 2 ? nvlib_beneath(file) : "",
			    names[i]) < sizeof(at) && strcmp(at, target) == 0)
				return true;
	return false;
}

/* True if a hook of a spec would make a link there. */
static bool
specs_link(const struct vet *v, const char *link)
{
	char to[NVHOOK_PATH_MAX], at_link[NVHOOK_PATH_MAX];
	const struct cdi_edits *e;
	size_t i, k, at;

	for (i = 0; i < v->sources; i++)
		for (e = v->source[i].edits, k = 0; k < e->hooks; k++)
			for (at = 0; nvhook_of(&e->hook[k]) == NVHOOK_LINKS && nvhook_link(&e->hook[k], &at, to, at_link);)
				if (strcmp(at_link, link) == 0)
					return true;
	return false;
}

/* True for a second name of a library that is mounted as a spec says. */
static bool
is_second_name(const struct vet *v, const struct edit_mount *m)
{
	const struct edits *e = v->edits;
	struct why wrong;
	size_t i;

	if (!has_driver_options(m, false, false) || path_check(m->target, &wrong) == -1 || path_is_beneath(m->target, "/dev"))
		return false;
	for (i = 0; i < e->mounts; i++)
		if (&e->mount[i] != m && e->mount[i].driver && strcmp(e->mount[i].source, m->source) == 0 &&
		    (names_library(path_last(e->mount[i].target), m->target) || specs_link(v, m->target)) &&
		    specs_give(v, &e->mount[i]))
			return true;
	return false;
}

int
vet_mounts(const struct vet *v, struct why *why)
{
	const struct edit_mount *m;
	size_t i;

	for (i = 0; i < v->edits->mounts; i++) {
		m = &v->edits->mount[i];
		if (!m->driver && !is_given_folder(v, m))
			return vet_refuse("folder", m->source, why);
		if (m->driver && !(vet_gives_driver_files(v) && (specs_give(v, m) || is_second_name(v, m))))
			return vet_refuse("driver's file", m->source, why);
	}
	return 0;
}

/* Programs. */

static bool
is_hook(const struct vet *v, const struct cdi_hook *s, const struct edit_hook *h)
{
	struct vet_file f;

	return strcmp(h->when, cdi_hook_names[s->when]) == 0 && same_lists(&h->args, &s->args) &&
	    same_lists(&h->env, &s->env) && h->timeout == (s->timeout.set ? (uint32_t)s->timeout.v : 0) &&
	    v->look.file(v->look.host, s->path, &f) && f.program && f.roots && strcmp(f.real, h->path) == 0;
}

static bool
is_given_hook(const struct vet *v, const struct edit_hook *h)
{
	const struct cdi_edits *e;
	size_t i, k;

	for (i = 0; i < v->sources; i++)
		for (e = v->source[i].edits, k = 0; v->source[i].safe_hooks && k < e->hooks; k++)
			if (is_hook(v, &e->hook[k], h))
				return true;
	return false;
}

int
vet_hooks(const struct vet *v, struct why *why)
{
	size_t i;

	for (i = 0; i < v->edits->hooks; i++)
		if (!v->settings->cdi_hooks || !vet_gives_driver_files(v) || !is_given_hook(v, &v->edits->hook[i]))
			return vet_refuse("hook", v->edits->hook[i].path, why);
	return 0;
}
