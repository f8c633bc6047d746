/*
 * See report.h: adds up the records.  A lease is identified by user and container.  It counts from its grant to its
 * end, as far as that lies within the period.
 */
#include "report.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MAX 20000		/* of a kind: refused requests could claim any number of pipelines */
#define LEASES_MAX 100000	/* open leases; with more, the oldest is dropped */
#define FURTHER "(further names)"

const struct report_wait report_waits[WAITS] = {
	{ 10, "under 10 s" }, { 60, "10 s to 1 min" }, { 600, "1 to 10 min" }, { 3600, "10 min to 1 h" },
	{ INT64_MAX, "1 h and longer" },
};

/* An open lease: from its grant or promise to its end. */
struct report_lease {
	char *name;
	struct report_lease *older, *newer;
	struct report_pipeline *pipeline;
	struct report_instance *instance;	/* NULL: the record has no instance variables */
	struct report_team *team;		/* NULL: the filter excludes the record */
	struct report_gpu **gpu;
	size_t gpus;
	int64_t since;
	bool holds;		/* false while its GPUs are only promised, or given back */
	bool booted;		/* the host has booted since it began */
};

/* Names */

struct any_named {
	char *name;
};

static int
by_struct_name(const void *a, const void *b)
{
	return strcmp(((const struct any_named *)a)->name, ((const struct any_named *)b)->name);
}

static void *
find_named(void *const *tree, const char *name)
{
	const struct any_named key = { (char *)(uintptr_t)name };
	void *const *at = tfind(&key, tree, by_struct_name);

	return at != NULL ? *at : NULL;
}

/* Adds a zeroed struct of this size with this name to the tree; NULL: out of memory. */
static void *
add_named(void **tree, const char *name, size_t size)
{
	struct any_named *new = calloc(1, size);

	if (new == NULL || (new->name = strdup(name)) == NULL || tsearch(new, tree, by_struct_name) == NULL) {
		if (new != NULL)
			free(new->name);
		free(new);
		return NULL;
	}
	return new;
}

static bool
make_room(struct named *t)
{
	const size_t cap = t->cap * 2 + 64;
	void **more;

	if (t->n < t->cap)
		return true;
	if ((more = reallocarray(t->v, cap, sizeof(*more))) == NULL)
		return false;
	t->v = more;
	t->cap = cap;
	return true;
}

/* Finds or adds the struct with this name.  After NAMES_MAX names, new ones share FURTHER.  NULL, with r->nomem set. */
static void *
get_named(struct report *r, struct named *t, const char *name, size_t size)
{
	void *it = find_named(&t->tree, name);

	if (it == NULL && t->n >= NAMES_MAX && (it = find_named(&t->tree, FURTHER)) == NULL)
		name = FURTHER;
	if (it != NULL)
		return it;
	if (!make_room(t) || (it = add_named(&t->tree, name, size)) == NULL) {
		r->nomem = true;
		return NULL;
	}
	return t->v[t->n++] = it;
}

struct report_team *
report_team(struct report *r, const char *name)
{
	return get_named(r, &r->teams, name, sizeof(struct report_team));
}

/* Time */

static int64_t
clamp_to_period(const struct report *r, int64_t t)
{
	return t < r->since ? r->since : t > r->until ? r->until : t;
}

/* Extends p->day to the days from «from» to «to».  It may grow at both ends, since leases end in any order. */
static bool
reach_days(struct report_pipeline *p, int64_t from, int64_t to)
{
	const int64_t first = p->days == 0 || from < p->first_day ? from : p->first_day;
	const int64_t last = p->days == 0 || to >= p->first_day + (int64_t)p->days ? to : p->first_day + (int64_t)p->days - 1;
	const size_t n = (size_t)(last - first + 1);
	int64_t *day;

	if (n == p->days)
		return true;
	if ((day = calloc(n, sizeof(*day))) == NULL)
		return false;
	if (p->days > 0)
		memcpy(day + (p->first_day - first), p->day, p->days * sizeof(*day));
	free(p->day);
	p->day = day;
	p->days = n;
	p->first_day = first;
	return true;
}

/* Adds the use of some GPUs between two times. */
static void
add_time(struct report *r, struct report_pipeline *p, int64_t from, int64_t to, size_t gpus)
{
	const int64_t n = (int64_t)gpus;
	int64_t day, end;

	from = clamp_to_period(r, from);
	to = clamp_to_period(r, to);
	if (gpus == 0 || to <= from)
		return;
	if (!reach_days(p, from / DAY_S, (to - 1) / DAY_S)) {
		r->nomem = true;
		return;
	}
	p->seconds += (to - from) * n;
	r->seconds += (to - from) * n;
	for (; from < to; from = end) {
		day = from / DAY_S;
		end = (day + 1) * DAY_S < to ? (day + 1) * DAY_S : to;
		p->day[day - p->first_day] += (end - from) * n;
	}
}

