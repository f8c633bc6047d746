/* See waiting.h: the agent's messages. The waiter has no C library, and reads them by itself. */
#include "waiting.h"

#include <string.h>

static bool
fits(struct buf *out)
{
	return !out->failed && out->len <= WAITING_MAX;
}

/* A line is printed in a build's log: control characters must not reach it. */
static void
add_text(struct buf *out, const char *text)
{
	char safe[WAITING_LINE_MAX];

	text_printable(safe, sizeof(safe), text);
	buf_puts(out, safe);
}

bool
waiting_line(struct buf *out, const char *text)
{
	buf_add(out, (char[]){ WAITING_LINE }, 1);
	add_text(out, text);
	return fits(out);
}

bool
waiting_go(struct buf *out, const struct strlist *env)
{
	size_t i;

	buf_add(out, (char[]){ WAITING_GO }, 1);
	for (i = 0; i < env->n; i++)
		buf_add(out, env->v[i], strlen(env->v[i]) + 1);
	return fits(out);
}

bool
waiting_refused(struct buf *out, unsigned char status, const char *text)
{
	buf_add(out, (char[]){ WAITING_REFUSED, (char)status }, 2);
	add_text(out, text);
	return fits(out);
}
