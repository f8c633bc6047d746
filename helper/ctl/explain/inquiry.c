/*
 * See inquiry.h: decides about a request with the helper's code, but carries nothing out.  Runs with its caller's
 * rights. Takes the user, identity and pipeline of the options on trust, since it grants nothing.
 */
#include "inquiry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../ask/hostcheck.h"
#include "../../ask/wire.h"
#include "../../base/cleanup.h"
#include "../../base/text.h"
#include "../../gpu/gpufind.h"
#include "../../host/driver/cdigpus.h"
#include "../../host/gpu/drivers.h"
#include "../../host/gpu/udev.h"
#include "../../host/own/issuerkeys.h"
#include "../../host/users.h"
#include "../../judge/findgpus.h"
#include "../../policy/policydecide.h"
#include "../../policy/tokenhash.h"
#include "../../read/parse.h"
#include "../when.h"
#include "claimsjson.h"

#define TOKEN_FILE_MAX (64 * 1024)	/* bytes: no token is longer */

void
inquiry_free(struct inquiry *q)
{
	size_t i;

	decision_free(&q->decision);
	inventory_free(&q->host);
	cdi_registry_free(&q->specs);
	for (i = 0; i < q->heard; i++)
		free(q->said[i].why);
	free(q->said);
	requested_free(&q->requested);
	principal_free(&q->principal);
	free(q->user);
	request_free(&q->request);
	spec_free(&q->spec);
	bundle_close(&q->bundle);
	free(q->before);
	strlist_free(&q->libraries);
	strlist_free(&q->notes);
}

void
note(struct inquiry *q, const char *fmt, ...)
{
	autofree char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = format_text(fmt, ap);
	va_end(ap);
	if (text != NULL)
		(void)strlist_add(&q->notes, text, SIZE_MAX);
}

int
inquiry_client(struct inquiry *q)
{
	const char *given = q->options->user;
	uint32_t uid = getuid();

	if (given != NULL && !user_uid(given, &uid, NULL) && !text_u32(given, 0, UINT32_MAX - 1, &uid))
		return refuse(&q->why, WHY_DATA, "user \"%s\" is not in /etc/passwd", given);
	q->user = user_name(uid);
	q->client = (struct client){ .uid = uid, .user = q->user, .rootful = uid == 0,
		.member = uid == 0 || (q->user != NULL && user_in_group(q->user, "gpuhelper")) };
	return 0;
}

int
inquiry_kind(const struct options *o, enum identity_kind *kind)
{
	static const enum identity_kind kinds[] = { IDENTITY_TOKEN, IDENTITY_CALLER, IDENTITY_CLAIM };
	size_t i;

	*kind = IDENTITY_TOKEN;
	if (o->identity == NULL)
		return 0;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(o->identity, identity_name(kinds[i])) == 0) {
			*kind = kinds[i];
			return 0;
		}
	return -1;
}

static int
copy(char **out, const char *text, struct why *why)
{
	if (text != NULL && (*out = strdup(text)) == NULL)
		return refuse_nomem(why);
	return 0;
}

/* Reads --token-file into the request, and sets q->now from --at.  -1 with q->why. */
static int
load_token(struct inquiry *q)
{
	const struct options *o = q->options;
	autofree char *text = NULL;
	size_t len;

	if (o->at != NULL)
		(void)when_read(o->at, &q->now);
	if (o->token_file == NULL)
		return 0;
	if ((text = ctl_read_input(o->token_file, TOKEN_FILE_MAX, &len, &q->why)) == NULL)
		return -1;
	if (len > 0 && text[len - 1] == '\n')
		text[--len] = '\0';
	if (strlen(text) != len)
		return refuse(&q->why, WHY_DATA, "%s is not a token: it has a NUL byte", o->token_file);
	if ((q->request.untrusted.token = strdup(text)) == NULL)
		return refuse_nomem(&q->why);
	return 0;
}

