/*
 * gpuhelperctl explain: decides about a container with the helper's own code, and carries nothing out.  Runs with its
 * caller's rights.  Takes --user, --identity and --pipeline on trust, since it grants nothing.
 */
#include "explain.h"

#include <string.h>
#include <time.h>

#include "../../user/compose/grantmark.h"
#include "../../user/spec/specrequest.h"
#include "../pipelinename.h"

static int
inquiry_from_bundle(struct inquiry *q)
{
	bool stale;

	if (bundle_open(q->options->bundle, &q->bundle, &q->why) == -1 ||
	    grantmark_parse(&q->spec, &q->bundle, &q->before, &stale, &q->why) == -1)
		return -1;
	q->spec.bundle = q->bundle.path;
	if (spec_request(&q->spec, &q->config->settings, &q->request, &q->asks, &q->why) == -1)
		return -1;
	return privilege_find(&q->spec, &q->request, q->client.uid == 0, false, q->privilege, &q->why);
}

/* Checks the options.  0, or the exit status after a complaint. */
static int
check_usage(const struct options *o, enum identity_kind *kind)
{
	if (o->bundle != NULL && (o->pipeline != NULL || o->job != NULL || o->identity != NULL || o->issuer != NULL ||
	    o->gpus != NULL || o->folders != NULL || o->instance_vars != NULL || o->claims != NULL))
		return misuse(o, "explain: the bundle says everything but the user: with --bundle, give only --user");
	if (inquiry_kind(o, kind) == -1)
		return misuse(o, "explain: --identity must be token, claim or caller, not \"%s\"", o->identity);
	if (o->token_file != NULL || o->at != NULL)
		return token_usage(o);
	if (o->bundle != NULL)
		return 0;
	if (o->pipeline == NULL && *kind != IDENTITY_CALLER)
		return misuse(o, "explain: give --bundle DIR, --pipeline TEAM/PIPELINE, --token-file FILE or "
		    "--identity caller");
	return pipeline_option_check(o, "explain");
}

/* Notes what of the question is ignored or missing. */
static void
note_question(struct inquiry *q, enum identity_kind kind)
{
	if (kind == IDENTITY_CALLER && q->options->pipeline != NULL)
		note(q, "with --identity caller the pipeline is unknown: --pipeline is ignored");
	if (!q->asks)
		note(q, "give the container's request with --gpus and --folders (\"all\": everything that the policy lists)");
}

static int
explain(struct inquiry *q, enum identity_kind kind)
{
	const bool brings = q->options->token_file != NULL;
	const bool proven = q->options->bundle == NULL && !brings && kind == IDENTITY_TOKEN;

	if (inquiry_client(q) == -1 || (q->options->bundle != NULL ? inquiry_from_bundle(q) : inquiry_request(q, kind)) == -1)
		return give_up(q->options, &q->why);
	q->outcome = OUTCOME_REFUSED;
	if (token_alone(q->options)) {
		(void)inquiry_identify(q, false);
		return token_answer(q);
	}
	if (inquiry_decide(q, proven) == -1 && q->why.code != WHY_DENIED && q->why.code != WHY_ABSENT && q->heard == 0 &&
	    q->token.n == 0)
		return give_up(q->options, &q->why);
	if (q->options->bundle != NULL && q->identity.kind == IDENTITY_TOKEN)
		note(q, "not checked: whether another container has used the token already");
	else if (brings)
		token_notes(q);
	else if (q->options->bundle == NULL)
		note_question(q, kind);
	if (proven)
		token_assume(q);
	look_at_host(q);
	explain_answer(q);
	if (q->outcome == OUTCOME_GRANTED)
		return 0;
	return q->why.code == WHY_ABSENT ? WHY_DENIED : (int)q->why.code;
}

int
ctl_explain(const struct options *o)
{
	autoconfig struct config config = { 0 };
	struct inquiry q = { .options = o, .config = &config, .bundle = { .dir = -1 },
		.identity = { .kind = IDENTITY_CALLER }, .now = time(NULL) };
	enum identity_kind kind = IDENTITY_TOKEN;
	int status = check_usage(o, &kind);

	if (status == 0)
		status = config_load(o, &config, &q.why) == 0 ? explain(&q, kind) : give_up(o, &q.why);
	inquiry_free(&q);
	return status;
}
