/*
 * See report.h: adds up the records.  Does not use jansson, which is too slow for a million of them.  A line may be
 * anything, and a record may contain text from tasks.  A lease is identified by user and container.  It counts from its
 * grant to its end, as far as that lies within the period.
 */
#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <utmpx.h>

#include "../../base/cleanup.h"
#include "../../base/quoted.h"
#include "../../json/doc.h"
#include "../../policy/usage.h"
#include "../audit/auditfilter.h"
#include "../audit/auditline.h"
#include "../audit/logset.h"
#include "../configload.h"
#include "../ctl.h"
#include "../when.h"

#define NAMES_MAX 20000
#define FURTHER "(further names)"
#define YEAR_2000 INT64_C(946684800)
#define YEAR_2200 INT64_C(7258118400)
#define SAME_BOOT_S 120		/* the two sources may differ by this much about one boot */

/* The events that the report counts.  The first ones name the pipeline and what else has rows. */
enum event { EVENT_GRANT, EVENT_PROMISE, EVENT_ABANDON, EVENT_REFUSE, EVENT_UNDO, EVENT_END, EVENT_GAVE_BACK, EVENTS };
static const char *const events[EVENTS] = { "grant", "promise", "abandon", "refuse", "undo", "end", "gave-back" };

struct record {
	const struct doc *d;
	enum event event;		/* EVENTS: another one */
	int64_t time;			/* seconds since 1970; not before the period */
	bool counts;			/* it lies in the period */
	struct row *of[SETS];		/* what counts it; none if the filter excludes it, or if its lease knows them */
	char lease[340];		/* identifies the lease: UID/CONTAINER */
};

/* An open lease: from its grant or promise to its end. */
struct lease {
	char *name;
	struct row *of[SETS];	/* what it counts for; none: the filter excludes the record */
	int64_t since;
	bool holds;		/* false while its GPUs are only promised, or given back */
	size_t gpus;
	struct row *gpu[];
};

/* What a pipeline used on one day. */
struct use {
	char *name;
	struct row *pipeline;
	int64_t day, seconds;		/* day: since 1970 */
};

/* The ranges of waits, each up to so many seconds. */
static const struct range {
	int64_t below;
	const char *name;
} ranges[] = { { 10, "under 10 s" }, { 60, "10 s to 1 min" }, { 600, "1 to 10 min" }, { 3600, "10 min to 1 h" },
	{ INT64_MAX, "1 h and longer" } };
#define RANGES (sizeof(ranges) / sizeof(ranges[0]))

/* Rows, and other lists */

/*
 * Finds or adds the struct with the name that the format makes; a new one has «size» bytes, all zero but its name.
 * Size 0: adds none.  After 20,000 names of rows, new ones share a row: refused requests could claim any number of
 * pipelines.  NULL: not found, or out of memory, with r->nomem set.
 */
