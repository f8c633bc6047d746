/* See driveredits.h: reads what gpuhelper-engine wrote, which may be taken over. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "../base/path.h"
#include "../json/strictjson.h"
#include "../lease/editsdriver.h"
#include "../policy/grantedgpu.h"
#include "driveredits.h"
#include "unpack.h"

/* Form. */

static int
unpack_hook(const json_t *j, struct edits *e)
{
	const char *when = json_string_value(json_object_get(j, "hookName"));
	const char *path = json_string_value(json_object_get(j, "path"));
	struct edit_hook *h;

	if (when == NULL || path == NULL || (h = edits_add_hook(e)) == NULL || (h->when = strdup(when)) == NULL ||
	    (h->path = strdup(path)) == NULL || unpack_number(j, "timeout", &h->timeout) == -1)
		return -1;
	return unpack_strings(json_object_get(j, "args"), &h->args) == -1 ? -1 :
	    unpack_strings(json_object_get(j, "env"), &h->env);
}

/* Gets the notes, which may be missing. gpuhelper-engine bounds them, so a longer list or note is none of its. */
static int
unpack_notes(const json_t *j, struct edits *e)
{
	const json_t *note;
	size_t i;

	if (j != NULL && (!json_is_array(j) || json_array_size(j) > NOTES_MAX))
		return -1;
	json_array_foreach(j, i, note)
		if (json_string_length(note) == 0 || json_string_length(note) >= NOTE_MAX ||
		    !edits_add_note(e, "%s", json_string_value(note)))
			return -1;
	return 0;
}

static int
unpack_files(const json_t *j, struct edits *e)
{
	const json_t *item, *mounts = json_object_get(j, "mounts"), *hooks = json_object_get(j, "hooks");
	size_t i;

	if (!json_is_array(mounts) || !json_is_array(hooks))
		return -1;
	json_array_foreach(mounts, i, item) {
		if (unpack_mount(item, e) == -1 || e->mount[i].fs_path != NULL)
			return -1;
		e->mount[i].driver = true;
	}
	json_array_foreach(hooks, i, item)
		if (unpack_hook(item, e) == -1)
			return -1;
	return unpack_strings(json_object_get(j, "maskedPaths"), &e->masked);
}

static int
unpack_process(const json_t *j, struct edits *e)
{
	return unpack_strings(json_object_get(j, "env"), &e->env) == -1 ? -1 : unpack_notes(json_object_get(j, "notes"), e);
}

static int
unpack_part(const char *text, int (*unpack)(const json_t *j, struct edits *e), struct edits *out, struct why *why)
{
	json_t *j = strictjson_object(text, strlen(text), why);
	int ret;

	if (j == NULL)
		return refuse_within(why, "gpuhelper-engine's edits");
	ret = unpack(j, out) == 0 ? 0 : refuse(why, WHY_BUG, "gpuhelper-engine's edits are malformed");
	json_decref(j);
	return ret;
}

/* Values. */

static int
refuse_edits(const char *what, struct why *why)
{
	return refuse(why, WHY_BUG, "gpuhelper-engine reports %s that no CDI spec can give", what);
}

static bool
is_mount(const struct edit_mount *m)
{
	static const char *const known[] = { "bind", "rprivate", "ro", "rw", "nosuid", "nodev", "noexec", NULL };
	size_t i;

	for (i = 0; i < m->options.n; i++)
		if (!text_among(m->options.v[i], known))
			return false;
	return path_is_clean(m->source) && path_is_clean(m->target) && strlist_has(&m->options, "bind") &&
	    strlist_has(&m->options, "nosuid") && strlist_has(&m->options, "nodev") &&
	    !path_at_or_beneath(m->target, "/proc") && !path_at_or_beneath(m->target, "/sys") &&
	    !path_at_or_beneath(m->target, "/dev") && m->target[1] != '\0';
}

static bool
is_hook(const struct edit_hook *h)
{
	/* OCI runtime specification 1.2, «POSIX-platform Hooks» */
	static const char *const known[] = { "prestart", "createRuntime", "createContainer", "startContainer", "poststart",
		"poststop", NULL };

	return h->when != NULL && text_among(h->when, known) && path_is_clean(h->path) &&
	    strlist_is_utf8(&h->args) && strlist_is_utf8(&h->env);
}

static bool
are_variables(const struct strlist *env)
{
	size_t i;

	for (i = 0; i < env->n; i++)
		if (strchr(env->v[i], '=') == NULL || env->v[i][0] == '=' || text_starts(env->v[i], "GPUHELPER_"))
			return false;
	return strlist_is_utf8(env);
}

static bool
are_masked(const struct strlist *masked)
{
	size_t i;

	for (i = 0; i < masked->n; i++)
		if (!path_is_clean(masked->v[i]) || !path_is_beneath(masked->v[i], "/proc/driver/nvidia"))
			return false;
	return true;
}

/* More than any spec may have: some checks compare each with each. */
static bool
are_too_many(const struct edits *e)
{
	size_t i;

	for (i = 0; i < e->hooks; i++)
		if (e->hook[i].args.n > DRIVER_WORDS_MAX || e->hook[i].env.n > DRIVER_WORDS_MAX)
			return true;
	return e->mounts > DRIVER_MOUNTS_MAX || e->hooks > DRIVER_HOOKS_MAX || e->env.n > DRIVER_WORDS_MAX ||
	    e->masked.n > DRIVER_MASKED_MAX;
}

static int
check_values(const struct edits *e, struct why *why)
{
	size_t i;

	if (are_too_many(e))
		return refuse_edits("more", why);
	for (i = 0; i < e->mounts; i++)
		if (!is_mount(&e->mount[i]))
			return refuse_edits("a mount", why);
	for (i = 0; i < e->hooks; i++)
		if (!is_hook(&e->hook[i]))
			return refuse_edits("a hook", why);
	if (!are_variables(&e->env))
		return refuse_edits("a variable", why);
	return are_masked(&e->masked) ? 0 : refuse_edits("a text", why);
}

int
driver_edits_decode(const char *files, const char *process, struct edits *out, struct why *why)
{
	*out = (struct edits){ 0 };
	return (files != NULL && unpack_part(files, unpack_files, out, why) == -1) ||
	    unpack_part(process, unpack_process, out, why) == -1 ? -1 : check_values(out, why);
}