int
inquiry_request(struct inquiry *q, enum identity_kind kind)
{
	const struct options *o = q->options;
	struct request *r = &q->request;
	const char *slash = o->pipeline != NULL ? strchr(o->pipeline, '/') : NULL;

	if (copy(&r->untrusted.gpus, o->gpus, &q->why) == -1 || copy(&r->untrusted.folders, o->folders, &q->why) == -1)
		return -1;
	q->asks = kind == IDENTITY_TOKEN || r->untrusted.gpus != NULL || r->untrusted.folders != NULL;
	if (o->token_file != NULL)
		return load_token(q);
	if (kind == IDENTITY_CALLER || slash == NULL)
		return 0;
	if ((r->untrusted.team = strndup(o->pipeline, (size_t)(slash - o->pipeline))) == NULL)
		return refuse_nomem(&q->why);
	if (copy(&r->untrusted.pipeline, slash + 1, &q->why) == -1 || copy(&r->untrusted.job, o->job, &q->why) == -1)
		return -1;
	return copy(&r->untrusted.instance_vars, o->instance_vars, &q->why);
}

/* Verifies the token, as gpuhelper-judge does (engine/tojudge.c). */
static int
identify_token(struct inquiry *q)
{
	const struct settings *s = &q->config->settings;
	struct judge_query a = { .verb = JUDGE_TOKEN, .text = q->request.untrusted.token, .now = q->now,
		.issuer = s->issuer, .keys = issuers_keys_find(s, q->config->strict), .issuers = s->issuers };
	uint32_t issuer;
	int ret;

	q->principal = (struct principal){ .id = { .kind = IDENTITY_TOKEN } };
	token_hash(q->request.untrusted.token, q->principal.token_hash);
	if (a.keys == NULL)
		return refuse_nomem(&q->why);
	if ((ret = token_identify(&a, &issuer, &q->principal.claims, &q->token, &q->why)) == 0)
		principal_from_token(&q->principal, &s->issuer[issuer]);
	found_keys_free(a.keys, a.issuers);
	return ret;
}

/* The claims of a token that somebody could have: those of --claims, and no others that policies ask about. */
static int
assume_claims(struct inquiry *q)
{
	const struct settings *s = &q->config->settings;
	struct claim_set *claims = &q->principal.kept_claims;
	size_t i;

	q->identity.claims = claims;
	if (q->options->claims != NULL && claims_parse(q->options->claims, claims, &q->why) == -1)
		return -1;
	for (i = 0; i < s->issuers; i++)
		if (q->identity.issuer != NULL && strcmp(s->issuer[i].url, q->identity.issuer) == 0 &&
		    !claims_fill(claims, &s->issuer[i].claims.wanted))
			return refuse_nomem(&q->why);
	return 0;
}

/* Adds q->why to q->token as a failed check, for an error before the first check. */
static void
fail_token_early(struct inquiry *q)
{
	static const char prefix[] = "GPUHELPER_TOKEN: ";
	const char *text = q->why.text, *name = "keys";

	if (q->config->settings.issuers == 0)
		name = "issuers";
	else if (q->why.code == WHY_DATA)
		name = "form";
	else if (q->why.code == WHY_DENIED)
		name = "iss";
	if (text_starts(text, prefix))
		text += strlen(prefix);
	q->token.n = 1;
	q->token.check[0].name = name;
	q->token.check[0].result = TOKEN_CHECK_FAILED;
	snprintf(q->token.check[0].text, sizeof(q->token.check[0].text), "%.191s", text);
}

int
inquiry_identify(struct inquiry *q, bool proven)
{
	if (!q->asks)
		return 0;
	if ((q->request.untrusted.token != NULL ? identify_token(q) :
	    identity_of_claims(&q->request.untrusted, vars_parse, &q->principal, &q->why)) == -1) {
		if (q->options->token_file != NULL && q->token.n == 0)
			fail_token_early(q);
		return -1;
	}
	q->identity = q->principal.id;
	if (!proven)
		return 0;
	q->identity.kind = IDENTITY_TOKEN;
	q->identity.issuer = q->options->issuer;
	if (q->options->issuer == NULL && q->config->settings.issuers == 1)
		q->identity.issuer = q->config->settings.issuer[0].url;
	return assume_claims(q);
}

