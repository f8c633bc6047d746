/*
 * See gpuholders.h. Names of others go into a build's log: must name nobody whom «status» would not show to this user.
 */
#include "gpuholders.h"

#include <string.h>

#include "../base/cleanup.h"
#include "../base/quoted.h"
#include "../policy/policydecide.h"

#define TOLD_MAX 4	/* of each kind, so that the line stays short */

/*
 * True if "TEAM/PIPELINE" is of the team. A text with a further slash could be split in two ways, so it is of no team.
 */
static bool
is_of_team(const char *pipeline, const char *team)
{
	const size_t n = strlen(team);

	return strncmp(pipeline, team, n) == 0 && pipeline[n] == '/' && strchr(team, '/') == NULL &&
	    strchr(pipeline + n + 1, '/') == NULL;
}

/* Without a token only the user counts, because the team is only a claim. */
bool
wait_may_name(const char *pipeline, uint32_t of, uint32_t uid, const struct identity *who)
{
	return of == uid && (who->kind != IDENTITY_TOKEN || (who->team != NULL && is_of_team(pipeline, who->team)));
}

/* Adds "ml/train in container c1 since 22:31 UTC"; for a task created elsewhere, the whole date. An id may be NULL. */
static void
tell_one(struct buf *b, bool named, const char *pipeline, const char *id, int64_t since, bool brief)
{
	char when[32];

	text_time(since, when);
	buf_puts(b, !named ? "a container" : pipeline[0] != '\0' ? quoted(pipeline) : "");
	if (named && id != NULL)
		buf_printf(b, "%scontainer %s", pipeline[0] != '\0' ? " in " : "", quoted(id));
	if (named)
		buf_printf(b, " since %.*s%s", brief ? 5 : 20, brief ? when + 11 : when, brief ? " UTC" : "");
}

/* Names each container that holds a candidate. Returns how many there are, at most TOLD_MAX. */
static unsigned
tell_holders(const struct allocation *s, struct buf *b)
{
	const struct pick_query *a = s->ask;
	const struct holder *h;
	unsigned told = 0;
	size_t i;

	for (i = 0; i < a->holders && told < TOLD_MAX; i++) {
		h = &a->holder[i];
		if (!gpu_demands_any(s->demand, s->demands, h->gpu, h->gpus))
			continue;
		buf_puts(b, told++ > 0 ? ", " : "taken by ");
		tell_one(b, wait_may_name(h->pipeline, h->uid, a->uid, s->who), h->pipeline, h->id, h->since, a->task);
	}
	return told;
}

/* Names a wanted GPU that is open without a lease, and the process that has it open. */
static unsigned
tell_openers(const struct allocation *s, struct buf *b)
{
	const struct gpu_openers *u = &s->ask->openers;
	char text[OPENER_TEXT];
	size_t i;

	for (i = 0; i < u->n; i++)
		if (gpu_demands_any(s->demand, s->demands, &u->v[i].gpu, 1)) {
			gpu_opener_tell(&u->v[i], text);
			buf_puts(b, text);
			return 1;
		}
	return 0;
}

/* True if it wants one of the same GPUs. */
static bool
wants_same(const struct allocation *s, const struct earlier *e)
{
	size_t i;

	for (i = 0; i < e->demands; i++)
		if (gpu_demands_any(s->demand, s->demands, e->demand[i].candidate, e->demand[i].candidates))
			return true;
	return false;
}

/* "2 ahead (ml/train since 22:31 UTC, …)": those that want one of the same GPUs. Nothing if there are none. */
static void
tell_ahead(const struct allocation *s, struct buf *b)
{
	const struct pick_query *a = s->ask;
	autobuf struct buf names = { 0 };
	const struct earlier *e;
	size_t i, ahead = 0;

	for (i = 0; i < a->before; i++) {
		e = &a->earlier[i];
		if (!wants_same(s, e))
			continue;
		if (ahead++ < TOLD_MAX) {
			buf_puts(&names, ahead > 1 ? ", " : "");
			tell_one(&names, wait_may_name(e->pipeline, e->uid, a->uid, s->who), e->pipeline,
			    e->pipeline[0] == '\0' ? e->id : NULL, e->since, true);
		}
	}
	if (ahead > 0)
		buf_printf(b, "%zu ahead (%s%s)", ahead, names.p, ahead > TOLD_MAX ? ", …" : "");
	b->failed = b->failed || names.failed;
}

static int
refuse_task(const struct allocation *s, struct why *why)
{
	autobuf struct buf b = { 0 }, holders = { 0 };

	tell_ahead(s, &b);
	/* a holder has its GPU open anyway, so processes are named only if there is no holder */
	if (tell_holders(s, &holders) > 0 || tell_openers(s, &holders) > 0)
		buf_printf(&b, "%s%s", b.len > 0 ? "; " : "", holders.p);
	return refuse(why, WHY_AGAIN, "%s", b.failed || holders.failed || b.len == 0 ? "others hold them" : b.p);
}

int
wait_refuse(const struct allocation *s, struct why *why)
{
	const size_t before = s->ask->before;
	autobuf struct buf b = { 0 };
	unsigned told;

	if (s->ask->task)
		return refuse_task(s, why);
	if ((told = tell_holders(s, &b)) == 0)
		told = tell_openers(s, &b);
	if (before > 0)
		buf_printf(&b, "%s%zu waiting before this one", told > 0 ? "; " : "", before);
	return refuse(why, WHY_AGAIN, "too few of the GPUs that this policy allows are free (%s)",
	    b.p != NULL ? b.p : "others hold them");
}
