/* See identity.h.  Reads key files of root's; believes a token for its signature and nothing else. */
#include "identity.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../pure/cleanup.h"
#include "../pure/path.h"
#include "../pure/strictjson.h"
#include "file.h"
#include "trust.h"

/* 1: there are none. */
static int
read_keys(const struct issuer_setting *s, int dir, bool strict, struct jwks **keys, struct why *why)
{
	autofree char *text = NULL;
	enum trust_found found;
	struct stat st;
	size_t len;

	found = trust_find_text(dir, path_last(s->keys), s->keys, JWKS_MAX, strict, &text, &len, why);
	if (found == TRUST_ABSENT)
		return 1;
	if (found != TRUST_FOUND)
		return -1;
	if (fstatat(dir, path_last(s->keys), &st, AT_SYMLINK_NOFOLLOW) == -1)
		return refuse(why, WHY_IO, "%s: %s", s->keys, strerror(errno));
	if (jwks_parse(text, len, st.st_mtim.tv_sec, keys, why) == -1)
		return refuse_within(why, s->keys);
	return 0;
}

int
issuer_keys_load(const struct issuer_setting *s, bool strict, struct jwks **keys, struct why *why)
{
	autofree char *dir = strndup(s->keys, (size_t)(path_last(s->keys) - s->keys));
	autoclose int fd = -1;
	enum trust_found found;
	int ret;

	*keys = NULL;
	if (dir == NULL)
		return refuse_nomem(why);
	if (strlen(dir) > 1)
		dir[strlen(dir) - 1] = '\0';
	if ((found = trust_find_dir(dir, strict, &fd, why)) == TRUST_FOUND)
		ret = read_keys(s, fd, strict, keys, why);
	else
		ret = found == TRUST_ABSENT ? 1 : -1;
	return ret != 1 ? ret : refuse(why, WHY_CONFIG, "there are no keys of issuer %s in %s yet: gpuhelperctl keys fetch",
	    s->url, s->keys);
}

static const struct issuer_setting *
find_issuer(const struct settings *settings, const char *iss)
{
	size_t i;

	for (i = 0; i < settings->issuers; i++)
		if (strcmp(settings->issuer[i].url, iss) == 0)
			return &settings->issuer[i];
	return NULL;
}

int
identity_of_token(const char *token, const struct settings *settings, int64_t now, bool strict, struct known *out,
    struct token_check_log *log, struct why *why)
{
	autofree char *iss = NULL;
	autojwks struct jwks *keys = NULL;
	struct issuer issuer;

	*out = (struct known){ .id = { .kind = IDENTITY_TOKEN } };
	token_hash(token, out->token_hash);
	if (settings->issuers == 0)
		return refuse(why, WHY_CONFIG, "GPUHELPER_TOKEN: gpuhelper.conf names no issuers whose tokens to take");
	if (token_issuer_unverified(token, &iss, why) == -1)
		return refuse_within(why, "GPUHELPER_TOKEN");
	if ((out->issuer = find_issuer(settings, iss)) == NULL)
		return refuse(why, WHY_DENIED, "GPUHELPER_TOKEN: its issuer %.120s is none of gpuhelper.conf's", iss);
	if (issuer_keys_load(out->issuer, strict, &keys, why) == -1)
		return -1;
	issuer = (struct issuer){ .url = out->issuer->url, .audience = out->issuer->audience,
		.max_age = out->issuer->max_age, .keys_max_age = out->issuer->keys_max_age };
	if (token_verify(token, &issuer, keys, now, &out->claims, log, why) == -1)
		return refuse_within(why, "GPUHELPER_TOKEN");
	out->id = (struct identity){ .kind = IDENTITY_TOKEN, .team = out->claims.team, .pipeline = out->claims.pipeline,
		.job = out->claims.job, .instance_vars = out->claims.instance_vars, .issuer = out->issuer->url };
	return 0;
}

int
identity_of_claims(const struct request *r, struct known *out, struct why *why)
{
	*out = (struct known){ .id = { .kind = IDENTITY_CALLER } };
	if (r->team == NULL || r->pipeline == NULL)
		return 0;
	if (r->instance_vars != NULL &&
	    (out->vars = strictjson_object(r->instance_vars, strlen(r->instance_vars), why)) == NULL)
		return refuse_within(why, "BUILD_PIPELINE_INSTANCE_VARS");
	out->id = (struct identity){ .kind = IDENTITY_CLAIM, .team = r->team, .pipeline = r->pipeline, .job = r->job,
		.instance_vars = out->vars };
	return 0;
}

char *
identity_pack(const struct identity *id)
{
	autofree char *vars = NULL;

	if (id->instance_vars != NULL && ((vars = json_dumps(id->instance_vars, JSON_COMPACT)) == NULL ||
	    strlen(vars) > IDENTITY_VARS_MAX))
		return NULL;
	strictjson_watch();
	return strictjson_text(json_pack("{s:s, s:s*, s:s*, s:s*, s:s*, s:s*}", "kind", identity_name(id->kind),
	    "team", id->team, "pipeline", id->pipeline, "job", id->job, "issuer", id->issuer, "instance_vars", vars));
}

bool
identity_unpack(const char *text, struct known *out)
{
	struct why ignored;
	json_t *j = strictjson_object(text, strlen(text), &ignored);
	const char *kind = json_string_value(json_object_get(j, "kind"));
	const char *vars = json_string_value(json_object_get(j, "instance_vars"));
	unsigned k;

	*out = (struct known){ .remembered = j };
	if (vars != NULL && (out->vars = strictjson_object(vars, strlen(vars), &ignored)) == NULL) {
		known_free(out);
		return false;
	}
	out->id = (struct identity){ .team = json_string_value(json_object_get(j, "team")),
		.pipeline = json_string_value(json_object_get(j, "pipeline")),
		.job = json_string_value(json_object_get(j, "job")), .issuer = json_string_value(json_object_get(j, "issuer")),
		.instance_vars = out->vars };
	for (k = 0; kind != NULL && k < IDENTITY_KINDS; k++)
		if (strcmp(identity_name((enum identity_kind)k), kind) == 0) {
			out->id.kind = (enum identity_kind)k;
			return true;
		}
	known_free(out);
	return false;
}

void
known_free(struct known *k)
{
	token_claims_free(&k->claims);
	json_decref(k->vars);
	json_decref(k->remembered);
	*k = (struct known){ 0 };
}
