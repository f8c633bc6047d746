/* See teamshares.h. Usage that can't be read or written is no reason to refuse: the order is then that of arrival. */
#include "teamshares.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../host/file.h"
#include "../../host/trust.h"
#include "../../policy/usage.h"
#include "../self/state.h"

#define FILE_NAME "usage"
#define USAGE_MAX (1U << 20)

/* Mostly there is no file, because gpuhelper.conf has no team_shares: the directory is not made for that. */
static int
open_shares(bool make)
{
	struct why ignored;
	struct stat st;

	return make || lstat(GPUHELPER_RUNDIR "/shares/" FILE_NAME, &st) == 0 ? state_dir("shares", &ignored) : -1;
}

/* False if there is no file. A malformed one counts as empty. */
static bool
read_usage(int dir, struct usage *u)
{
	autofree char *text = NULL;
	struct lines s = { .out = NULL };
	struct why ignored;
	size_t len;

	*u = (struct usage){ .n = 0 };
	if ((text = trust_read(dir, FILE_NAME, FILE_NAME, USAGE_MAX, true, &len, &ignored)) == NULL)
		return false;
	s.at = text;
	s.end = text + len;
	if (!usage_lines(&s, u))
		usage_free(u);
	return true;
}

static void
write_usage(int dir, struct usage *u)
{
	autobuf struct buf b = { 0 };
	struct why ignored;

	if (usage_lines(&(struct lines){ .out = &b }, u) && !b.failed)
		(void)state_write(dir, FILE_NAME, b.p, b.len, 0600, &ignored);
}

void
team_shares_note(const struct lease *l)
{
	autoclose int dir = l->gpus > 0 ? open_shares(false) : -1;
	autousage struct usage u = { .n = 0 };

	if (dir != -1 && read_usage(dir, &u) && usage_add(&u, l->pipeline, (unsigned)l->gpus, l->since, time(NULL)))
		write_usage(dir, &u);
}

/* Takes the settings' shares over, if they have changed. */
static void
renew_shares(int dir, struct usage *u, const struct strlist *now)
{
	bool same = u->shares.n == now->n;
	size_t i;

	for (i = 0; same && i < now->n; i++)
		same = strcmp(u->shares.v[i], now->v[i]) == 0;
	if (same)
		return;
	strlist_free(&u->shares);
	if (strlist_append(&u->shares, now))
		write_usage(dir, u);
}

/* Adds what the containers have used that have their GPUs still. */
static void
add_live(struct usage *u, const struct leases *ls, int64_t now)
{
	size_t i;

	for (i = 0; i < ls->n; i++)
		if (ls->v[i]->gpus > 0 && !lease_only_promises(ls->v[i]))
			(void)usage_add(u, ls->v[i]->pipeline, (unsigned)ls->v[i]->gpus, ls->v[i]->since, now);
}

void
team_shares_rank(struct queue *q, struct queued *me, const struct leases *ls, const struct settings *s)
{
	const bool shared = s == NULL || s->team_shares.n > 0;
	autoclose int dir = shared || q->n > 0 ? open_shares(s != NULL && shared) : -1;
	autousage struct usage u = { .n = 0 };
	const int64_t now = time(NULL);
	size_t i;

	if (dir != -1 && !shared)
		(void)unlinkat(dir, FILE_NAME, 0);
	if (dir == -1 || !shared || (!read_usage(dir, &u) && s == NULL))
		return;
	if (s != NULL)
		renew_shares(dir, &u, &s->team_shares);
	add_live(&u, ls, now);
	for (i = 0; i < q->n; i++)
		q->v[i].share_used = usage_share_used(&u, q->v[i].pipeline, now);
	if (me != NULL)
		me->share_used = usage_share_used(&u, me->pipeline, now);
	queue_sort(q);
}
