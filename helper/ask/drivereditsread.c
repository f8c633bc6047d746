/* See driveredits.h: reads what gpuhelper-engine wrote, which may be taken over. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/path.h"
#include "../json/doc.h"
#include "../lease/editsdriver.h"
#include "../policy/grantedgpu.h"
#include "driveredits.h"

/* Form. */

/* Adds one thing. Memory may be short, too. */
typedef int unpack_one(const struct doc *d, uint32_t n, void *to);

static int
unpack_list(const struct doc *d, uint32_t list, unpack_one *unpack, void *to)
{
	uint32_t n;

	if (!doc_is(d, list, DOC_ARRAY))
		return -1;
	for (n = doc_first(d, list); n != DOC_NONE; n = doc_next(d, n))
		if (unpack(d, n, to) == -1)
			return -1;
	return 0;
}

static int
unpack_string(const struct doc *d, uint32_t n, void *to)
{
	autofree char *s = doc_string(d, n);

	return s != NULL && strlist_add(to, s, SIZE_MAX) ? 0 : -1;
}

static int
unpack_strings(const struct doc *d, uint32_t object, const char *key, struct strlist *to)
{
	return unpack_list(d, doc_get(d, object, key), unpack_string, to);
}

static int
unpack_mount(const struct doc *d, uint32_t n, void *to)
{
	static const char *const none[] = { NULL };
	autofree char *source = doc_string(d, doc_get(d, n, "hostPath"));
	autofree char *target = doc_string(d, doc_get(d, n, "containerPath"));
	struct edits *e = to;

	if (source == NULL || target == NULL || doc_get(d, n, "place") != DOC_NONE ||
	    !edits_add_mount(e, source, target, none))
		return -1;
	e->mount[e->mounts - 1].driver = true;
	return unpack_strings(d, n, "options", &e->mount[e->mounts - 1].options);
}

static int
unpack_hook(const struct doc *d, uint32_t n, void *to)
{
	struct edit_hook *h = edits_add_hook(to);
	int64_t timeout;

	if (h == NULL || (h->when = doc_string(d, doc_get(d, n, "hookName"))) == NULL ||
	    (h->path = doc_string(d, doc_get(d, n, "path"))) == NULL ||
	    !doc_i64(d, doc_get(d, n, "timeout"), &timeout) || timeout < 0 || timeout > (int64_t)UINT32_MAX)
		return -1;
	h->timeout = (uint32_t)timeout;
	return unpack_strings(d, n, "args", &h->args) == -1 ? -1 : unpack_strings(d, n, "env", &h->env);
}

/* gpuhelper-engine bounds the notes, so a longer list or note is none of its. */
static int
unpack_note(const struct doc *d, uint32_t n, void *to)
{
	autofree char *note = doc_string(d, n);
	struct edits *e = to;

	return note != NULL && *note != '\0' && strlen(note) < NOTE_MAX && e->notes.n < NOTES_MAX &&
	    edits_add_note(e, "%s", note) ? 0 : -1;
}

static int
unpack_files(const struct doc *d, struct edits *e)
{
	return unpack_list(d, doc_get(d, 0, "mounts"), unpack_mount, e) == -1 ||
	    unpack_list(d, doc_get(d, 0, "hooks"), unpack_hook, e) == -1 ||
	    unpack_strings(d, 0, "maskedPaths", &e->masked) == -1 ? -1 : 0;
}

static int
unpack_process(const struct doc *d, struct edits *e)
{
	const uint32_t notes = doc_get(d, 0, "notes");

	if (unpack_strings(d, 0, "env", &e->env) == -1)
		return -1;
	return notes == DOC_NONE ? 0 : unpack_list(d, notes, unpack_note, e);
}

static int
unpack_part(const char *text, int (*unpack)(const struct doc *d, struct edits *e), struct edits *out, struct why *why)
{
	autodoc struct doc d = { 0 };

	if (doc_parse(&d, text, strlen(text), why) == -1)
		return refuse_within(why, "gpuhelper-engine's edits");
	return unpack(&d, out) == 0 ? 0 : refuse(why, WHY_BUG, "gpuhelper-engine's edits are malformed");
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
