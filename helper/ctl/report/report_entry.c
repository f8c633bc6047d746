/*
 * See report_parts.h.  Does not use jansson, which is too slow for a million records.  A line may be anything, and a
 * record may contain text from tasks.
 */
#include "report_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "../../base/quoted.h"
#include "../../json/doc.h"
#include "../../policy/usage.h"
#include "../audit/auditfilter.h"
#include "../audit/auditline.h"
#include "../when.h"

#define YEAR_2000 INT64_C(946684800)
#define YEAR_2200 INT64_C(7258118400)

/* Gets a string member without what can't be printed; "" if there is none. */
static const char *
get_member(const struct doc *d, const char *key, char *out, size_t size)
{
	autofree char *text = doc_string(d, doc_get(d, 0, key));

	text_printable(out, size, text != NULL ? text : "");
	return out;
}

/* Gets a number; 0 if there is none, or it is negative. */
static int64_t
get_number(const struct doc *d, const char *key)
{
	int64_t n;

	return doc_i64(d, doc_get(d, 0, key), &n) && n > 0 ? n : 0;
}

static bool
take_event(const struct doc *d, struct report_entry *e)
{
	static const char *const events[] = { "grant", "promise", "abandon", "refuse", "undo", "end", "gave-back" };
	const uint32_t event = doc_get(d, 0, "event");
	char time[40];

	for (e->event = 0; e->event < EVENT_OTHER && !doc_equals(d, event, events[e->event]); e->event++)
		;
	return doc_is(d, event, DOC_STRING) && when_read(get_member(d, "time", time, sizeof(time)), &e->time) &&
	    e->time >= YEAR_2000 && e->time < YEAR_2200;
}

/* Finds the rows that count the record.  What is quoted can't be read as ours: «(user root)», «x (a claim)». */
static void
find_rows(struct report *r, const struct options *o, const struct doc *d, struct report_entry *e)
{
	const uint32_t identity = doc_get(d, 0, "identity");
	char user[80], team[256], pipeline[QUOTED_MAX], vars[1100];
	const struct audit_kind_text *kind = &audit_kinds[e->denial];
	autobuf struct buf shown = { 0 };

	if (*get_member(d, "user", user, sizeof(user)) == '\0')
		snprintf(user, sizeof(user), "uid %lld", (long long)get_number(d, "uid"));
	audit_pipeline_name(get_member(d, "team", team, sizeof(team)), get_member(d, "pipeline", vars, 256), pipeline);
	get_member(d, "instance_vars", vars, sizeof(vars));
	if (!audit_filter_takes(o, pipeline, vars, get_number(d, "instance_vars_left_out") > 0))
		return;
	if (*pipeline != '\0')
		e->of[PIPELINES] = row_get(r, PIPELINES, "%s", quoted(pipeline));
	else
		e->of[PIPELINES] = doc_equals(d, identity, "caller") ? row_get(r, PIPELINES, "(user %s)", user) :
		    row_get(r, PIPELINES, "(no pipeline known)");
	audit_vars(vars, &shown);
	r->nomem |= shown.failed;
	if (r->nomem)
		return;
	e->of[TOTAL] = &r->total;
	if (*vars != '\0')
		e->of[INSTANCES] = row_get(r, INSTANCES, "%s %.1100s%s", e->of[PIPELINES]->name, shown.p,
		    doc_equals(d, identity, "claim") ? " (a claim)" : "");
	pipeline[usage_team(pipeline)] = '\0';
	if (e->event == EVENT_REFUSE) {
		e->of[USERS] = row_get(r, USERS, "%s", user);
		e->of[DENIAL_KINDS] = row_get(r, DENIAL_KINDS, "%s\n%s", kind->name, kind->meaning);
	} else
		e->of[TEAMS] = row_get(r, TEAMS, "%s", *pipeline != '\0' ? quoted(pipeline) : "(no team)");
}

static void
take_gpus(const struct doc *d, struct strlist *gpus)
{
	uint32_t gpu;

	for (gpu = doc_first(d, doc_get(d, 0, "gpus")); gpu != DOC_NONE; gpu = doc_next(d, gpu)) {
		autofree char *name = doc_string(d, gpu);

		if (name != NULL) {
			text_printable(name, strlen(name) + 1, name);
			(void)strlist_add(gpus, name, SIZE_MAX);
		}
	}
}

bool
report_read(struct report *r, const struct options *o, const char *line, size_t len)
{
	struct report_entry e = { .time = 0 };
	autodoc struct doc d = { 0 };
	char container[260];
	struct why ignored;

	if (doc_parse(&d, line, len, &ignored) == -1 || !take_event(&d, &e))
		return false;
	e.left_out = get_number(&d, "suppressed");
	e.waited = get_number(&d, "waited");
	e.again = doc_is(&d, doc_get(&d, 0, "again"), DOC_TRUE);
	e.releasing = doc_is(&d, doc_get(&d, 0, "draining"), DOC_TRUE);
	snprintf(e.lease, sizeof(e.lease), "%lld/%s", (long long)get_number(&d, "uid"),
	    get_member(&d, "container", container, sizeof(container)));
	get_member(&d, "reason", e.reason, sizeof(e.reason));
	e.denial = audit_kind_of((long)get_number(&d, "code"), e.reason);
	if (e.event <= EVENT_REFUSE)
		find_rows(r, o, &d, &e);
	if (e.event == EVENT_GRANT && e.of[TOTAL] != NULL)
		take_gpus(&d, &e.gpus);
	report_take(r, &e);
	strlist_free(&e.gpus);
	return true;
}