static void
gpu_begins(struct report_gpu *g, int64_t t)
{
	if (g->holders++ == 0)
		g->since = t;
}

static void
gpu_ends(const struct report *r, struct report_gpu *g, int64_t from, int64_t t)
{
	const int64_t busy = clamp_to_period(r, t) - clamp_to_period(r, g->since);
	const int64_t held = clamp_to_period(r, t) - clamp_to_period(r, from);

	g->seconds += held > 0 ? held : 0;
	if (--g->holders == 0)
		g->busy += busy > 0 ? busy : 0;
}

/* Leases */

/* Counts the lease's GPU time up to t, if it still holds its GPUs. */
static void
let_go(struct report *r, struct report_lease *l, int64_t t)
{
	const int64_t held = clamp_to_period(r, t) - clamp_to_period(r, l->since);
	size_t i;

	if (!l->holds)
		return;
	l->holds = false;
	if (l->instance != NULL && held > 0)
		l->instance->seconds += held * (int64_t)l->gpus;
	if (l->team != NULL && held > 0)
		l->team->seconds += held * (int64_t)l->gpus;
	add_time(r, l->pipeline, l->since, t, l->gpus);
	for (i = 0; i < l->gpus; i++)
		gpu_ends(r, l->gpu[i], l->since, t);
}

static void
remove_lease(struct report *r, struct report_lease *l)
{
	*(l->older != NULL ? &l->older->newer : &r->oldest) = l->newer;
	*(l->newer != NULL ? &l->newer->older : &r->newest) = l->older;
	tdelete(l, &r->tree, by_struct_name);
	r->leases--;
	free(l->gpu);
	free(l->name);
	free(l);
}

static struct report_lease *
add_lease(struct report *r, const char *name)
{
	struct report_lease *l;

	if (r->leases >= LEASES_MAX) {
		r->replaced += r->oldest->holds;
		let_go(r, r->oldest, r->oldest->since);
		remove_lease(r, r->oldest);
	}
	if ((l = add_named(&r->tree, name, sizeof(*l))) == NULL) {
		r->nomem = true;
		return NULL;
	}
	l->older = r->newest;
	*(r->newest != NULL ? &r->newest->newer : &r->oldest) = l;
	r->newest = l;
	r->leases++;
	return l;
}

static bool
take_gpus(struct report *r, struct report_lease *l, const struct report_entry *e)
{
	size_t i;

	free(l->gpu);
	l->gpus = 0;
	if ((l->gpu = calloc(e->gpus.n + 1, sizeof(struct report_gpu *))) == NULL)
		return false;
	for (i = 0; e->wanted && i < e->gpus.n; i++) {
		if ((l->gpu[i] = get_named(r, &r->gpus, e->gpus.v[i], sizeof(struct report_gpu))) == NULL)
			return false;
		gpu_begins(l->gpu[i], e->time);
		l->gpu[i]->grants += e->time >= r->since;
		l->gpus = i + 1;
	}
	return true;
}

/*
 * Begins a lease, which holds GPUs unless the record is a promise.  If the same container still holds some, the record
 * of that lease's end is missing: it ends now.
 */
static void
begin_lease(struct report *r, const struct report_entry *e, struct report_pipeline *p, struct report_instance *instance)
{
	struct report_lease *l = find_named(&r->tree, e->lease);

	if (l != NULL && l->holds && l->gpus > 0) {
		r->replaced++;
		let_go(r, l, e->time);
	}
	if (l == NULL && (l = add_lease(r, e->lease)) == NULL)
		return;
	l->pipeline = p;
	l->instance = instance;
	l->team = e->wanted ? report_team(r, e->team) : NULL;
	l->since = e->time;
	l->holds = e->event == EVENT_GRANT;
	l->booted = false;
	if (!take_gpus(r, l, e))
		r->nomem = true;
}

/* Ends a lease.  A lease that gave its GPUs back is kept, as it may get them again. */
static void
end_lease(struct report *r, const struct report_entry *e)
{
	struct report_lease *l = find_named(&r->tree, e->lease);

	if (l == NULL) {
		/* no record says which pipeline it was, so no filter can select it */
		r->orphans += e->time >= r->since && r->filter == NULL;
		return;
	}
	let_go(r, l, e->time);
	if (e->event != EVENT_GAVE_BACK)
		remove_lease(r, l);
}