static void * __attribute__((format(printf, 4, 5)))
names_get(struct report *r, enum set of, size_t size, const char *format, ...)
{
	struct names *s = &r->set[of];
	size_t low = 0, high = s->n, middle;
	autofree char *name = NULL;
	char **new = NULL;
	void **more = s->v;
	int differs = 1;
	va_list ap;

	va_start(ap, format);
	name = format_text(format, ap);
	va_end(ap);
	while (name != NULL && low < high && differs != 0) {
		middle = low + (high - low) / 2;
		if ((differs = strcmp(name, *(char **)s->v[middle])) > 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (differs == 0 || (name != NULL && size == 0))
		return differs == 0 ? s->v[high] : NULL;
	if (name != NULL && of < SETS && s->n >= NAMES_MAX && strcmp(name, FURTHER) != 0)
		return names_get(r, of, size, FURTHER);
	/* at each power of two, the room doubles */
	if ((s->n & (s->n - 1)) == 0 && (more = reallocarray(s->v, 2 * s->n + 1, sizeof(*more))) != NULL)
		s->v = more;
	if (name == NULL || more == NULL || (new = calloc(1, size)) == NULL) {
		r->nomem = true;
		return NULL;
	}
	*new = name;
	name = NULL;
	memmove(more + low + 1, more + low, (s->n++ - low) * sizeof(*more));
	return more[low] = new;
}

/* The same for a row. */
#define row_get(r, of, ...) ((struct row *)names_get(r, of, sizeof(struct row), __VA_ARGS__))

static void
names_remove(struct names *s, void *named)
{
	size_t at = s->n - 1;

	while (s->v[at] != named)
		at--;
	memmove(s->v + at, s->v + at + 1, (--s->n - at) * sizeof(*s->v));
	free(*(char **)named);
	free(named);
}

void
report_free(struct report *r)
{
	struct names *s;

	for (s = r->set; s < r->set + LISTS; s++) {
		while (s->n > 0)
			names_remove(s, s->v[s->n - 1]);
		free(s->v);
	}
}

void
row_count(struct row *row, enum count c, int64_t n)
{
	if (row != NULL && (c == LONGEST || c == LAST))
		row->n[c] = n > row->n[c] ? n : row->n[c];
	else if (row != NULL)
		row->n[c] += n;
}

static int
by_counts(const void *a, const void *b, void *by)
{
	const struct row *x = *(void *const *)a, *y = *(void *const *)b;
	const enum count *key = by;
	size_t i;

	for (i = 0; i <= KEYS; i++)
		if (x->n[key[i]] != y->n[key[i]])
			return x->n[key[i]] < y->n[key[i]] ? 1 : -1;
	return strcmp(x->name, y->name);
}

size_t
rows_sort(const struct names *rows, const enum count by[KEYS])
{
	enum count key[KEYS + 1] = { ORDER, by[0], by[1], by[2] };
	struct row none = { .name = (char []){ "" } };
	void *end = &none;
	size_t n = 0;

	if (rows->n > 0)
		qsort_r(rows->v, rows->n, sizeof(*rows->v), by_counts, key);
	while (n < rows->n && by_counts(&rows->v[n], &end, key) < 0)
		n++;
	return n;
}

/* Gets a string member without what can't be printed; "" if there is none. */
static const char *
get_member(const struct record *e, const char *key, char *out, size_t size)
{
	autofree char *text = doc_string(e->d, doc_get(e->d, 0, key));

	text_printable(out, size, text != NULL ? text : "");
	return out;
}

/* Gets a number; 0 if there is none, or it is negative. */
static int64_t
get_number(const struct record *e, const char *key)
{
	int64_t n;

	return doc_i64(e->d, doc_get(e->d, 0, key), &n) && n > 0 ? n : 0;
}

static void
count(struct row *const of[SETS], enum count c, int64_t n)
{
	size_t i;

	for (i = 0; i < SETS; i++)
		row_count(of[i], c, n);
}

/* Leases */

/* Counts the lease's GPU time up to t, in all and on each day, if it still holds its GPUs.  False if it held none. */
static bool
let_go(struct report *r, struct lease *l, int64_t t)
{
	const int64_t held = t > l->since ? t - l->since : 0, gpus = (int64_t)l->gpus;
	int64_t at, next;
	struct use *use;
	struct row *gpu;
	size_t i;

	if (!l->holds || gpus == 0)
		return l->holds = false;
	l->holds = false;
	count(l->of, SECONDS, held * gpus);
	for (at = l->since; at < t; at = next) {
		next = (at / DAY_S + 1) * DAY_S < t ? (at / DAY_S + 1) * DAY_S : t;
		use = names_get(r, USED, sizeof(*use), "%lld %s", (long long)(at / DAY_S), l->of[PIPELINES]->name);
		if (use == NULL)
			break;
		use->pipeline = l->of[PIPELINES];
		use->day = at / DAY_S;
		use->seconds += (next - at) * gpus;
	}
	for (i = 0; i < l->gpus; i++) {
		gpu = l->gpu[i];
		row_count(gpu, SECONDS, held);
		if (--gpu->holders == 0 && t > gpu->since) {
			row_count(gpu, BUSY, t - gpu->since);
			row_count(&r->total, BUSY, t - gpu->since);
		}
	}
	return true;
}

/*
 * Begins a lease, which holds GPUs unless the record is a promise.  If the same container still holds some, the record
 * of that lease's end is missing: it ends now.
 */
static void
begin_lease(struct report *r, const struct record *e, struct lease *l)
{
	uint32_t gpus = e->event == EVENT_GRANT && e->of[TOTAL] != NULL ? doc_get(e->d, 0, "gpus") : DOC_NONE, i;
	struct row *row;
	const char *uuid;
	size_t most, len;

	if (l != NULL) {
		row_count(&r->total, REPLACED, let_go(r, l, e->time));
		names_remove(&r->set[LEASES], l);
	}
	gpus = doc_is(e->d, gpus, DOC_ARRAY) ? gpus : DOC_NONE;
	most = gpus != DOC_NONE ? e->d->node[gpus].count : 0;
	if ((l = names_get(r, LEASES, sizeof(*l) + most * sizeof(row), "%s", e->lease)) == NULL)
		return;
	memcpy(l->of, e->of, sizeof(l->of));
	l->since = e->time;
	l->holds = e->event == EVENT_GRANT;
	for (i = doc_first(e->d, gpus); i != DOC_NONE; i = doc_next(e->d, i)) {
		autofree char *text = doc_string(e->d, i), *name = text != NULL ? printable(text) : NULL;

		if (name == NULL)
			continue;
		/* "nvidia 0000:3b:00.0 GPU-... part 1g.5gb": the UUID gets a line of its own, the second */
		uuid = strstr(name, " GPU-");
		len = uuid != NULL ? strcspn(uuid + 1, " ") : 0;
		row = uuid == NULL ? row_get(r, GPUS, "%s", name) :
		    row_get(r, GPUS, "%.*s%s\n%.*s", (int)(uuid - name), name, uuid + 1 + len, (int)len, uuid + 1);
		if (row == NULL)
			return;
		if (row->holders++ == 0)
			row->since = e->time;
		row->n[ORDER] = 1;
		row_count(row, GRANTS, e->counts);
		l->gpu[l->gpus++] = row;
	}
}

/* Ends all leases at each boot up to t: no lease outlives a boot, and the record of its end comes late or never. */
static void
boot_up_to(struct report *r, int64_t t)
{
	struct lease *l;
	int64_t boot;
	size_t i;

	for (; r->next_boot < r->set[BOOTS].n; r->next_boot++) {
		boot = strtoll(*(char **)r->set[BOOTS].v[r->next_boot], NULL, 10);
		if (boot > t)
			return;
		if (boot - r->booted <= SAME_BOOT_S)
			continue;
		r->booted = boot;
		for (i = 0; i < r->set[LEASES].n; i++) {
			l = r->set[LEASES].v[i];
			row_count(&r->total, CUT_BY_BOOT, let_go(r, l, boot) && boot >= r->since);
		}
	}
}

/* Ends a lease.  A lease that gave its GPUs back is kept, as it may get them again; so is one that is releasing. */
static void
end_lease(struct report *r, const struct record *e, struct lease *l)
{
	const bool undo = e->event == EVENT_UNDO, drains = undo && doc_is(e->d, doc_get(e->d, 0, "draining"), DOC_TRUE);

	/* without a grant, no record says which pipeline it was, so no filter can select it */
	row_count(&r->total, ORPHANS, l == NULL && e->counts && !drains && r->filter == NULL);
	row_count(&r->total, UNDONE, undo && e->counts &&
	    (l != NULL ? l->holds && l->of[TOTAL] != NULL : r->filter == NULL));
	if (l == NULL || drains)
		return;
	(void)let_go(r, l, e->time);
	if (e->event != EVENT_GAVE_BACK)
		names_remove(&r->set[LEASES], l);
}

/* Records */

/* Finds the rows that count the record.  What is quoted can't be read as ours: «(user root)», «x (a claim)». */
static void
find_rows(struct report *r, const struct options *o, struct record *e)
{
	const uint32_t identity = doc_get(e->d, 0, "identity");
	char user[80], team[256], pipeline[QUOTED_MAX], vars[1100];
	autobuf struct buf shown = { 0 };

	if (*get_member(e, "user", user, sizeof(user)) == '\0')
		snprintf(user, sizeof(user), "uid %lld", (long long)get_number(e, "uid"));
	audit_pipeline_name(get_member(e, "team", team, sizeof(team)), get_member(e, "pipeline", vars, 256), pipeline);
	get_member(e, "instance_vars", vars, sizeof(vars));
	if (!audit_filter_takes(o, pipeline, vars, get_number(e, "instance_vars_left_out") > 0))
		return;
	e->of[PIPELINES] = *pipeline != '\0' ? row_get(r, PIPELINES, "%s", quoted(pipeline)) :
	    doc_equals(e->d, identity, "caller") ? row_get(r, PIPELINES, "(user %s)", user) :
	    row_get(r, PIPELINES, "(no pipeline known)");
	audit_vars(vars, &shown);
	r->nomem |= shown.failed;
	if (r->nomem)
		return;
	e->of[TOTAL] = &r->total;
	if (*vars != '\0')
		e->of[INSTANCES] = row_get(r, INSTANCES, "%s %.1100s%s", e->of[PIPELINES]->name, shown.p,
		    doc_equals(e->d, identity, "claim") ? " (a claim)" : "");
	pipeline[usage_team(pipeline)] = '\0';
	if (e->event == EVENT_REFUSE)
		e->of[USERS] = row_get(r, USERS, "%s", user);
	else if ((e->of[TEAMS] = row_get(r, TEAMS, "%s", *pipeline != '\0' ? quoted(pipeline) : "(no team)")) != NULL)
		/* a team without an entry in team_shares has one part */
		e->of[TEAMS]->n[PARTS] += e->of[TEAMS]->n[PARTS] == 0;
}

/* Counts a record in the period.  «l» is the open lease of its container, or NULL. */
static void
take(struct report *r, struct record *e, const struct lease *l)
{
	/* an abandoned wait's record lacks the instance variables, so those of the promise's record count */
	struct row *const *of = e->event == EVENT_ABANDON && l != NULL ? l->of : e->of;
	/* in logs of versions that gave a container the GPUs which it had before */
	const bool again = doc_is(e->d, doc_get(e->d, 0, "again"), DOC_TRUE);
	const int64_t waited = e->event == EVENT_GRANT || e->event == EVENT_ABANDON ? get_number(e, "waited") : 0;
	char reason[REASON_SIZE];
	enum audit_kind kind;
	size_t i;

	if (of[TOTAL] == NULL)
		return;
	count(of, ABANDONED, e->event == EVENT_ABANDON);
	count(of, WAITED_IN_ALL, waited);
	if (e->event == EVENT_GRANT) {
		count(of, again ? AGAIN : GRANTS, 1);
		count(of, FOLDERS_ONLY, !again && doc_first(e->d, doc_get(e->d, 0, "gpus")) == DOC_NONE);
		for (i = 0; waited >= ranges[i].below; i++)
			;
		e->of[WAIT_RANGES] = waited > 0 ? row_get(r, WAIT_RANGES, "%s", ranges[i].name) : NULL;
		count(of, WAITS, waited > 0);
		count(of, WAITED, waited);
		count(of, LONGEST, waited);
	} else if (e->event == EVENT_REFUSE) {
		get_member(e, "reason", reason, sizeof(reason));
		kind = audit_kind_of((long)get_number(e, "code"), reason);
		e->of[DENIAL_KINDS] = row_get(r, DENIAL_KINDS, "%s\n%s", audit_kinds[kind].name,
		    audit_kinds[kind].meaning);
		count(of, DENIALS, 1);
		count(of, PART + kind, 1);
		for (i = TOTAL + 1; i < SETS; i++)
			if (of[i] != NULL) {
				of[i]->n[LAST] = e->time;
				memcpy(of[i]->reason, reason, sizeof(reason));
			}
	}
}

/*
 * Parses a record's line, and counts it if the command line selects it.  What can't be printed becomes '?', and names
 * that a stranger chose are quoted.  False if the line is no record: it is not JSON, has no event, or no time between
 * 2000 and 2200.
 */
static bool
read_record(struct report *r, const struct options *o, const char *line, size_t len)
{
	autodoc struct doc d = { 0 };
	struct record e = { .d = &d };
	char time[40], container[260];
	struct why ignored;
	struct lease *l;
	uint32_t event;

	if (doc_parse(&d, line, len, &ignored) == -1 || !doc_is(&d, event = doc_get(&d, 0, "event"), DOC_STRING) ||
	    !when_read(get_member(&e, "time", time, sizeof(time)), &e.time) || e.time < YEAR_2000 ||
	    e.time >= YEAR_2200)
		return false;
	if (e.time > r->until)
		return true;
	while (e.event < EVENTS && !doc_equals(&d, event, events[e.event]))
		e.event++;
	snprintf(e.lease, sizeof(e.lease), "%lld/%s", (long long)get_number(&e, "uid"),
	    get_member(&e, "container", container, sizeof(container)));
	boot_up_to(r, e.time);
	if ((e.counts = e.time >= r->since)) {
		if (r->total.n[RECORDS]++ == 0 || e.time < r->first)
			r->first = e.time;
		row_count(&r->total, LAST, e.time);
		row_count(&r->total, LEFT_OUT, get_number(&e, "suppressed"));
	} else
		e.time = r->since;
	if (e.event <= EVENT_REFUSE)
		find_rows(r, o, &e);
	l = names_get(r, LEASES, 0, "%s", e.lease);
	if (e.counts)
		take(r, &e, l);
	if (e.event == EVENT_GRANT || e.event == EVENT_PROMISE)
		begin_lease(r, &e, l);
	else if (e.event == EVENT_UNDO || e.event == EVENT_END || e.event == EVENT_GAVE_BACK)
		end_lease(r, &e, l);
	return true;
}

/* The end */

/* Makes the rows of DAYS, whose names are also in the order of their days, and r->series. */
static void
make_days(struct report *r)
{
	const int64_t first = r->since / DAY_S, last = (r->until - 1) / DAY_S;
	const size_t n = rows_sort(&r->set[PIPELINES], (enum count [KEYS]){ SECONDS });
	const struct use *use;
	int64_t day, begin, end;
	char date[32];
	struct row *row;
	size_t i;

	for (i = 0; i < n; i++) {
		row = r->set[PIPELINES].v[i];
		row->series = i < SERIES - 1 ? i : SERIES - 1;
		r->series[row->series] = i < SERIES - 1 ? row->name : "others";
	}
	for (r->days_each = 1; last - first >= r->days_each * DAYS_MAX; r->days_each *= r->days_each == 1 ? 7 : 4)
		;
	for (day = first; day <= last; day += r->days_each) {
		/* the first and the last day may be shorter than others; a filter hides GPUs of other pipelines */
		begin = day * DAY_S > r->since ? day * DAY_S : r->since;
		end = (day + r->days_each) * DAY_S < r->until ? (day + r->days_each) * DAY_S : r->until;
		text_time(day * DAY_S, date);
		row = row_get(r, DAYS, "%.10s", date);
		row_count(row, ORDER, last - day + 1);
		row_count(row, CAPACITY, r->filter == NULL ? (int64_t)r->set[GPUS].n * (end - begin) : 0);
	}
	for (i = 0; i < r->set[USED].n && !r->nomem; i++) {
		use = r->set[USED].v[i];
		row = r->set[DAYS].v[(use->day - first) / r->days_each];
		row->n[SECONDS] += use->seconds;
		row->n[PART + use->pipeline->series] += use->seconds;
	}
}

/* Counts open leases to the end of the period, and completes the rows. */
static void
finish(struct report *r)
{
	const int64_t last = r->total.n[LAST];
	struct lease *l;
	size_t i;

	if (r->since == INT64_MIN)
		r->since = r->first;
	if (r->until == INT64_MAX)
		r->until = last > 0 ? last : r->since;
	boot_up_to(r, r->until);
	for (i = 0; i < r->set[LEASES].n; i++) {
		l = r->set[LEASES].v[i];
		count(l->of, HELD, let_go(r, l, r->until));
	}
	for (i = 0; i < RANGES && r->total.n[WAITS] > 0; i++)
		row_count(row_get(r, WAIT_RANGES, "%s", ranges[i].name), ORDER, (int64_t)(RANGES - i));
	if (r->total.n[SECONDS] > 0)
		make_days(r);
}

/* What is read */

/* Finds the times when this host booted: a reboot ends all leases without a record. */
static void
find_boots(struct report *r)
{
	const struct utmpx *u;
	struct timespec up;

	utmpxname(_PATH_WTMPX);
	setutxent();
	while ((u = getutxent()) != NULL)
		if (u->ut_type == BOOT_TIME)
			(void)names_get(r, BOOTS, sizeof(char *), "%010lld", (long long)u->ut_tv.tv_sec);
	endutxent();
	if (clock_gettime(CLOCK_BOOTTIME, &up) == 0)
		(void)names_get(r, BOOTS, sizeof(char *), "%010lld", (long long)(time(NULL) - up.tv_sec));
}

/*
 * Takes the shares of the teams from gpuhelper.conf.  Logs on the command line may come from another host, so the
 * configuration that goes with them must be named, too.  -1 with *why if a named one can't be read.
 */
static int
add_shares(struct report *r, const struct options *o, struct why *why)
{
	autosettings struct settings settings = { 0 };
	struct row *team;
	char *is;
	size_t i;

	r->no_shares = "The teams' shares are not known: --config-dir names the configuration that has them.";
	if (o->args > 0 && !o->elsewhere)
		return 0;
	r->no_shares = "The teams' shares are not known: gpuhelper.conf can't be read (gpuhelperctl check).";
	if (config_settings(o, &settings, why) == -1)
		return o->elsewhere ? -1 : 0;
	r->no_shares = settings.team_shares.n > 0 ? NULL : "gpuhelper.conf gives the teams no shares (team_shares).";
	for (i = 0; i < settings.team_shares.n; i++) {
		is = strrchr(settings.team_shares.v[i], '=');
		*is = '\0';
		if ((team = row_get(r, TEAMS, "%s", quoted(settings.team_shares.v[i]))) != NULL) {
			team->n[ORDER] = 1;
			team->n[PARTS] = strtoll(is + 1, NULL, 10);
		}
	}
	return 0;
}

int
report_sum(struct report *r, const struct options *o, struct why *why)
{
	autologset struct log_set files = { .n = 0 };
	struct log_reader reader;
	const struct log_file *f;
	const char *line;
	ssize_t n;

	/* logs on the command line may come from another host, whose boots are unknown */
	if (o->args == 0)
		find_boots(r);
	if (add_shares(r, o, why) == -1 || log_set_open(o->arg, o->args, &files, why) == -1)
		return -1;
	for (f = files.v; f < files.v + files.n; f++) {
		if (log_open_file(&reader, f, why) == -1)
			return -1;
		while ((n = log_line(&reader, &line)) >= 0)
			row_count(&r->total, TORN, n > 0 && !read_record(r, o, line, (size_t)n));
		if (!log_close(&reader) || n == -2) {
			row_count(&r->total, DAMAGED, 1);
			(void)complain(WHY_DATA, "%s: can't read the file to its end: the report lacks the rest",
			    f->path);
		}
	}
	row_count(&r->total, FILES, (int64_t)files.n);
	finish(r);
	return r->nomem ? refuse_nomem(why) : 0;
}
