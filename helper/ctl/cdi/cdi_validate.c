/*
 * gpuhelperctl cdi: validates CDI specs, and applies them to a config.json.  Runs with its caller's rights.  Mounts,
 * opens and runs nothing that a spec names, and asks no policy.
 */
#include "cdi_validate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "../../base/path.h"
#include "../../host/file.h"
#include "../../host/trust.h"
#include "../../read/cdi/cdispec.h"
#include "../../read/parse.h"
#include "cdigroups.h"
#include "cdihost.h"

const char *const cdi_live_dirs[] = { "/etc/cdi", "/run/cdi", NULL };

#define CONFIG_MAX (16 * 1024 * 1024)

/* validate */

struct validating {
	const struct options *o;
	json_t *findings;
	size_t faults;
	bool hooks;			/* gpuhelper runs hooks here */
	struct cdi_group *group;	/* groups of this host that no container should have */
	size_t groups;
};

/* Hooks that do not run make no spec unsafe. */
static void
excuse_hooks(const struct validating *v, struct cdi_faults *f)
{
	if (v->hooks || f->unsafe_hooks == 0)
		return;
	cdi_faults_excuse_hooks(f);
	if (f->invalid + f->unsafe == 0)
		cdi_fault(f, CDI_WARNING, 0, 0, "", "a hook of it is unsafe, but gpuhelper runs none here (gpuhelper.conf does not "
		    "say cdi_hooks = \"allow\"): an engine that runs hooks should not use the spec");
}

static void
put_faults(struct validating *v, const char *file, struct cdi_faults *f)
{
	size_t i;

	excuse_hooks(v, f);
	v->faults += f->invalid + f->unsafe;
	cdi_faults_sort(f);
	for (i = 0; i < f->n; i++) {
		if (!v->o->json) {
			cdi_say_fault(stdout, file, &f->v[i]);
			continue;
		}
		json_array_append_new(v->findings, cdi_fault_json(file, &f->v[i]));
	}
	if (!v->o->json && f->invalid + f->unsafe + f->warnings > f->n)
		say("%s: and %zu more", file, f->invalid + f->unsafe + f->warnings - f->n);
}

/* The directory that engines load specs from and this file is in; NULL if it is in none.  The caller frees. */
static char *
live_dir(const char *file)
{
	const char *slash = strrchr(file, '/');
	autofree char *parent = slash == NULL ? strdup(".") : strndup(file, (size_t)(slash - file) + (slash == file));
	autofree char *real = parent != NULL ? realpath(parent, NULL) : NULL;
	size_t i;

	for (i = 0; real != NULL && cdi_live_dirs[i] != NULL; i++) {
		autofree char *dir = realpath(cdi_live_dirs[i], NULL);

		if (dir != NULL && strcmp(dir, real) == 0)
			return strdup(cdi_live_dirs[i]);
	}
	return NULL;
}

/* Only root may be able to write to a spec that engines load. */
static void
check_spec_trust(const char *dir, const char *file, struct cdi_faults *f)
{
	const char *slash = strrchr(file, '/'), *name = slash != NULL ? slash + 1 : file;
	autofree char *text = NULL;
	autoclose int fd = -1;
	struct why why;
	size_t len;

	if ((fd = trust_open_dir(dir, true, &why)) == -1 ||
	    (text = trust_read(fd, name, name, CDI_TEXT_MAX, true, &len, &why)) == NULL)
		cdi_fault(f, CDI_UNSAFE, 0, 0, "", "%s", why.text);
}

static enum cdi_format
format_of(const char *file, const char *text)
{
	enum cdi_format format;

	if (cdi_format_of(file, &format))
		return format;
	return text[strspn(text, " \t\r\n")] == '{' ? CDI_JSON : CDI_YAML;
}

