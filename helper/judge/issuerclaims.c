/*
 * See issuerclaims.h. The author of a pull request may have chosen the values, as far as the CI lets him. Must take no
 * claim apart but the one that names a pipeline with its groups.
 */
#include "issuerclaims.h"

#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/text.h"
#include "../policy/claimsetadd.h"
#include "claimvalue.h"

/* A claim that names a team or pipeline («what»). NULL with *why if it can't. */
static const char *
claim_name(const json_t *payload, const char *claim, const char *what, struct why *why)
{
	const char *s = json_string_value(json_object_get(payload, claim));

	if (s == NULL)
		refuse(why, WHY_DATA, "the token has no string \"%.80s\"", claim);
	/* a one-off build («fly execute») has no pipeline, and no pattern may match that by accident */
	else if (*s == '\0')
		refuse(why, WHY_DENIED, "the token's \"%.80s\" is empty: it names no %s", claim, what);
	else if (claim_value_has_control(s))
		refuse(why, WHY_DENIED, "the token's \"%.80s\" has a control character: no %s has such a name", claim, what);
	else
		return s;
	return NULL;
}

/* Takes a name as «GROUP/SUBGROUP/PROJECT» apart at its first slash. */
static int
split_name(const json_t *payload, const char *claim, struct claimed_names *out, struct why *why)
{
	const char *s = claim_name(payload, claim, "pipeline", why), *slash;
	char shown[72];

	if (s == NULL)
		return -1;
	slash = strchr(s, '/');
	if (slash != NULL && slash != s && strstr(s, "//") == NULL && s[strlen(s) - 1] != '/') {
		*out = (struct claimed_names){ s, slash + 1, (int)(slash - s), NULL };
		return 0;
	}
	text_printable(shown, sizeof(shown), s);
	return refuse(why, WHY_DENIED, "the token's \"%.80s\" is \"%s\", and should be names with a slash between them, as "
	    "GROUP/PROJECT", claim, shown);
}

int
claimed_team(const json_t *payload, const struct issuer_claims *c, struct claimed_names *out, struct why *why)
{
	const char *claim = c->team != NULL ? c->team : "team", *s;

	if (c->team == NULL && c->pipeline != NULL)
		return split_name(payload, c->pipeline, out, why);
	if ((s = claim_name(payload, claim, "team", why)) == NULL)
		return -1;
	/* or the pipeline «c» of a team «a/b» would have the name of the pipeline «b/c» of a team «a» */
	if (strchr(s, '/') != NULL)
		return refuse(why, WHY_DENIED, "the token's \"%.80s\" has a slash: no team has such a name", claim);
	*out = (struct claimed_names){ s, NULL, (int)strlen(s), NULL };
	return 0;
}

int
claimed_pipeline(const json_t *payload, const struct issuer_claims *c, struct claimed_names *out, struct why *why)
{
	if (out->pipeline == NULL)
		out->pipeline = claim_name(payload, c->pipeline != NULL ? c->pipeline : "pipeline", "pipeline", why);
	return out->pipeline != NULL ? 0 : -1;
}

int
claimed_job(const json_t *payload, const struct issuer_claims *c, struct claimed_names *out, struct why *why)
{
	const char *claim = c->job != NULL ? c->job : "job", *s;
	const json_t *job = json_object_get(payload, claim);

	if (job == NULL)
		return 0;
	if ((s = json_string_value(job)) == NULL)
		return refuse(why, WHY_DATA, "the token's \"%.80s\" is not a string", claim);
	if (claim_value_has_control(s))
		return refuse(why, WHY_DENIED, "the token's \"%.80s\" has a control character: no job has such a name", claim);
	/* Concourse writes "" for a build without a job */
	out->job = *s != '\0' ? s : NULL;
	return 0;
}

/* The value of a claim, as text that shows its type; the caller frees it. NULL if memory is short. */
static char *
value_of(const json_t *payload, const char *name)
{
	return claim_value_text(json_object_get(payload, name));
}

int
claims_hold(const json_t *payload, const struct issuer_claims *c, struct why *why)
{
	const struct claim_set *want = &c->require;
	char is[80], must[80];
	size_t i;

	for (i = 0; i < want->name.n; i++) {
		autofree char *value = value_of(payload, want->name.v[i]);

		if (value == NULL)
			return refuse_nomem(why);
		if (claim_value_is(value, want->value.v[i]))
			continue;
		claim_value_describe(value, is);
		claim_value_describe_wanted(want->value.v[i], must);
		return refuse(why, WHY_DENIED, "the token's \"%.80s\" is %s, and gpuhelper.conf requires %s of this issuer",
		    want->name.v[i], is, must);
	}
	return 0;
}

/* A value that the tokens of many jobs share would let them all take turns, so it must be a name or a number. */
int
claims_turn(const json_t *payload, const struct issuer_claims *c, char is[80], struct why *why)
{
	const json_t *value = json_object_get(payload, c->reuse_by);
	autofree char *text = value_of(payload, c->reuse_by);

	if (text == NULL)
		return refuse_nomem(why);
	claim_value_describe(text, is);
	if (json_is_integer(value) || json_string_length(value) > 0)
		return 0;
	return refuse(why, WHY_DENIED, "the token's \"%.80s\" is %s: reuse_by in gpuhelper.conf needs a claim that names the "
	    "job", c->reuse_by, is);
}

bool
claims_turn_add(const json_t *payload, const struct issuer_claims *c, struct sha256_ctx *to)
{
	static const char turns[] = "reuse_by";
	autofree char *value = value_of(payload, c->reuse_by);

	if (value == NULL)
		return false;
	/* with the zero bytes, no two pairs of name and value are the same bytes, and no token is */
	sha256_update(to, sizeof(turns), (const uint8_t *)turns);
	sha256_update(to, strlen(c->reuse_by) + 1, (const uint8_t *)c->reuse_by);
	sha256_update(to, strlen(value), (const uint8_t *)value);
	return true;
}

bool
claims_wanted(const json_t *payload, const struct issuer_claims *c, struct claim_set *out)
{
	size_t i;

	for (i = 0; i < c->wanted.n; i++) {
		autofree char *text = value_of(payload, c->wanted.v[i]);

		if (text == NULL || !claim_set_add(out, c->wanted.v[i], text))
			return false;
	}
	return true;
}
