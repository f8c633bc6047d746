/*
 * gpuhelper-read: parses gpuhelper.conf, policies and CDI specs, so that no process with other rights has to. The
 * helper starts it for a grant (root/child/reader.h), and root's wrapper does (user/vet/parsedfiles.h): sends the
 * files' bytes over one channel, gets the answer there, and ends it with the channel. May assume that its parent is
 * gpuhelper or root's wrapper, or else that it has no more rights than its caller. Must never open anything.
 */
#include <jansson.h>
#include <stdlib.h>
#include <sys/random.h>

#include "../base/cleanup.h"
#include "../base/times.h"
#include "../host/own/frame.h"
#include "../root/self/confine.h"
#include "../root/self/spawn.h"
#include "answer.h"
#include "readquestion.h"

#define CHANNEL SPAWN_CHANNEL
_Static_assert(SPAWN_CHANNEL == READ_CHANNEL, "root's wrapper starts this program, too (user/vet/parsedfiles.h)");
#define ANSWER_MS 5000		/* to send an answer */

static const struct confinement confinement = { "gpuhelper-read", 512UL << 20, NULL, 0, FILTER_READER, false };

/* Answers one question. False if there are no more. */
static bool
answer_next(void)
{
	size_t len, said = 0;
	struct read_query a;
	struct why why;
	autofree char *bytes = frame_read(CHANNEL, READ_QUERY_MAX, CHILD_IDLE_MS, &len, &why), *answer = NULL;

	if (bytes == NULL)
		return false;
	if (read_query_unpack(bytes, len, &a, &why)) {
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

	/* otherwise jansson would read /dev/urandom later */
	if (getrandom(&seed, sizeof(seed), 0) == (ssize_t)sizeof(seed) && seed != 0)
		json_object_seed(seed);
	if ((status = confined_start(argc, argv, &confinement)) != -1)
		return status;
	while (answer_next())
		continue;
	return 0;
}