/*
 * Ends all leases at each boot up to t: a lease does not outlive a boot, and the record of its end comes late or never.
 * Forgets leases that were over at the boot before.
 */
static void
boot_up_to(struct report *r, int64_t t)
{
	struct report_lease *l, *newer;
	int64_t at;

	while (r->next_boot < r->boots && r->boot[r->next_boot] <= t) {
		at = r->boot[r->next_boot++];
		for (l = r->oldest; l != NULL; l = newer) {
			newer = l->newer;
			if (l->booted)
				remove_lease(r, l);
			else if (l->since <= at) {
				r->cut_by_boot += l->holds && l->gpus > 0 && at >= r->since;
				let_go(r, l, at);
				l->booted = true;
			}
		}
	}
}

/* Records */

static void
count_wait(struct report *r, struct report_pipeline *p, int64_t waited)
{
	size_t i;

	if (waited == 0)
		return;
	for (i = 0; waited >= report_waits[i].below; i++)
		;
	r->waits[i]++;
	r->waited += waited;
	r->longest = waited > r->longest ? waited : r->longest;
	p->waits++;
	p->waited += waited;
	p->longest = waited > p->longest ? waited : p->longest;
}

static void
count_team_wait(struct report_team *t, int64_t waited)
{
	if (t != NULL)
		t->waited += waited;
}

/* The record's instance; NULL if it has no instance variables, or memory is short. */
static struct report_instance *
instance_of(struct report *r, const struct report_entry *e)
{
	char name[sizeof(e->pipeline) + sizeof(e->vars) + 16];

	if (e->vars[0] == '\0')
		return NULL;
	snprintf(name, sizeof(name), "%s %s%s", e->pipeline, e->vars, e->claimed ? " (a claim)" : "");
	return get_named(r, &r->instances, name, sizeof(struct report_instance));
}

static void
take_grant(struct report *r, const struct report_entry *e, bool counts)
{
	struct report_pipeline *p = e->wanted ? get_named(r, &r->pipelines, e->pipeline, sizeof(*p)) : &r->unwanted;
	struct report_instance *instance = e->wanted ? instance_of(r, e) : NULL;

	if (p == NULL)
		return;
	p->named = e->named;
	begin_lease(r, e, p, instance);
	if (!counts || !e->wanted)
		return;
	if (instance != NULL)
		instance->grants += !e->again;
	if (e->again)
		r->again++;
	else {
		r->grants++;
		p->grants++;
		r->without_gpus += e->gpus.n == 0;
	}
	count_wait(r, p, e->waited);
	count_team_wait(report_team(r, e->team), e->waited);
}

static void
take_promise(struct report *r, const struct report_entry *e)
{
	struct report_pipeline *p = e->wanted ? get_named(r, &r->pipelines, e->pipeline, sizeof(*p)) : &r->unwanted;

	if (p == NULL)
		return;
	p->named = e->named;
	begin_lease(r, e, p, e->wanted ? instance_of(r, e) : NULL);
}

/* The record lacks the instance variables, so the promise's record says whether it is wanted. */
static void
take_abandoned(struct report *r, const struct report_entry *e)
{
	const struct report_lease *l = find_named(&r->tree, e->lease);
	struct report_pipeline *p = l != NULL ? l->pipeline : e->wanted ?
	    get_named(r, &r->pipelines, e->pipeline, sizeof(*p)) : &r->unwanted;

	if (p == NULL || p == &r->unwanted)
		return;
	p->named = l != NULL ? p->named : e->named;
	p->abandoned++;
	r->abandoned++;
	r->waited_in_vain += e->waited;
	count_team_wait(l != NULL ? l->team : report_team(r, e->team), e->waited);
}

static void
take_denial(struct report *r, const struct report_entry *e)
{
	struct report_pipeline *p = get_named(r, &r->pipelines, e->pipeline, sizeof(*p));
	struct report_user *u = get_named(r, &r->users, e->user, sizeof(*u));
	struct report_instance *instance = instance_of(r, e);

	if (instance != NULL) {
		instance->denials++;
		memcpy(instance->reason, e->reason, sizeof(instance->reason));
	}
	if (p == NULL || u == NULL)
		return;
	p->named = e->named;
	p->denied[e->denial]++;
	p->denials++;
	memcpy(p->reason, e->reason, sizeof(p->reason));
	r->denied[e->denial]++;
	r->denials++;
	u->denials++;
	u->last = e->time;
	memcpy(u->reason, e->reason, sizeof(u->reason));
}

/*
 * True if the record undoes a grant, not a promise, and the filter selects it.  Must run before end_lease(), which
 * forgets the lease.
 */
