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
#include "../pure/varsjson.h"
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

static const struct instance_vars *
given(const struct instance_vars *v)
{
	return v->there ? v : NULL;
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
		.job = out->claims.job, .instance_vars = given(&out->claims.instance_vars),
		.issuer = out->issuer->url };
	return 0;
}

int
identity_of_claims(const struct request *r, struct known *out, struct why *why)
{
	json_t *vars;
	bool good;

	*out = (struct known){ .id = { .kind = IDENTITY_CALLER } };
	if (r->team == NULL || r->pipeline == NULL)
		return 0;
	if (r->instance_vars != NULL) {
		vars = strictjson_object(r->instance_vars, strlen(r->instance_vars), why);
		good = vars != NULL && (instance_vars_of(vars, &out->vars) || refuse_nomem(why) == 0);
		json_decref(vars);
		if (!good)
			return refuse_within(why, "BUILD_PIPELINE_INSTANCE_VARS");
	}
	out->id = (struct identity){ .kind = IDENTITY_CLAIM, .team = r->team, .pipeline = r->pipeline, .job = r->job,
		.instance_vars = given(&out->vars) };
	return 0;
}

/* As lines (lines.h); writing, nothing is changed. */
static void
identity_lines(struct lines *s, enum identity_kind *kind, char *text[IDENTITY_TEXTS], struct instance_vars *vars)
{
	const char *names[IDENTITY_KINDS];
	unsigned i;

	for (i = 0; i < IDENTITY_KINDS; i++)
		names[i] = identity_name((enum identity_kind)i);
	lines_begin(s, "identity");
	*kind = (enum identity_kind)word_name(s, names, IDENTITY_KINDS, (unsigned)*kind);
	for (i = 0; i < IDENTITY_TEXTS; i++) {
		bool there = text[i] != NULL;

		word_bool(s, &there);
		if (there)
			word_copy(s, &text[i]);
	}
	instance_vars_lines(s, vars);
}

static size_t
length(const struct instance_vars *v)
{
	size_t i, n = 0;

	for (i = 0; i < v->name.n; i++)
		n += strlen(v->name.v[i]) + strlen(v->value.v[i]);
	return n;
}

char *
identity_pack(const struct identity *id)
{
	const char *text[IDENTITY_TEXTS] = { id->team, id->pipeline, id->job, id->issuer };
	struct instance_vars vars = id->instance_vars != NULL ? *id->instance_vars : (struct instance_vars){ .there = false };
	enum identity_kind kind = id->kind;
	autobuf struct buf b = { 0 };
	struct lines s = { .out = &b };

	if (length(&vars) > IDENTITY_VARS_MAX)
		return NULL;
	identity_lines(&s, &kind, (char **)(uintptr_t)text, &vars);
	return lines_finish(&s) ? buf_take(&b) : NULL;
}

bool
identity_unpack(const char *text, struct known *out)
{
	struct lines s = { .at = text, .end = text + strlen(text) };
	struct identity *id = &out->id;

	*out = (struct known){ 0 };
	identity_lines(&s, &id->kind, out->remembered, &out->vars);
	if (!lines_finish(&s)) {
		known_free(out);
		return false;
	}
	id->team = out->remembered[0];
	id->pipeline = out->remembered[1];
	id->job = out->remembered[2];
	id->issuer = out->remembered[3];
	id->instance_vars = given(&out->vars);
	return true;
}

void
known_free(struct known *k)
{
	unsigned i;

	token_claims_free(&k->claims);
	instance_vars_free(&k->vars);
	for (i = 0; i < IDENTITY_TEXTS; i++)
		free(k->remembered[i]);
	*k = (struct known){ 0 };
}
