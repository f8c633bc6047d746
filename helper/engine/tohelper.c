/* See tohelper.h. */
#include "tohelper.h"

#include <string.h>

#include "../ask/authzquery.h"
#include "../ask/enginequery.h"
#include "../ask/enginequeryread.h"
#include "../base/cleanup.h"
#include "../base/lines.h"
#include "../base/times.h"
#include "../host/own/frame.h"
#include "../root/self/spawn.h"

#define CHANNEL SPAWN_CHANNEL
#define SAY_MS 5000

char *
helper_receive_query(size_t *len)
{
	struct why ignored;

	return frame_read(CHANNEL, AUTHZ_QUERY_MAX + 1, CHILD_IDLE_MS, len, &ignored);
}

bool
helper_send(char kind, const struct buf *bytes)
{
	autobuf struct buf b = { 0 };
	struct why ignored;

	buf_add(&b, &kind, 1);
	buf_add(&b, bytes->p, bytes->len);
	return !bytes->failed && !b.failed && frame_write(CHANNEL, b.p, b.len, ENGINE_SAYS_MAX, SAY_MS, &ignored) == 0;
}

char *
helper_receive(size_t *len, struct why *why)
{
	autofree char *bytes = frame_read(CHANNEL, ENGINE_HEARS_MAX, CHILD_IDLE_MS, len, why);
	struct why told = { 0 };
	struct lines t;
	char *rest;

	if (bytes == NULL)
		return NULL;
	if (*len > 0 && bytes[0] == ENGINE_HEARS) {
		memmove(bytes, bytes + 1, --*len);
		rest = bytes;
		bytes = NULL;
		return rest;
	}
	t = (struct lines){ .at = bytes + (*len > 0), .end = bytes + *len };
	lines_begin(&t, "why");
	why_fields(&t, &told);
	if (lines_finish(&t) && told.code != WHY_NONE)
		*why = told;
	else
		refuse(why, WHY_BUG, "gpuhelper-engine can't read what the helper passes on");
	return NULL;
}
