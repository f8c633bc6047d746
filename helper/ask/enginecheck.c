/* See engineask.h: the check of an answer. */
#include <string.h>

#include "../base/path.h"
#include "engineask.h"

static int
refuse_answer(const char *what, struct why *why)
{
	return refuse(why, WHY_BUG, "gpuhelper-engine reports %s that no CDI spec can give", what);
}

static bool
is_path(const char *path)
{
	struct why ignored;

	return path != NULL && path_check(path, &ignored) == 0;
}

static bool
is_mount(const struct edit_mount *m)
{
	static const char *const known[] = { "bind", "rprivate", "ro", "rw", "nosuid", "nodev", "noexec", NULL };
	size_t i;

	for (i = 0; i < m->options.n; i++)
		if (!text_among(m->options.v[i], known))
			return false;
	return is_path(m->source) && is_path(m->target) && strlist_has(&m->options, "bind") &&
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

	return h->when != NULL && text_among(h->when, known) && is_path(h->path) &&
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
		if (!is_path(masked->v[i]) || !path_is_beneath(masked->v[i], "/proc/driver/nvidia"))
			return false;
	return true;
}

int
engine_answer_check(const struct engine_answer *a, struct why *why)
{
	size_t i;

	for (i = 0; i < a->nodes; i++)
		if (!is_path(a->node[i].path) || !path_is_beneath(a->node[i].path, "/dev"))
			return refuse_answer("a node", why);
	for (i = 0; i < a->edits.mounts; i++)
		if (!is_mount(&a->edits.mount[i]))
			return refuse_answer("a mount", why);
	for (i = 0; i < a->edits.hooks; i++)
		if (!is_hook(&a->edits.hook[i]))
			return refuse_answer("a hook", why);
	if (!are_variables(&a->edits.env))
		return refuse_answer("a variable", why);
	if (!are_masked(&a->edits.masked) || !strlist_is_utf8(&a->edits.notes))
		return refuse_answer("a text", why);
	for (i = 0; i < a->specs.n; i++)
		if (!is_path(a->specs.v[i]))
			return refuse_answer("a spec", why);
	return 0;
}
