/* See specrequest.h. A task's author chose these values: the helper judges them. */
#include "specrequest.h"

#include <stdlib.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "exactkeys.h"
#include "speccapability.h"
#include "specpart.h"
#include "tokennames.h"

/*
 * The last value of a variable, which is the one that a process would see, and how often the variable is set.
 */
static const char *
last_env(const struct spec *s, const char *name, unsigned *times)
{
	const char *value = NULL, *v;
	size_t i;

	*times = 0;
	for (i = 0; i < s->env_text.n; i++)
		if ((v = env_value(s->env_text.v[i], name)) != NULL) {
			value = v;
			(*times)++;
		}
	return value;
}

/*
 * Gets one of GPUHELPER_*, from the environment or from the annotation of that name. It must be set only
 * once.
 */
static int
get_asked(const struct spec *s, const char *name, char **out, struct why *why)
{
	autofree char *note = NULL;
	unsigned times;
	const char *v = last_env(s, name, &times);

	if (spec_string(&s->doc, s->annotations, name, name, &note, why) == -1)
		return -1;
	if (times + (note != NULL) > 1)
		return spec_refuse(why, "%s is given %u times: give it once", name, times + (note != NULL));
	if (v == NULL)
		v = note;
	if (v == NULL)
		return 0;
	if (*v == '\0')
		return spec_refuse(why, "%s is empty: remove it, or give a value", name);
	return (*out = strdup(v)) != NULL ? 0 : refuse_nomem(why);
}

static int
get_claim(const struct spec *s, const char *name, char **out, struct why *why)
{
	unsigned times;
	const char *v = last_env(s, name, &times);

	if (v == NULL || *v == '\0')
		return 0;
	return (*out = strdup(v)) != NULL ? 0 : refuse_nomem(why);
}

static int
get_id(const struct doc *d, uint32_t obj, const char *key, uint32_t *out, struct why *why)
{
	uint32_t n = doc_get(d, obj, key);
	int64_t v;

	*out = 0;
	if (n == DOC_NONE)
		return 0;
	if (!doc_i64(d, n, &v) || v < 0 || v >= UINT32_MAX)
		return spec_refuse(why, "%s is not an id", key);
	*out = (uint32_t)v;
	return 0;
}

/*
 * Reads linux.uidMappings or gidMappings. A user namespace without mappings here (joined, or made by the
 * caller) stays unmapped.
 */
static int
read_idmap(const struct spec *s, const char *key, struct idmap *m, struct why *why)
{
	const struct doc *d = &s->doc;
	uint32_t list, n;

	m->identity = !s->user_namespace;
	if (spec_part(d, s->linux, key, DOC_ARRAY, key, &list, why) == -1)
		return -1;
	for (n = doc_first(d, list); n != DOC_NONE; n = doc_next(d, n)) {
		int64_t size;

		if (exact_keys(d, n, "config.json", why) == -1)
			return -1;
		if (m->n == IDMAP_MAX)
			return spec_refuse(why, "linux.%s has more than %d entries", key, IDMAP_MAX);
		if (get_id(d, n, "containerID", &m->v[m->n].inside, why) == -1 ||
		    get_id(d, n, "hostID", &m->v[m->n].outside, why) == -1)
			return -1;
		if (!doc_i64(d, doc_get(d, n, "size"), &size) || size < 0 || size > UINT32_MAX)
			return spec_refuse(why, "linux.%s: a size is not a number of ids", key);
		m->v[m->n++].size = size == UINT32_MAX ? UINT32_MAX - 1 : (uint32_t)size;
	}
	if (m->n > 0)
		m->identity = false;
	return 0;
}

static int
read_process_user(const struct spec *s, struct request *r, struct why *why)
{
	const struct doc *d = &s->doc;
	uint32_t n;
	int64_t gid;

	if (get_id(d, s->user, "uid", &r->spec.uid, why) == -1 || get_id(d, s->user, "gid", &r->spec.gid, why) == -1)
		return -1;
	for (n = doc_first(d, s->gids); n != DOC_NONE && r->spec.gid_count < REQUEST_GIDS_MAX; n = doc_next(d, n)) {
		if (!doc_i64(d, n, &gid) || gid < 0 || gid >= UINT32_MAX)
			return spec_refuse(why, "process.user.additionalGids has an entry that is not an id");
		r->spec.gid_list[r->spec.gid_count++] = (uint32_t)gid;
	}
	r->spec.dac_override = r->spec.uid == 0 && capabilities_have(d, s->process, "CAP_DAC_OVERRIDE");
	return 0;
}

