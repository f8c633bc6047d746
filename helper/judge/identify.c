/* See identify.h. Must trust a token only for its signature. */
#include "identify.h"

#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../host/own/issuerkeys.h"
#include "../json/strictjson.h"
#include "../policy/varsjson.h"

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
find_issuer(const struct judge_query *a, const char *iss, uint32_t *index, struct why *why)
{
	for (*index = 0; *index < a->issuers; (*index)++)
		if (strcmp(a->issuer[*index].url, iss) == 0)
			return 0;
	return refuse(why, WHY_DENIED, "GPUHELPER_TOKEN: its issuer %.120s is not one of gpuhelper.conf", iss);
}

/* The keys of each issuer, or the reason that they are missing. */
struct keyring {
	struct jwks *keys[ISSUERS_MAX];
	struct why lacks[ISSUERS_MAX];
};

static void
keyring_fill(struct keyring *ring, const struct judge_query *a)
{
	size_t i;

	for (i = 0; i < a->issuers; i++)
		if (parse_keys(&a->issuer[i], &a->keys[i], &ring->keys[i], &ring->lacks[i]) == 0)
			ring->lacks[i].code = WHY_NONE;
}

static void
keyring_free(struct keyring *ring)
{
	size_t i;

	for (i = 0; i < ISSUERS_MAX; i++)
		jwks_free(ring->keys[i]);
}

/*
 * Refuses a token that none of these keys has signed, without parsing it: a stranger may have written it. The
 * issuer that it names remains unknown.
 */
static int
need_signature(const struct judge_query *a, const struct keyring *ring, struct why *why)
{
	size_t i, most = 0, bytes;
	bool is_signed;

	/* the issuer is not known yet: token_verify() compares with its own limit */
	for (i = 0; i < a->issuers; i++)
		if ((bytes = token_bytes(&a->issuer[i].claims)) > most)
			most = bytes;
	if (token_signed(a->text, most, ring->keys, a->issuers, &is_signed, why) == -1)
		return refuse_within(why, "GPUHELPER_TOKEN");
	if (is_signed)
		return 0;
	for (i = 0; i < a->issuers && ring->lacks[i].code != WHY_NONE; i++)
		continue;
	if (i == a->issuers) {
		*why = ring->lacks[0];
		return -1;
	}
	return refuse(why, WHY_UNSIGNED, "GPUHELPER_TOKEN: no key of gpuhelper.conf's issuers has signed it: it was changed, "
	    "it is another issuer's, or the keys here are missing, outdated or unusable (gpuhelperctl keys show, keys fetch)");
}

static int
verify_by_issuer(const struct judge_query *a, const struct keyring *ring, uint32_t *issuer, struct token_claims *out,
    struct token_check_log *log, struct why *why)
{
	autofree char *iss = NULL;
	const struct issuer_setting *s;
	struct issuer with;

	if (token_issuer_unverified(a->text, &iss, why) == -1)
		return refuse_within(why, "GPUHELPER_TOKEN");
	if (find_issuer(a, iss, issuer, why) == -1)
		return -1;
	if (ring->keys[*issuer] == NULL) {
		*why = ring->lacks[*issuer];
		return -1;
	}
	s = &a->issuer[*issuer];
	with = (struct issuer){ s->url, s->audience, s->max_age, s->keys_max_age, &s->claims };
	return token_verify(a->text, &with, ring->keys[*issuer], a->now, out, log, why) == 0 ? 0 :
	    refuse_within(why, "GPUHELPER_TOKEN");
}

int
token_identify(const struct judge_query *a, uint32_t *issuer, struct token_claims *out, struct token_check_log *log,
    struct why *why)
{
	struct keyring ring = { .keys = { NULL } };
	int ret;

	*out = (struct token_claims){ 0 };
	if (a->issuers == 0)
		return refuse(why, WHY_CONFIG, "GPUHELPER_TOKEN: gpuhelper.conf lists no token issuers: add one to issuers");
	keyring_fill(&ring, a);
	/* explain has a log: its user reads a token of his own choice with his own rights */
	ret = log == NULL && need_signature(a, &ring, why) == -1 ? -1 : verify_by_issuer(a, &ring, issuer, out, log, why);
	keyring_free(&ring);
	return ret;
}

int
vars_parse(const char *text, struct instance_vars *out, struct why *why)
{
	json_t *vars = strictjson_object(text, strlen(text), why);
	const bool good = vars != NULL && (instance_vars_of(vars, out) || refuse_nomem(why) == 0);

	json_decref(vars);
	return good ? 0 : refuse_within(why, "BUILD_PIPELINE_INSTANCE_VARS");
}