static int
validate_file(struct validating *v, const char *file, struct why *why)
{
	const bool input = strcmp(file, "-") == 0;
	autocdifaults struct cdi_faults f = { 0 };
	autofree char *text = NULL, *live = NULL;
	autocdi struct cdi_spec s = { 0 };
	const char *reason;
	size_t len;

	live = !input ? live_dir(file) : NULL;
	if ((text = ctl_read_input(file, CDI_TEXT_MAX, &len, why)) == NULL) {
		reason = strstr(why->text, ": ");
		cdi_fault(&f, CDI_INVALID, 0, 0, "", "%s", reason != NULL ? reason + 2 : why->text);
	} else if (cdi_parse(&s, format_of(file, text), text, len, &f)) {
		cdi_check_groups(&s, v->group, v->groups, &f);
		if (v->o->host || live != NULL) {
			cdi_check_host(&s, &f);
			cdi_check_libraries(&s, &f);
		}
		cdi_warn(&s, &f);
	}
	if (live != NULL)
		check_spec_trust(live, file, &f);
	if (f.starved)
		return refuse_nomem(why);
	put_faults(v, input ? "standard input" : file, &f);
	return 0;
}

int
ctl_cdi_validate(const struct options *o)
{
	struct validating v = { .o = o, .hooks = cdi_hooks_run(o) };
	struct why why;
	size_t i;
	int ret;

	if (cdi_groups_of_host(&v.group, &v.groups, &why) == -1)
		return give_up(o, &why);
	v.findings = json_array();
	for (i = 0, ret = 0; ret == 0 && i < o->args; i++)
		ret = validate_file(&v, o->arg[i], &why);
	free(v.group);
	if (ret == -1) {
		json_decref(v.findings);
		return give_up(o, &why);
	}
	if (o->json)
		put_out(json_pack("{s:b, s:o}", "ok", v.faults == 0, "findings", v.findings));
	else
		json_decref(v.findings);
	return v.faults == 0 ? 0 : WHY_DATA;
}

/* inject */

/* once: skip edits that *m has already, as a spec's common edits apply only once. */
static bool
add_edits(struct cdi_merged *m, const struct cdi_edits *e, bool once)
{
	const struct cdi_edits **v;
	size_t i;

	for (i = 0; once && i < m->n; i++)
		if (m->v[i] == e)
			return true;
	if ((v = reallocarray(m->v, m->n + 1, sizeof(*v))) == NULL)
		return false;
	m->v = v;
	m->v[m->n++] = e;
	return true;
}

static int
merge(const struct options *o, const struct cdi_registry *r, struct cdi_merged *m, struct why *why)
{
	autobuf struct buf unknown = { 0 };
	const struct cdi_entry *e;
	size_t i;

	for (i = 0; i < o->devices; i++) {
		if ((e = cdi_registry_find(r, o->device[i])) == NULL)
			buf_printf(&unknown, "%s%.100s%s", unknown.len > 0 ? ", " : "", o->device[i],
			    cdi_name_is_qualified(o->device[i]) ? "" : " (not vendor/class=name)");
		else if (!add_edits(m, &e->file->spec.edits, true) || !add_edits(m, &e->device->edits, false))
			return refuse_nomem(why);
	}
	if (unknown.failed)
		return refuse_nomem(why);
	return unknown.len == 0 ? 0 : refuse(why, WHY_ABSENT, "no such CDI devices: %s", unknown.p);
}

int
ctl_cdi_inject(const struct options *o)
{
	autocdiregistry struct cdi_registry r = { 0 };
	autofree char *config = NULL, *out = NULL, *dirs = NULL;
	struct cdi_merged m = { 0 };
	struct why why;
	size_t len;

	if ((config = ctl_read_input(o->arg[0], CONFIG_MAX, &len, &why)) == NULL ||
	    (dirs = cdi_spec_dirs(o->spec_dirs != NULL ? o->spec_dirs : CDI_DIRS, &why)) == NULL ||
	    cdi_registry_load(dirs, false, specs_parse, &r, &why) == -1)
		return give_up(o, &why);
	cdi_say_problems(&r, false);
	if (merge(o, &r, &m, &why) == 0 && cdi_fill_nodes(&m, &why) == 0)
		out = cdi_apply(config, len, &m, &len, &why);
	free(m.v);
	free(m.node);
	if (out == NULL)
		return give_up(o, &why);
	fwrite(out, 1, len, stdout);
	putchar('\n');
	return 0;
}
