/*
 * gpuhelper-engine: decides what a request may have, by the policies and what gpuhelper-judge says of the request, and
 * says what the CDI specs of this host give a container in addition to its GPUs' nodes. The helper starts it as a user
 * of its own (root/child/engine.h), sends each question over one channel, and ends it with the channel. The words of a
 * stranger go through it to gpuhelper-judge; it interprets none, and believes no decision that exceeds the policy.
 * Opens files only for reading, changes nothing, and needs no right of its own.
 */
#include <stdlib.h>

#include "../ask/enginequeryread.h"
#include "../base/cleanup.h"
#include "../root/self/confine.h"
#include "answering.h"
#include "tohelper.h"

/* policies may have 256 MiB as lines, specs have 16 MiB; both are here twice, as lines and as values */
#define MEMORY_MAX (2UL << 30)

static const struct confinement confinement = { "gpuhelper-engine", MEMORY_MAX, NULL, 0, FILTER_ENGINE, false };

static bool
say_authz(struct authz_answer *a)
{
	autobuf struct buf b = { 0 };
	struct lines out = { .out = &b };

	authz_answer_lines(&out, a);
	return lines_finish(&out) && helper_send(ENGINE_ANSWERS, &b);
}

static bool
say(enum engine_verb verb, bool picks, struct engine_answer *a)
{
	autobuf struct buf b = { 0 };
	struct lines out = { .out = &b };

	engine_answer_lines(&out, verb, picks, a);
	return lines_finish(&out) && helper_send(ENGINE_ANSWERS, &b);
}

static bool
answer_authz(struct authorized *r, struct host *h, const char *question, size_t size)
{
	struct authz_answer out = { .issuer = 0 };
	struct authz_query a;
	const char *read;
	size_t len;
	bool said;

	if (authz_query_unpack(question, size, &a, &read, &len))
		authorize(r, h, &a, read, len, &out);
	else
		refuse(&out.why, WHY_BUG, "gpuhelper-engine can't read the question");
	said = say_authz(&out);
	authz_query_free(&a);
	return said;
}

static bool
answer_ask(const struct authorized *r, const struct host *h, const char *question, size_t size)
{
	autoengineanswer struct engine_answer out = { .nodes = 0 };
	struct engine_query a = { .verb = ENGINE_AUTHZ };
	struct lines in = { .at = question, .end = question + size };
	bool said;

	engine_query_lines(&in, &a);
	if (!lines_finish(&in) || a.verb == ENGINE_AUTHZ)
		refuse(&out.why, WHY_BUG, "gpuhelper-engine can't read the question");
	else if (answer_about_gpus(r, h, &a, &out) == 0)
		out.why = (struct why){ 0 };
	said = say(a.verb, a.picks, &out);
	engine_query_free(&a);
	return said;
}

/* Answers one question. False if there are no more. */
static bool
answer_next(struct authorized *r, struct host *h)
{
	size_t len;
	autofree char *bytes = helper_receive_query(&len);

	if (bytes == NULL || len == 0)
		return false;
	return bytes[0] == ENGINE_TAKES_REQUEST ? answer_authz(r, h, bytes + 1, len - 1) :
	    bytes[0] == ENGINE_TAKES_GPUS && answer_ask(r, h, bytes + 1, len - 1);
}

int
main(int argc, char **argv)
{
	struct authorized r = { .decision = { .policy = NULL } };
	struct host h = { .was_asked = false };
	int status;

	if ((status = confined_start(argc, argv, &confinement)) != -1)
		return status;
	while (answer_next(&r, &h))
		continue;
	return 0;
}