static bool
undoes_wanted(struct report *r, const struct report_entry *e)
{
	const struct report_lease *l = find_named(&r->tree, e->lease);

	return l == NULL ? r->filter == NULL : l->holds && l->pipeline != &r->unwanted;
}

void
report_take(struct report *r, const struct report_entry *e)
{
	const bool counts = e->time >= r->since && e->time <= r->until;

	if (counts) {
		if (r->records++ == 0 || e->time < r->first)
			r->first = e->time;
		r->last = r->records == 1 || e->time > r->last ? e->time : r->last;
		r->left_out += e->left_out;
	} else
		r->outside++;
	if (e->time > r->until)
		return;
	boot_up_to(r, e->time);
	r->undone += e->event == EVENT_UNDO && counts && undoes_wanted(r, e);
	if (e->event == EVENT_GRANT)
		take_grant(r, e, counts);
	else if (e->event == EVENT_PROMISE)
		take_promise(r, e);
	else if (e->event == EVENT_ABANDON && counts)
		take_abandoned(r, e);
	else if (e->event == EVENT_REFUSE && counts && e->wanted)
		take_denial(r, e);
	else if (e->event == EVENT_END || e->event == EVENT_GAVE_BACK || (e->event == EVENT_UNDO && !e->draining))
		end_lease(r, e);
}

int
report_order(const int64_t x[2], const char *x_name, const int64_t y[2], const char *y_name)
{
	size_t i;

	for (i = 0; i < 2; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? 1 : -1;
	return strcmp(x_name, y_name);
}

static int
by_seconds(const void *a, const void *b)
{
	const struct report_pipeline *x = *(void *const *)a, *y = *(void *const *)b;

	return report_order((int64_t [2]){ x->seconds, (int64_t)x->grants }, x->name,
	    (int64_t [2]){ y->seconds, (int64_t)y->grants }, y->name);
}

static int
by_instance_seconds(const void *a, const void *b)
{
	const struct report_instance *x = *(void *const *)a, *y = *(void *const *)b;

	return report_order((int64_t [2]){ x->seconds, (int64_t)(x->grants + x->denials) }, x->name,
	    (int64_t [2]){ y->seconds, (int64_t)(y->grants + y->denials) }, y->name);
}

static int
by_denials(const void *a, const void *b)
{
	const struct report_pipeline *x = *(void *const *)a, *y = *(void *const *)b;

	return report_order((int64_t [2]){ (int64_t)x->denials }, x->name, (int64_t [2]){ (int64_t)y->denials }, y->name);
}

static int
by_user_denials(const void *a, const void *b)
{
	const struct report_user *x = *(void *const *)a, *y = *(void *const *)b;

	return report_order((int64_t [2]){ (int64_t)x->denials }, x->name, (int64_t [2]){ (int64_t)y->denials }, y->name);
}

static int
by_gpu_name(const void *a, const void *b)
{
	return by_struct_name(*(void *const *)a, *(void *const *)b);
}

static void
sort_named(struct named *t, int (*by)(const void *, const void *))
{
	if (t->n > 1)
		qsort(t->v, t->n, sizeof(*t->v), by);
}

void
report_sort_denied(struct named *pipelines)
{
	sort_named(pipelines, by_denials);
}

void
report_finish(struct report *r)
{
	struct report_lease *l;

	r->from = r->since != INT64_MIN ? r->since : r->records > 0 ? r->first : 0;
	r->to = r->until != INT64_MAX ? r->until : r->records > 0 ? r->last : r->from;
	boot_up_to(r, r->to);
	for (l = r->oldest; l != NULL; l = l->newer) {
		if (!l->holds || l->gpus == 0)
			continue;
		r->held++;
		l->pipeline->held++;
		let_go(r, l, r->to);
	}
	sort_named(&r->pipelines, by_seconds);
	sort_named(&r->gpus, by_gpu_name);
	sort_named(&r->users, by_user_denials);
	sort_named(&r->instances, by_instance_seconds);
}

static void
nothing(void *node)
{
	(void)node;
}

static void
free_named(struct named *t)
{
	size_t i;

	tdestroy(t->tree, nothing);
	for (i = 0; i < t->n; i++) {
		free(((struct any_named *)t->v[i])->name);
		free(t->v[i]);
	}
	free(t->v);
}

void
report_free(struct report *r)
{
	size_t i;

	while (r->oldest != NULL)
		remove_lease(r, r->oldest);
	for (i = 0; i < r->pipelines.n; i++)
		free(((struct report_pipeline *)r->pipelines.v[i])->day);
	free_named(&r->pipelines);
	free_named(&r->gpus);
	free_named(&r->users);
	free_named(&r->instances);
	free_named(&r->teams);
}
