/*
 * gpuhelper-judge: looks at the host's GPUs, then confines itself, parses what a stranger wrote, finds out
 * whose a token is, and decides by the policies what a container gets. The helper starts it for each grant to a
 * container or a task (root/child/judge.h), passes each question of gpuhelper-engine's on over one channel, with all
 * that is needed to answer it, and ends it with the channel. With libudev it is gpuhelper-judge-udev (drm.h).
 * May assume that its parent is gpuhelper, or else that it has no more rights than its caller. Must never
 * open anything after it has read a stranger's words.
 */
#include <jansson.h>
#include <sys/random.h>

#include "../base/cleanup.h"
#include "../base/times.h"
#include "../host/own/frame.h"
#include "../root/self/confine.h"
#include "../root/self/spawn.h"
#include "decide.h"
#include "drm.h"
#include "findgpus.h"
#include "identify.h"

#define CHANNEL SPAWN_CHANNEL
#define ANSWER_MS 5000		/* to send an answer */

static const struct confinement confinement = { "gpuhelper-judge", 256UL << 20, NULL, 0, FILTER_FINDER, false };

/* The first question holds no words of a stranger. */
static int
answer_question(const struct judge_query *a, bool first, struct judge_answer *out)
{
	if ((a->verb == JUDGE_HOST) != first)
		return refuse(&out->why, WHY_BUG, "gpuhelper-judge is asked in the wrong order");
	if (a->verb == JUDGE_HOST)
		return host_find_gpus(judge_drm, a->vendors, &out->inventory, &out->why);
	if (a->verb == JUDGE_GRANT)
		return decide_grant(&a->grant, &out->indexes, &out->why);
	return a->verb == JUDGE_VARS ? vars_parse(a->text, &out->vars, &out->why) :
	    token_identify(a, &out->issuer, &out->claims, NULL, &out->why);
}

static void
fill_answer(const struct judge_query *a, bool first, struct judge_answer *out)
{
	if (answer_question(a, first, out) == 0)
		out->why.code = WHY_NONE;
}

/* Answers one question. False if there are no more. */
static bool
answer_next(bool first)
{
	struct judge_answer answer = { .issuer = 0 };
	struct judge_query asked = { .verb = JUDGE_TOKEN };
	struct why ignored;
	size_t len;
	autofree char *bytes = frame_read(CHANNEL, JUDGE_QUERY_MAX, CHILD_IDLE_MS, &len, &ignored);
	autobuf struct buf b = { 0 };
	struct lines in, out = { .out = &b };
	bool said;

	if (bytes == NULL)
		return false;
	in = (struct lines){ .at = bytes, .end = bytes + len };
	judge_query_lines(&in, &asked);
	if (lines_finish(&in))
		fill_answer(&asked, first, &answer);
	else
		refuse(&answer.why, WHY_BUG, "gpuhelper-judge can't read the question");
	judge_answer_lines(&out, asked.verb, &answer);
	said = lines_finish(&out) && frame_write(CHANNEL, b.p, b.len, JUDGE_ANSWER_MAX, ANSWER_MS, &ignored) == 0;
	judge_query_free(&asked);
	judge_answer_free(&answer);
	return said;
}

int
main(int argc, char **argv)
{
	struct why why;
	size_t seed;
	int status;

	/* otherwise jansson would read /dev/urandom later */
	if (getrandom(&seed, sizeof(seed), 0) == (ssize_t)sizeof(seed) && seed != 0)
		json_object_seed(seed);
	if ((status = confined_start(argc, argv, &confinement)) != -1)
		return status;
	if (!answer_next(true))
		return 0;
	if (filter_install_for(FILTER_READER, &why) == -1)
		return WHY_BUG;
	while (answer_next(false))
		continue;
	return 0;
}
