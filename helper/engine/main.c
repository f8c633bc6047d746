/*
 * gpuhelper-engine: says what the CDI specs of this host give a container in addition to its GPUs' nodes: how the specs
 * name the GPUs, which extra nodes a rule gives, and the driver's files, hooks and variables. The helper starts it as
 * a user of its own (root/child/engine.h), sends each question over one channel, and ends it with the channel. Hears no
 * word of a stranger: specs and rules are root's, and the GPUs are those that gpuhelper-judge saw before it heard one.
 * Opens files only for reading, changes nothing, and needs no right of its own. What it says is not believed: see
 * root/child/engine.h.
 */
#include <string.h>

#include "../ask/engineask.h"
#include "../base/cleanup.h"
#include "../base/times.h"
#include "../host/own/frame.h"
#include "../root/self/confine.h"
#include "../root/self/spawn.h"
#include "answering.h"

#define CHANNEL SPAWN_CHANNEL
#define ANSWER_MS 5000		/* to send an answer */
#define MEMORY_MAX (1UL << 30)	/* the specs of a host may have 16 MiB, and are here twice, as lines and as values */

static const struct confinement confinement = { "gpuhelper-engine", MEMORY_MAX, NULL, 0, FILTER_ENGINE, false };

static bool
say(enum engine_verb verb, size_t gpus, struct engine_answer *a)
{
	autobuf struct buf b = { 0 };
	struct lines out = { .out = &b };
	struct why ignored;

	engine_answer_lines(&out, verb, gpus, a);
	return lines_finish(&out) && !b.failed &&
	    frame_write(CHANNEL, b.p, b.len, ENGINE_ANSWER_MAX, ANSWER_MS, &ignored) == 0;
}

/* The first question. */
static enum engine_verb
answer_specs(struct answering *e, const char *question, size_t len, struct engine_answer *out)
{
	if (answering_load_specs(e, question, len, &out->malformed, &out->why) == 0)
		out->why = (struct why){ 0 };
	return ENGINE_SPECS;
}

static enum engine_verb
answer_ask(struct answering *e, const char *question, size_t len, struct engine_answer *out)
{
	struct engine_ask a = { .verb = ENGINE_SPECS };
	struct lines in = { .at = question, .end = question + len };
	enum engine_verb verb;

	engine_ask_lines(&in, &a);
	verb = a.verb;
	if (!lines_finish(&in))
		refuse(&out->why, WHY_BUG, "gpuhelper-engine can't read the question");
	else if (answer_questions(e, &a, out) == 0)
		out->why = (struct why){ 0 };
	engine_ask_free(&a);
	return verb;
}

/* Answers one question. False if there are no more. */
static bool
answer_next(struct answering *e, bool first)
{
	autoengineanswer struct engine_answer answer = { .nodes = 0 };
	enum engine_verb verb;
	struct why ignored;
	size_t len;
	autofree char *bytes = frame_read(CHANNEL, ENGINE_SPECS_MAX, CHILD_IDLE_MS, &len, &ignored);

	if (bytes == NULL)
		return false;
	verb = first ? answer_specs(e, bytes, len, &answer) : answer_ask(e, bytes, len, &answer);
	return say(verb, answer.names.gpus, &answer);
}

int
main(int argc, char **argv)
{
	struct answering e = { .has_specs = false };
	bool first;
	int status;

	if ((status = confined_start(argc, argv, &confinement)) != -1)
		return status;
	for (first = true; answer_next(&e, first); first = false)
		continue;
	return 0;
}
