/*
 * See report.h: adds up the records.  A lease is identified by user and container.  It counts from its grant to its
 * end, as far as that lies within the period.
 */
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An open lease: from its grant or promise to its end. */
struct report_lease {
	char *name;
	struct row *of[SETS];	/* what it counts for; none: the filter excludes the record */
	struct row **gpu;
	size_t gpus;
	int64_t since;
	bool holds;		/* false while its GPUs are only promised, or given back */
};

/* Adds to what is known of the whole log, and of each of the rows. */
static void
count(struct report *r, struct row *const of[SETS], enum count c, int64_t n)
{
	size_t i;

	if (of[PIPELINES] == NULL)
		return;
	row_count(&r->total, c, n);
	for (i = 0; i < SETS; i++)
		row_count(of[i], c, n);
}

/* Finds the rows for which a record counts: none if the filter excludes it. */
static void
find_rows(struct report *r, const struct report_entry *e, struct row *of[SETS])
{
	char instance[sizeof(e->pipeline) + sizeof(e->vars) + 16], kind[128];

	memset(of, 0, SETS * sizeof(struct row *));
	/* other records end a lease, which has its rows */
	if (!e->wanted || e->event > EVENT_REFUSE)
		return;
	of[PIPELINES] = row_get(r, PIPELINES, e->pipeline);
	snprintf(instance, sizeof(instance), "%s %s%s", e->pipeline, e->vars, e->claimed ? " (a claim)" : "");
	if (e->vars[0] != '\0')
		of[INSTANCES] = row_get(r, INSTANCES, instance);
	if (e->event == EVENT_REFUSE) {
		of[USERS] = row_get(r, USERS, e->user);
		snprintf(kind, sizeof(kind), "%s\n%s", audit_kinds[e->denial].name, audit_kinds[e->denial].meaning);
		of[DENIAL_KINDS] = row_get(r, DENIAL_KINDS, kind);
	} else
		of[TEAMS] = row_get(r, TEAMS, e->team);
}

/* The row for waits as long as this one, beside which the ranges without waits must stand, too. */
static struct row *
range_of(struct report *r, int64_t waited)
{
	static const struct {
		int64_t below;		/* seconds */
		const char *name;
	} ranges[] = { { 10, "under 10 s" }, { 60, "10 s to 1 min" }, { 600, "1 to 10 min" }, { 3600, "10 min to 1 h" },
		{ INT64_MAX, "1 h and longer" } };
	struct row *row, *found = NULL;
	size_t i;

	for (i = sizeof(ranges) / sizeof(ranges[0]); i-- > 0;) {
		if ((row = row_get(r, WAIT_RANGES, ranges[i].name)) == NULL)
			return NULL;
		row->n[ORDER] = (int64_t)(sizeof(ranges) / sizeof(ranges[0]) - i);
		if (waited < ranges[i].below)
			found = row;
	}
	return found;
}

/* Leases */

/* Counts the lease's GPU time up to t, if it still holds its GPUs. */
static void
let_go(struct report *r, struct report_lease *l, int64_t t)
{
	const int64_t held = t > l->since ? t - l->since : 0;
	struct row *gpu;
	size_t i;

	if (!l->holds)
		return;
	l->holds = false;
	count(r, l->of, SECONDS, held * (int64_t)l->gpus);
	if (l->gpus > 0 && !row_add_days(l->of[PIPELINES], l->since, l->since + held, (int64_t)l->gpus))
		r->nomem = true;
	for (i = 0; i < l->gpus; i++) {
		gpu = l->gpu[i];
		row_count(gpu, SECONDS, held);
		if (--gpu->holders == 0 && t > gpu->since) {
			row_count(gpu, BUSY, t - gpu->since);
			row_count(&r->total, BUSY, t - gpu->since);
		}
	}
}

static void
free_lease(struct report_lease *l)
{
	free(l->gpu);
	free(l->name);
	free(l);
}

/*
 * Begins a lease, which holds GPUs unless the record is a promise.  If the same container still holds some, the record
 * of that lease's end is missing: it ends now.
 */
