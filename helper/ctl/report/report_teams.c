/*
 * See report.h: the section about teams, and what each held against its share.  It counts whole hours of the period,
 * unlike the helper, to which the last half hour means the most (policy/usage.h).
 */
#include "report.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/cleanup.h"

#define ROWS 25

void
report_take_shares(struct report *r, const struct strlist *shares)
{
	char text[QUOTED_MAX];
	struct report_team *t;
	const char *is;
	size_t i;

	r->shares = shares->n > 0 ? SHARES_SET : SHARES_UNSET;
	for (i = 0; i < shares->n; i++) {
		autofree char *name = NULL;

		is = strrchr(shares->v[i], '=');
		if ((name = strndup(shares->v[i], (size_t)(is - shares->v[i]))) == NULL)
			r->nomem = true;
		else if ((t = report_team(r, quoted_text(name, text))) != NULL)
			(void)text_u32(is + 1, 1, UINT32_MAX, &t->parts);
	}
}

/* Those with a share first, which are all shown; then by what they held. */
static int
by_share(const void *a, const void *b)
{
	const struct report_team *x = *(void *const *)a, *y = *(void *const *)b;

	return report_order((int64_t [2]){ x->parts > 0, x->seconds }, x->name,
	    (int64_t [2]){ y->parts > 0, y->seconds }, y->name);
}

static uint32_t
parts_of(const struct report_team *t)
{
	return t->parts > 0 ? t->parts : 1;
}

/* Fills in the percentages of the teams that are shown. */
static void
compare(const struct report *r, struct report_team **team, size_t n)
{
	double parts = 0;
	size_t i;

	for (i = 0; i < n; i++)
		parts += parts_of(team[i]);
	for (i = 0; i < n; i++) {
		team[i]->held = 100 * (double)team[i]->seconds / (double)r->seconds;
		team[i]->share = 100 * parts_of(team[i]) / parts;
		team[i]->over = team[i]->held - team[i]->share;
	}
}

static void
add_table(struct buf *b, const struct report *r, struct report_team **team, size_t n)
{
	static const struct table_column columns[] = {
		{ "GPU hours", CELL_HOURS, offsetof(struct report_team, seconds) },
		{ "Held of all", CELL_PERCENT, offsetof(struct report_team, held) },
		{ "Waited", CELL_DURATION, offsetof(struct report_team, waited) },
		{ "Share", CELL_PERCENT, offsetof(struct report_team, share) },
		{ "Points over share", CELL_POINTS, offsetof(struct report_team, over) },
	};
	const size_t without_shares = 3;
	const struct table table = { "GPU time by team", "Team", columns, r->shares == SHARES_SET ? 5 : without_shares, 0,
		NULL, NULL };
	struct report_team rest = { .seconds = 0 };
	size_t i, most;

	for (most = 0; most < n && (most < ROWS || team[most]->parts > 0); most++)
		;
	for (i = most; i < n; i++) {
		rest.seconds += team[i]->seconds;
		rest.waited += team[i]->waited;
		rest.held += team[i]->held;
		rest.share += team[i]->share;
		rest.over += team[i]->over;
	}
	table_add(b, &table, (const void *const *)team, n, most, &rest);
}

static const char *const says[] = {
	[SHARES_UNASKED] = "The teams' shares are not known: --config-dir names the configuration that has them.",
	[SHARES_UNREADABLE] = "The teams' shares are not known: gpuhelper.conf can't be read (gpuhelperctl check).",
	[SHARES_UNSET] = "gpuhelper.conf gives the teams no shares (team_shares).",
	[SHARES_SET] = ("The share is that of team_shares in gpuhelper.conf, among these teams; one without an entry has 1 "
	    "part. Only teams that wait claim their share: while nobody else waits, a team may hold more."),
};

/* With a filter, a share of what the filter leaves means nothing. */
bool
report_has_teams(const struct report *r)
{
	return r->filter == NULL && r->seconds > 0;
}

void
report_teams(struct buf *b, struct report *r)
{
	autofree struct report_team **team = calloc(r->teams.n + 1, sizeof(*team));
	struct report_team *t;
	size_t i, n = 0;

	if (team == NULL) {
		b->failed = true;
		return;
	}
	for (i = 0; i < r->teams.n; i++) {
		t = r->teams.v[i];
		if (t->parts > 0 || t->seconds > 0 || t->waited > 0)
			team[n++] = t;
	}
	qsort(team, n, sizeof(*team), by_share);
	compare(r, team, n);
	buf_printf(b, "<p class=\"soft\">%s Waits that ended with a grant or were abandoned are added up; a denial records "
	    "no time.</p>\n", says[r->shares]);
	add_table(b, r, team, n);
}
