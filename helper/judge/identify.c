/* See identify.h.  Believes a token for its signature and nothing else. */
#include "identify.h"

#include <stdlib.h>
#include <string.h>

#include "../host/issuerkeys.h"
#include "../pure/cleanup.h"
#include "../pure/strictjson.h"
#include "../pure/varsjson.h"

static int
parse_keys(const struct issuer_setting *s, const struct found_keys *found, struct jwks **keys, struct why *why)
{
	*keys = NULL;
	if (found->text == NULL) {
		*why = found->why;
		return -1;
	}
	if (jwks_parse(found->text, strlen(found->text), found->fetched, keys, why) == -1)
		return refuse_within(why, s->keys);
	return 0;
}

int
issuer_keys_load(const struct issuer_setting *s, bool strict, struct jwks **keys, struct why *why)
{
	struct found_keys found;
	int ret;

	(void)issuer_keys_find(s, strict, &found);
	ret = parse_keys(s, &found, keys, why);
	free(found.text);
	return ret;
}

static int
find_issuer(const struct judge_ask *a, const char *iss, uint32_t *index, struct why *why)
{
	for (*index = 0; *index < a->issuers; (*index)++)
		if (strcmp(a->issuer[*index].url, iss) == 0)
			return 0;
	return refuse(why, WHY_DENIED, "GPUHELPER_TOKEN: its issuer %.120s is none of gpuhelper.conf's", iss);
}

int
token_identify(const struct judge_ask *a, uint32_t *issuer, struct token_claims *out, struct token_check_log *log,
    struct why *why)
{
	autofree char *iss = NULL;
	autojwks struct jwks *keys = NULL;
	const struct issuer_setting *s;
	struct issuer with;

	*out = (struct token_claims){ 0 };
	if (a->issuers == 0)
		return refuse(why, WHY_CONFIG, "GPUHELPER_TOKEN: gpuhelper.conf names no issuers whose tokens to take");
	if (token_issuer_unverified(a->text, &iss, why) == -1)
		return refuse_within(why, "GPUHELPER_TOKEN");
	if (find_issuer(a, iss, issuer, why) == -1 ||
	    parse_keys(s = &a->issuer[*issuer], &a->keys[*issuer], &keys, why) == -1)
		return -1;
	with = (struct issuer){ s->url, s->audience, s->max_age, s->keys_max_age };
	return token_verify(a->text, &with, keys, a->now, out, log, why) == 0 ? 0 : refuse_within(why, "GPUHELPER_TOKEN");
}

int
vars_parse(const char *text, struct instance_vars *out, struct why *why)
{
	json_t *vars = strictjson_object(text, strlen(text), why);
	const bool good = vars != NULL && (instance_vars_of(vars, out) || refuse_nomem(why) == 0);

	json_decref(vars);
	return good ? 0 : refuse_within(why, "BUILD_PIPELINE_INSTANCE_VARS");
}