static void
begin_lease(struct report *r, const struct report_entry *e, struct row *const of[SETS])
{
	struct report_lease *l = names_find(&r->leases, e->lease);
	struct row *gpu, **more;
	size_t i;

	if (l != NULL && l->holds && l->gpus > 0) {
		row_count(&r->total, REPLACED, 1);
		let_go(r, l, e->time);
	}
	if ((l == NULL && (l = names_add(&r->leases, e->lease, sizeof(*l))) == NULL) ||
	    (more = reallocarray(l->gpu, e->gpus.n + 1, sizeof(*more))) == NULL) {
		r->nomem = true;
		return;
	}
	memcpy(l->of, of, sizeof(l->of));
	l->since = e->time;
	l->holds = e->event == EVENT_GRANT;
	l->gpu = more;
	l->gpus = 0;
	for (i = 0; e->wanted && i < e->gpus.n && (gpu = row_get(r, GPUS, e->gpus.v[i])) != NULL; i++) {
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
	struct report_lease *l;
	int64_t at;
	size_t i;

	while (r->next_boot < r->boots && (at = r->boot[r->next_boot]) <= t) {
		r->next_boot++;
		for (i = 0; i < r->leases.n; i++) {
			l = r->leases.v[i];
			row_count(&r->total, CUT_BY_BOOT, l->holds && l->gpus > 0 && at >= r->since);
			let_go(r, l, at);
		}
	}
}

/* Records */

static void
take_grant(struct report *r, const struct report_entry *e, struct row *of[SETS])
{
	begin_lease(r, e, of);
	if (!e->counts || !e->wanted || e->event == EVENT_PROMISE)
		return;
	count(r, of, e->again ? AGAIN : GRANTS, 1);
	count(r, of, FOLDERS_ONLY, !e->again && e->gpus.n == 0);
	if (e->waited == 0)
		return;
	of[WAIT_RANGES] = range_of(r, e->waited);
	count(r, of, WAITS, 1);
	count(r, of, WAITED, e->waited);
	count(r, of, LONGEST, e->waited);
	count(r, of, WAITED_IN_ALL, e->waited);
}

/* The record lacks the instance variables, so those of the promise's record count. */
static void
take_abandoned(struct report *r, const struct report_entry *e, struct row *const of[SETS])
{
	count(r, of, ABANDONED, 1);
	count(r, of, IN_VAIN, e->waited);
	count(r, of, WAITED_IN_ALL, e->waited);
}

static void
take_denial(struct report *r, const struct report_entry *e, struct row *const of[SETS])
{
	size_t i;

	count(r, of, DENIALS, 1);
	count(r, of, PART + e->denial, 1);
	for (i = 0; i < SETS; i++)
		if (of[i] != NULL) {
			of[i]->n[LAST] = e->time;
			memcpy(of[i]->reason, e->reason, sizeof(e->reason));
		}
}

/* Ends a lease.  A lease that gave its GPUs back is kept, as it may get them again; so is one that drains. */
static void
end_lease(struct report *r, const struct report_entry *e, struct report_lease *l)
{
	const bool undo = e->event == EVENT_UNDO, drains = undo && e->draining;

	if (l == NULL) {
		/* no record says which pipeline it was, so no filter can select it */
		row_count(&r->total, UNDONE, undo && e->counts && r->filter == NULL);
		row_count(&r->total, ORPHANS, !drains && e->counts && r->filter == NULL);
		return;
	}
	row_count(&r->total, UNDONE, undo && e->counts && l->holds && l->of[PIPELINES] != NULL);
	if (drains)
		return;
	let_go(r, l, e->time);
	if (e->event != EVENT_GAVE_BACK) {
		names_remove(&r->leases, l->name);
		free_lease(l);
	}
}

void
report_take(struct report *r, struct report_entry *e)
{
	struct report_lease *l;
	struct row *of[SETS];

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
	l = names_find(&r->leases, e->lease);
	find_rows(r, e, of);
	if (e->event == EVENT_GRANT || e->event == EVENT_PROMISE)
		take_grant(r, e, of);
	else if (e->event == EVENT_ABANDON && e->counts)
		take_abandoned(r, e, l != NULL ? l->of : of);
	else if (e->event == EVENT_REFUSE && e->counts)
		take_denial(r, e, of);
	else if (e->event == EVENT_END || e->event == EVENT_GAVE_BACK || e->event == EVENT_UNDO)
		end_lease(r, e, l);
}

void
report_take_shares(struct report *r, const struct strlist *shares)
{
	char name[NAME_SIZE];
	const char *is;
	struct row *team;
	uint32_t parts;
	size_t i;

	r->shares = shares->n > 0 ? SHARES_SET : SHARES_UNSET;
	for (i = 0; i < shares->n; i++) {
		is = strrchr(shares->v[i], '=');
		snprintf(name, sizeof(name), "%.*s", (int)(is - shares->v[i]), shares->v[i]);
		team = row_get(r, TEAMS, quoted(name));
		if (team != NULL && text_u32(is + 1, 1, UINT32_MAX, &parts)) {
			team->n[ORDER] = 1;
			team->n[PARTS] = parts;
		}
	}
}

/* Adds to a row what no record tells. */
static void
complete(struct row *row, enum set set)
{
	if ((row->more = strchr(row->name, '\n')) != NULL)
		*row->more++ = '\0';
	/* a team without an entry in team_shares has one part */
	if (set == TEAMS && row->n[PARTS] == 0)
		row->n[PARTS] = 1;
	if (set == GPUS)
		row->n[ORDER] = 1;
}

void
report_finish(struct report *r)
{
	struct report_lease *l;
	size_t i, k;

	if (r->since == INT64_MIN)
		r->since = r->first;
	if (r->until == INT64_MAX)
		r->until = r->last > 0 ? r->last : r->since;
	boot_up_to(r, r->until);
	for (i = 0; i < r->leases.n; i++) {
		l = r->leases.v[i];
		count(r, l->of, HELD, l->holds && l->gpus > 0);
		let_go(r, l, r->until);
	}
	for (k = 0; k < SETS; k++)
		for (i = 0; i < r->set[k].n; i++)
			complete(r->set[k].v[i], (enum set)k);
	if (r->total.n[SECONDS] > 0)
		report_make_days(r);
}

void
report_free(struct report *r)
{
	struct row *row;
	size_t i, k;

	for (i = 0; i < r->leases.n; i++)
		free_lease(r->leases.v[i]);
	free(r->leases.v);
	for (k = 0; k < SETS; k++) {
		for (i = 0; i < r->set[k].n; i++) {
			row = r->set[k].v[i];
			free(row->name);
			free(row->day);
			free(row);
		}
		free(r->set[k].v);
	}
	free(r->boot);
}