static void
note_verdict(void *ctx, const char *file, enum verdict_kind v, const char *why)
{
	struct inquiry *q = ctx;
	size_t n = strlen(file);

	/* a reason without a line number begins with the file's name, which the answer prints anyway */
	if (strncmp(why, file, n) == 0 && why[n] == ':' && why[n + 1] == ' ')
		why += n + 2;
	q->said[q->heard++] = (struct said){ .verdict = v, .why = strdup(why) };
}

/* Finds the GPUs, with the same checks as engine/hostgpus.c. */
static int
look_for_gpus(struct inquiry *q, struct why *why)
{
	const unsigned vendors = policies_vendors(&q->config->policies, &q->client);
	struct inventory *host = &q->host;

	if (q->seen != NULL) {
		if (inventory_copy(q->seen, vendors, host, why) == -1)
			return -1;
		inventory_rank(host);
		return 0;
	}
	if (host_find_gpus(&udev_drm, vendors, host, why) == -1 || drivers_read(host, why) == -1 || host_check(host,
	    why) == -1)
		return -1;
	inventory_rank(host);
	return cdigpus_load(specs_parse, &q->specs, host, why);
}

static int
ask_policies(struct inquiry *q)
{
	struct why gpus_unknown = { 0 };
	const struct question question = { &q->client, &q->identity, &q->requested, &q->config->settings, &q->config->policies,
		q->config->policies.n, &q->host, &gpus_unknown };

	if ((q->said = calloc(q->config->policies.n + 1, sizeof(*q->said))) == NULL)
		return refuse_nomem(&q->why);
	if (requested_wants_gpus(&q->requested))
		(void)look_for_gpus(q, &gpus_unknown);
	decide(&question, &q->decision, note_verdict, q);
	if (q->decision.verdict == VERDICT_GRANT)
		return 0;
	q->why = q->decision.why;
	privilege_explain(&q->spec, &q->config->settings, q->privilege, &q->why);
	return -1;
}

/* With respect_allocation, limits the GPUs by our environment, as the wrapper does by the worker's. */
static int
bound_ask(struct inquiry *q)
{
	if (!q->config->settings.respect_allocation)
		return 0;
	return gpu_bounds_parse(getenv("CUDA_VISIBLE_DEVICES"), getenv("ROCR_VISIBLE_DEVICES"), q->requested.bound, &q->why);
}

int
inquiry_decide(struct inquiry *q, bool proven)
{
	const bool forbidden = q->request.spec.privileged && q->config->settings.privileged == PRIVILEGED_DENY;

	if (forbidden && q->request.untrusted.token == NULL && !proven)
		return privilege_refuse(&q->spec, &q->config->settings, q->privilege, &q->why);
	if (!q->asks && !q->config->settings.grant_unasked) {
		q->outcome = OUTCOME_PLAIN;
		return refuse(&q->why, WHY_DENIED, "the container requests nothing: it has no GPUHELPER_TOKEN, "
		    "GPUHELPER_GPUS or GPUHELPER_FOLDERS");
	}
	if (requested_parse(q->request.untrusted.gpus, q->request.untrusted.folders, &q->requested, &q->why) == -1 ||
	    bound_ask(q) == -1 || inquiry_identify(q, proven) == -1)
		return -1;
	q->requested.privileged = forbidden;
	if (ask_policies(q) == 0) {
		q->outcome = OUTCOME_GRANTED;
		return 0;
	}
	if (!q->asks && q->why.code == WHY_DENIED)
		q->outcome = OUTCOME_PLAIN;
	return -1;
}
