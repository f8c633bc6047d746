/*
 * gpuhelper-read: parses what an administrator wrote, gpuhelper.conf, policies and CDI specs, so that no process does
 * that which has any right beside.  Started by the helper where somebody asks for a grant (root/reader.h); gets the
 * files' bytes on one channel, answers there, and ends with it.
 *
 * May assume that its parent is gpuhelper, or else that it has no more rights than whoever started it; must never open
 * anything.
 */
#include <jansson.h>
#include <stdlib.h>
#include <sys/random.h>

#include "../host/frame.h"
#include "../pure/cleanup.h"
#include "../root/confine.h"
#include "../root/spawn.h"
#include "answer.h"
#include "question.h"

#define CHANNEL SPAWN_CHANNEL
#define IDLE_MS 600000		/* longer than a helper lives (root/timer.h) */
#define ANSWER_MS 5000		/* to take an answer */

static const struct confinement confinement = { "gpuhelper-read", 512UL << 20, NULL, 0, FILTER_READER, false };

/* One question and its answer; false: there is none any more. */
static bool
answer_one(void)
{
	size_t len, said = 0;
	struct read_ask a;
	struct why why;
	autofree char *bytes = frame_read(CHANNEL, READ_ASK_MAX, IDLE_MS, &len, &why), *answer = NULL;

	if (bytes == NULL)
		return false;
	if (read_ask_unpack(bytes, len, &a, &why)) {
		answer = read_answer(&a, &said);
		free(a.file);
	} else
		answer = read_answer_wrong(why.text, &said);
	return answer != NULL && frame_write(CHANNEL, answer, said, READ_ANSWER_MAX, ANSWER_MS, &why) == 0;
}

int
main(int argc, char **argv)
{
	size_t seed;
	int status;

	/* jansson would read /dev/urandom */
	if (getrandom(&seed, sizeof(seed), 0) == (ssize_t)sizeof(seed) && seed != 0)
		json_object_seed(seed);
	if ((status = confined_start(argc, argv, &confinement)) != -1)
		return status;
	while (answer_one())
		continue;
	return 0;
}
