/*
 * See report_parts.h: adds up the records.  A lease is identified by user and container.  It counts from its grant to
 * its end, as far as that lies within the period.
 */
#include "report_parts.h"

#include <stdio.h>
#include <string.h>

#include "../../base/quoted.h"

#define SAME_BOOT_S 120		/* the two sources may differ by this much about one boot */

/* An open lease: from its grant or promise to its end. */
struct lease {
	char *name;
	struct row *of[SETS];	/* what it counts for; none: the filter excludes the record */
	int64_t since;
	bool holds;		/* false while its GPUs are only promised, or given back */
	size_t gpus;
	struct row *gpu[];
};

/* The ranges of waits, each up to so many seconds. */
static const struct range {
	int64_t below;
	const char *name;
} ranges[] = { { 10, "under 10 s" }, { 60, "10 s to 1 min" }, { 600, "1 to 10 min" }, { 3600, "10 min to 1 h" },
	{ INT64_MAX, "1 h and longer" } };
#define RANGES (sizeof(ranges) / sizeof(ranges[0]))

static void
count(struct row *const of[SETS], enum count c, int64_t n)
{
	size_t i;

	for (i = 0; i < SETS; i++)
		row_count(of[i], c, n);
}

/* Leases */

/* Notes what the lease used on each day. */
static void
add_days(struct report *r, const struct lease *l, int64_t until)
{
	int64_t at, end;
	struct moment *day;
	char time[32], name[QUOTED_MAX + 16];

	for (at = l->since; l->gpus > 0 && at < until; at = end) {
		end = (at / DAY_S + 1) * DAY_S < until ? (at / DAY_S + 1) * DAY_S : until;
		text_time(at, time);
		snprintf(name, sizeof(name), "%.10s %s", time, l->of[PIPELINES]->name);
		if ((day = names_get(r, USED, name, sizeof(*day))) != NULL) {
			day->at = at;
			day->pipeline = l->of[PIPELINES];
			day->seconds += (end - at) * (int64_t)l->gpus;
		}
	}
}

/* Counts the lease's GPU time up to t, if it still holds its GPUs. */
static void
let_go(struct report *r, struct lease *l, int64_t t)
{
	const int64_t held = t > l->since ? t - l->since : 0;
	struct row *gpu;
	size_t i;

	if (!l->holds)
		return;
	l->holds = false;
	count(l->of, SECONDS, held * (int64_t)l->gpus);
	add_days(r, l, t);
	for (i = 0; i < l->gpus; i++) {
		gpu = l->gpu[i];
		row_count(gpu, SECONDS, held);
		if (--gpu->holders == 0 && t > gpu->since) {
			row_count(gpu, BUSY, t - gpu->since);
			row_count(&r->total, BUSY, t - gpu->since);
		}
	}
}

/* Finds the row of "nvidia 0000:3b:00.0 GPU-... part 1g.5gb".  The UUID gets a line of its own, the second. */
static struct row *
gpu_row(struct report *r, const char *name)
{
	const char *uuid = strstr(name, " GPU-");
	const int len = uuid != NULL ? (int)strcspn(uuid + 1, " ") : 0;

	if (uuid == NULL)
		return row_get(r, GPUS, "%s", name);
	return row_get(r, GPUS, "%.*s%s\n%.*s", (int)(uuid - name), name, uuid + 1 + len, len, uuid + 1);
}

/*
 * Begins a lease, which holds GPUs unless the record is a promise.  If the same container still holds some, the record
 * of that lease's end is missing: it ends now.
 */
static void
begin_lease(struct report *r, const struct report_entry *e, struct lease *l)
{
	struct row *gpu;
	size_t i;

	if (l != NULL) {
		row_count(&r->total, REPLACED, l->holds && l->gpus > 0);
		let_go(r, l, e->time);
		names_remove(r, LEASES, e->lease);
	}
	l = names_get(r, LEASES, e->lease, sizeof(*l) + e->gpus.n * sizeof(l->gpu[0]));
	if (l == NULL)
		return;
	memcpy(l->of, e->of, sizeof(l->of));
	l->since = e->time;
	l->holds = e->event == EVENT_GRANT;
	for (i = 0; i < e->gpus.n && (gpu = gpu_row(r, e->gpus.v[i])) != NULL; i++) {
		if (gpu->holders++ == 0)
			gpu->since = e->time;
		row_count(gpu, GRANTS, e->counts);
		l->gpu[l->gpus++] = gpu;
	}
}

/* Ends all leases at each boot up to t: no lease outlives a boot, and the record of its end comes late or never. */
static void
boot_up_to(struct report *r, int64_t t)
{
	const struct moment *boot;
	struct lease *l;
	size_t i;

	while (r->next_boot < r->set[BOOTS].n && (boot = r->set[BOOTS].v[r->next_boot])->at <= t) {
		r->next_boot++;
		if (boot->at - r->booted <= SAME_BOOT_S)
			continue;
		r->booted = boot->at;
		for (i = 0; i < r->set[LEASES].n; i++) {
			l = r->set[LEASES].v[i];
			row_count(&r->total, CUT_BY_BOOT, l->holds && l->gpus > 0 && boot->at >= r->since);
			let_go(r, l, boot->at);
		}
	}
}