bool
spec_may_ask(const char *text, size_t len)
{
	static const char *const names[] = { "GPUHELPER_GPUS", "GPUHELPER_FOLDERS", "GPUHELPER_TOKEN" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (memmem(text, len, names[i], strlen(names[i])) != NULL)
			return true;
	return false;
}

/* Gets the only token in these variables, if there is one. «in» is the variable of the token that was found before. */
static int
get_only_token(const struct spec *s, const struct strlist *names, const char *in, struct request *r, struct why *why)
{
	size_t i;

	for (i = 0; i < names->n; i++) {
		autofree char *text = NULL;

		if (get_asked(s, names->v[i], &text, why) == -1)
			return -1;
		if (text != NULL && r->untrusted.token != NULL)
			return spec_refuse(why, "there are tokens in %s and in %s: give one", in, names->v[i]);
		if (text == NULL)
			continue;
		in = names->v[i];
		r->untrusted.token = text;
		text = NULL;
	}
	return 0;
}

/*
 * Gets the token. One in a variable of the CI's own counts only if the container also asks for GPUs or folders, and
 * brings no token for gpuhelper. A container that asks for something loses them all.
 */
static int
get_token(struct spec *s, const struct settings *settings, struct request *r, struct why *why)
{
	autostrlist struct strlist ours = { 0 };
	bool asks;

	if (!token_names(settings, false, &ours))
		return refuse_nomem(why);
	if (get_asked(s, "GPUHELPER_TOKEN", &r->untrusted.token, why) == -1 ||
	    get_only_token(s, &ours, "GPUHELPER_TOKEN", r, why) == -1)
		return -1;
	asks = r->untrusted.token != NULL || r->untrusted.gpus != NULL || r->untrusted.folders != NULL;
	if (!token_names(settings, asks, &s->tokens))
		return refuse_nomem(why);
	return r->untrusted.token != NULL || !asks ? 0 : get_only_token(s, &s->tokens, "", r, why);
}

int
spec_request(struct spec *s, const struct settings *settings, struct request *r, bool *asks, struct why *why)
{
	if (get_asked(s, "GPUHELPER_GPUS", &r->untrusted.gpus, why) == -1 ||
	    get_asked(s, "GPUHELPER_FOLDERS", &r->untrusted.folders, why) == -1 ||
	    get_token(s, settings, r, why) == -1 ||
	    get_claim(s, "BUILD_TEAM_NAME", &r->untrusted.team, why) == -1 ||
	    get_claim(s, "BUILD_PIPELINE_NAME", &r->untrusted.pipeline, why) == -1 ||
	    get_claim(s, "BUILD_JOB_NAME", &r->untrusted.job, why) == -1 ||
	    get_claim(s, "BUILD_PIPELINE_INSTANCE_VARS", &r->untrusted.instance_vars, why) == -1)
		return -1;
	*asks = r->untrusted.token != NULL || r->untrusted.gpus != NULL || r->untrusted.folders != NULL;
	if (*asks && s->major != 1)
		return spec_refuse(why, "ociVersion is not 1.x, and the container asks for GPUs or folders: gpuhelper can't "
		    "read such a config.json");
	if (read_idmap(s, "uidMappings", &r->spec.uids, why) == -1 || read_idmap(s, "gidMappings", &r->spec.gids, why) == -1 ||
	    read_process_user(s, r, why) == -1)
		return -1;
	if ((s->label != NULL && (r->spec.label = strdup(s->label)) == NULL) ||
	    (s->mount_label != NULL && (r->spec.mount_label = strdup(s->mount_label)) == NULL))
		return refuse_nomem(why);
	return (r->spec.cgroups_path = strdup(s->cgroups_path)) != NULL ? 0 : refuse_nomem(why);
}
