/* See vetparts.h: folders, the driver's files, and programs that the runtime runs. */
#include <stdio.h>
#include <string.h>

#include "../base/path.h"
#include "../cdi/loaderdirs.h"
#include "../cdi/nvhook.h"
#include "../cdi/nvlibs.h"
#include "../policy/driverleftout.h"
#include "../policy/gpurule.h"
#include "../policy/policygrant.h"
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

/*
 * True if a rule gives the folder. Begins with rule *next, and sets it to the one after that rule: policy and reply
 * mostly have their folders in the same order, and a container can have 1,000.
 */
static bool
is_given_folder(const struct vet *v, const struct edit_mount *m, size_t *next)
{
	const struct policy *p = v->policy;
	struct why wrong;
	size_t i, at;

	if (path_check(m->source, &wrong) == -1 || path_check(m->target, &wrong) == -1)
		return false;
	for (i = 0; i < p->folders; i++) {
		at = (*next + i) % p->folders;
		if (rule_gives(&p->folder[at], m)) {
			*next = at + 1;
			return v->host_view.folder(v->host_view.host, m->source);
		}
	}
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

/* True unless every rule leaves the mount out, whichever vendor's its GPUs are. */
static bool
rules_want(const struct policy *p, const struct cdi_edits *e, const struct cdi_mount *s)
{
	enum gpu_vendor vendor;
	size_t i;

	for (i = 0; i < p->gpus; i++)
		for (vendor = GPU_NVIDIA; vendor < GPU_VENDORS; vendor++)
			if ((gpu_rule_vendors(&p->gpu[i]) & (1U << vendor)) != 0 && !driver_mount_left_out(&p->gpu[i], vendor, e, s))
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

/* True for a bind mount whose options are all known: the helper refuses others (host/driver/driverfiles.c). */
static bool
is_plain_mount(const struct cdi_mount *m)
{
	size_t i;

	if (m->type != NULL && m->type[0] != '\0' && strcmp(m->type, "bind") != 0 && strcmp(m->type, "none") != 0)
		return false;
	for (i = 0; i < m->options.n; i++)
		if (!cdi_option_known(m->options.v[i]))
			return false;
	return true;
}

/* True if the spec's mount puts this file there, and with these options. */
static bool
spec_gives(const struct vet *v, const struct cdi_edits *e, const struct cdi_mount *s, const struct edit_mount *m)
{
	const bool mps = nvfile_is_mps(s->host_path), writable = strlist_has(&m->options, "rw");
	struct vet_file f;

	if (strcmp(s->container_path, m->target) != 0 || cdi_target_wrong(s) != NULL || !is_plain_mount(s) ||
	    !rules_want(v->policy, e, s) || !has_driver_options(m, writable, strlist_has(&s->options, "noexec")) ||
	    !v->host_view.file(v->host_view.host, s->host_path, &f) || strcmp(f.real, m->source) != 0)
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

	for (i = 0; i < 2 * v->sources; i++)
		for (e = vet_source_edits(v, i), k = 0; e != NULL && k < e->mounts; k++)
			if (spec_gives(v, e, &e->mount[k], m))
				return true;
	return false;
}

/* True if a program looks for the library «file» at this place (host/driver/drivernames.c). */
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

/* Since the usrmerge /lib is a link to /usr/lib. */
static bool
same_fs_path(const char *a, const char *b)
{
	a += text_starts(a, "/usr/lib") ? strlen("/usr") : 0;
	b += text_starts(b, "/usr/lib") ? strlen("/usr") : 0;
	return strcmp(a, b) == 0;
}

/* True if a hook of a spec would make a link to the file there. */
static bool
specs_link(const struct vet *v, const char *link, const char *file)
{
	char to[NVHOOK_PATH_MAX], at_link[NVHOOK_PATH_MAX];
	const struct cdi_edits *e;
	size_t i, k, at;

	for (i = 0; i < 2 * v->sources; i++)
		for (e = vet_source_edits(v, i), k = 0; e != NULL && k < e->hooks; k++)
			for (at = 0; nvhook_of(&e->hook[k]) == NVHOOK_LINKS && nvhook_link(&e->hook[k], &at, to, at_link);)
				if (strcmp(at_link, link) == 0 && same_fs_path(to, file))
					return true;
	return false;
}

#define LINKS_MAX 3		/* libnvcuvid.so leads to libnvcuvid.so.1, and that to the file */

/*
 * True for a file that a spec mounts there, or, after so many links, for another name of one. These links are those
 * that a hook of the spec would make, or names by which programs look for a library.
 */
static bool
is_given_file(const struct vet *v, const struct edit_mount *m, unsigned links)
{
	const struct edits *e = v->edits;
	const struct edit_mount *o;
	struct why wrong;
	size_t i;

	if (path_check(m->source, &wrong) == -1)
		return false;
	if (specs_give(v, m))
		return true;
	if (links == 0 || !has_driver_options(m, false, false) || path_check(m->target, &wrong) == -1 ||
	    path_is_beneath(m->target, "/dev"))
		return false;
	for (i = 0; i < e->mounts; i++) {
		o = &e->mount[i];
		if (o != m && o->driver && strcmp(o->source, m->source) == 0 && (names_library(path_last(o->target), m->target) ||
		    specs_link(v, m->target, o->target)) && is_given_file(v, o, links - 1))
			return true;
	}
	return false;
}

/* True if another mount is at this place, or, of a folder and a driver's file, one lies in the other. */
static bool
meets_another(const struct edits *e, size_t at)
{
	const struct edit_mount *m = &e->mount[at], *o;
	size_t i;

	for (i = 0; i < at; i++) {
		o = &e->mount[i];
		if (o->driver == m->driver ? o->sum == m->sum && strcmp(o->target, m->target) == 0 :
		    path_related(o->target, m->target))
			return true;
	}
	return false;
}

int
vet_mounts(const struct vet *v, struct why *why)
{
	const struct edit_mount *m;
	size_t i, next = 0;

	for (i = 0; i < v->edits->mounts; i++) {
		m = &v->edits->mount[i];
		if (meets_another(v->edits, i))
			return vet_refuse("mount in another one", m->target, why);
		if (!m->driver && !is_given_folder(v, m, &next))
			return vet_refuse("folder", m->source, why);
		if (m->driver && !(vet_gives_driver_files(v) && is_given_file(v, m, LINKS_MAX)))
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
	    v->host_view.file(v->host_view.host, s->path, &f) && f.program && f.roots && strcmp(f.real, h->path) == 0;
}

/* In how many places the specs have the hook. */
static size_t
count_hook(const struct vet *v, const struct edit_hook *h)
{
	const struct cdi_edits *e;
	size_t i, k, n = 0;

	for (i = 0; i < 2 * v->sources; i++)
		for (e = vet_source_edits(v, i), k = 0; e != NULL && v->source[i / 2].safe_hooks && k < e->hooks; k++)
			n += is_hook(v, &e->hook[k], h);
	return n;
}

static bool
same_hook(const struct edit_hook *a, const struct edit_hook *b)
{
	return strcmp(a->when, b->when) == 0 && strcmp(a->path, b->path) == 0 && same_lists(&a->args, &b->args) &&
	    same_lists(&a->env, &b->env) && a->timeout == b->timeout;
}

/* True if the specs have the hook at least as often as it is among the first «at» and here. */
static bool
is_given_hook(const struct vet *v, size_t at)
{
	const struct edit_hook *h = v->edits->hook;
	size_t i, n = 1;

	for (i = 0; i < at; i++)
		n += same_hook(&h[i], &h[at]);
	return n <= count_hook(v, &h[at]);
}

int
vet_hooks(const struct vet *v, struct why *why)
{
	size_t i;

	for (i = 0; i < v->edits->hooks; i++)
		if (!v->settings->cdi_hooks || !vet_gives_driver_files(v) || !is_given_hook(v, i))
			return vet_refuse("hook", v->edits->hook[i].path, why);
	return 0;
}