/* Ends a lease.  A lease that gave its GPUs back is kept, as it may get them again; so is one that is releasing. */
static void
end_lease(struct report *r, const struct report_entry *e, struct lease *l)
{
	const bool undo = e->event == EVENT_UNDO, drains = undo && e->releasing;

	/* without a grant, no record says which pipeline it was, so no filter can select it */
	row_count(&r->total, ORPHANS, l == NULL && e->counts && !drains && r->filter == NULL);
	row_count(&r->total, UNDONE, undo && e->counts &&
	    (l != NULL ? l->holds && l->of[TOTAL] != NULL : r->filter == NULL));
	if (l == NULL || drains)
		return;
	let_go(r, l, e->time);
	if (e->event != EVENT_GAVE_BACK)
		names_remove(r, LEASES, e->lease);
}

/* Records */

static void
take_grant(struct report *r, struct report_entry *e)
{
	size_t i;

	count(e->of, e->again ? AGAIN : GRANTS, 1);
	count(e->of, FOLDERS_ONLY, !e->again && e->gpus.n == 0);
	if (e->waited == 0 || e->of[TOTAL] == NULL)
		return;
	for (i = 0; e->waited >= ranges[i].below; i++)
		;
	e->of[WAIT_RANGES] = row_get(r, WAIT_RANGES, "%s", ranges[i].name);
	count(e->of, WAITS, 1);
	count(e->of, WAITED, e->waited);
	count(e->of, LONGEST, e->waited);
	count(e->of, WAITED_IN_ALL, e->waited);
}

static void
take_denial(const struct report_entry *e)
{
	size_t i;

	count(e->of, DENIALS, 1);
	count(e->of, PART + e->denial, 1);
	for (i = 0; i < SETS; i++)
		if (e->of[i] != NULL) {
			e->of[i]->n[LAST] = e->time;
			memcpy(e->of[i]->reason, e->reason, sizeof(e->reason));
		}
}

void
report_take(struct report *r, struct report_entry *e)
{
	struct row *const *of;
	struct lease *l;

	if (e->time > r->until)
		return;
	boot_up_to(r, e->time);
	if ((e->counts = e->time >= r->since)) {
		if (r->total.n[RECORDS]++ == 0 || e->time < r->first)
			r->first = e->time;
		r->last = e->time > r->last ? e->time : r->last;
		row_count(&r->total, LEFT_OUT, e->left_out);
	} else
		e->time = r->since;
	l = names_get(r, LEASES, e->lease, 0);
	if (e->event == EVENT_GRANT || e->event == EVENT_PROMISE)
		begin_lease(r, e, l);
	else if (e->event == EVENT_UNDO || e->event == EVENT_END || e->event == EVENT_GAVE_BACK)
		end_lease(r, e, l);
	if (e->event == EVENT_GRANT && e->counts)
		take_grant(r, e);
	else if (e->event == EVENT_REFUSE && e->counts)
		take_denial(e);
	else if (e->event == EVENT_ABANDON && e->counts) {
		/* the record lacks the instance variables, so those of the promise's record count */
		of = l != NULL ? l->of : e->of;
		count(of, ABANDONED, 1);
		count(of, IN_VAIN, e->waited);
		count(of, WAITED_IN_ALL, e->waited);
	}
}

void
report_finish(struct report *r)
{
	struct lease *l;
	struct row *row;
	size_t i, k;

	if (r->since == INT64_MIN)
		r->since = r->first;
	if (r->until == INT64_MAX)
		r->until = r->last > 0 ? r->last : r->since;
	boot_up_to(r, r->until);
	for (i = 0; i < r->set[LEASES].n; i++) {
		l = r->set[LEASES].v[i];
		count(l->of, HELD, l->holds && l->gpus > 0);
		let_go(r, l, r->until);
	}
	for (i = 0; i < RANGES && r->total.n[WAITS] > 0; i++)
		row_count(row_get(r, WAIT_RANGES, "%s", ranges[i].name), ORDER, (int64_t)(RANGES - i));
	for (k = 0; k < SETS; k++)
		for (i = 0; i < r->set[k].n; i++) {
			row = r->set[k].v[i];
			if ((row->more = strchr(row->name, '\n')) != NULL)
				*row->more++ = '\0';
			/* a team without an entry in team_shares has one part */
			if (k == TEAMS && row->n[PARTS] == 0)
				row->n[PARTS] = 1;
			if (k == GPUS)
				row->n[ORDER] = 1;
		}
	if (r->total.n[SECONDS] > 0)
		report_make_days(r);
}
