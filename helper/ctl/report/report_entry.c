/*
 * See report.h.  Does not use jansson, which is too slow for a million records.  A line may be anything, and a record
 * may contain text from tasks.
 */
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "../../json/doc.h"
#include "../../policy/usage.h"
#include "../audit/auditline.h"
#include "../when.h"

#define YEAR_2000 INT64_C(946684800)
#define YEAR_2200 INT64_C(7258118400)

static const char *const events[] = {
	[EVENT_GRANT] = "grant", [EVENT_PROMISE] = "promise", [EVENT_ABANDON] = "abandon", [EVENT_REFUSE] = "refuse",
	[EVENT_UNDO] = "undo", [EVENT_END] = "end", [EVENT_GAVE_BACK] = "gave-back",
};

/* Gets a string member without what can't be printed; "" if there is none. */
static void
get_member(const struct doc *d, const char *key, char *out, size_t size)
{
	autofree char *text = doc_string(d, doc_get(d, 0, key));

	text_printable(out, size, text != NULL ? text : "");
}

/* Gets a number; 0 if there is none, or it is negative. */
static int64_t
get_number(const struct doc *d, const char *key)
{
	int64_t n;

	return doc_i64(d, doc_get(d, 0, key), &n) && n > 0 ? n : 0;
}

static bool
take_time(const struct doc *d, int64_t *out)
{
	char text[40];

	get_member(d, "time", text, sizeof(text));
	return when_read(text, out) && *out >= YEAR_2000 && *out < YEAR_2200;
}

static bool
take_event_name(const struct doc *d, enum report_event *out)
{
	const uint32_t event = doc_get(d, 0, "event");
	int i;

	if (!doc_is(d, event, DOC_STRING))
		return false;
	for (i = 0; i < EVENT_OTHER && !doc_equals(d, event, events[i]); i++)
		;
	*out = (enum report_event)i;
	return true;
}

static void
take_owner(const struct doc *d, struct report_entry *e)
{
	char team[NAME_SIZE], pipeline[NAME_SIZE], container[260];
	const long long uid = get_number(d, "uid");

	get_member(d, "user", e->user, sizeof(e->user) - 8);
	if (e->user[0] == '\0')
		snprintf(e->user, sizeof(e->user), "uid %lld", uid);
	get_member(d, "container", container, sizeof(container));
	snprintf(e->lease, sizeof(e->lease), "%lld/%s", uid, container);
	get_member(d, "team", team, sizeof(team));
	get_member(d, "pipeline", pipeline, sizeof(pipeline));
	audit_pipeline_name(team, pipeline, e->pipeline);
	e->named = e->pipeline[0] != '\0';
	snprintf(e->team, sizeof(e->team), "%.*s", (int)usage_team(e->pipeline), e->pipeline);
	get_member(d, "instance_vars", e->vars, sizeof(e->vars));
	e->vars_left_out = get_number(d, "instance_vars_left_out") > 0;
	e->claimed = doc_equals(d, doc_get(d, 0, "identity"), "claim");
	if (!e->named && doc_equals(d, doc_get(d, 0, "identity"), "caller"))
		snprintf(e->pipeline, sizeof(e->pipeline), "(user %s)", e->user);
	else if (!e->named)
		snprintf(e->pipeline, sizeof(e->pipeline), "(no pipeline known)");
}

/* Moves the UUID of "nvidia 0000:3b:00.0 GPU-... part 1g.5gb" to a line of its own, the second. */
static void
add_gpu(struct strlist *gpus, const char *name)
{
	const char *uuid = strstr(name, " GPU-"), *rest;
	autobuf struct buf lines = { 0 };

	if (uuid == NULL) {
		(void)strlist_add(gpus, name, SIZE_MAX);
		return;
	}
	rest = uuid + 1 + strcspn(uuid + 1, " ");
	buf_printf(&lines, "%.*s%s\n%.*s", (int)(uuid - name), name, rest, (int)(rest - uuid - 1), uuid + 1);
	if (!lines.failed)
		(void)strlist_add(gpus, lines.p, lines.len);
}

static void
take_gpus(const struct doc *d, struct strlist *gpus)
{
	uint32_t n = doc_first(d, doc_get(d, 0, "gpus"));

	for (; n != DOC_NONE; n = doc_next(d, n)) {
		autofree char *name = doc_string(d, n);

		if (name == NULL)
			continue;
		text_printable(name, strlen(name) + 1, name);
		add_gpu(gpus, name);
	}
}

void
report_entry_free(struct report_entry *e)
{
	strlist_free(&e->gpus);
}

bool
report_entry_read(const char *line, size_t len, struct report_entry *e)
{
	autodoc struct doc d = { 0 };
	struct why ignored;

	report_entry_free(e);
	if (doc_parse(&d, line, len, &ignored) == -1 || !doc_is(&d, 0, DOC_OBJECT) || !take_event_name(&d, &e->event) ||
	    !take_time(&d, &e->time))
		return false;
	e->left_out = get_number(&d, "suppressed");
	e->again = doc_is(&d, doc_get(&d, 0, "again"), DOC_TRUE);
	e->draining = doc_is(&d, doc_get(&d, 0, "draining"), DOC_TRUE);
	e->waited = get_number(&d, "waited");
	take_owner(&d, e);
	if (e->event == EVENT_GRANT)
		take_gpus(&d, &e->gpus);
	else if (e->event == EVENT_REFUSE) {
		get_member(&d, "reason", e->reason, sizeof(e->reason));
		e->denial = audit_kind_of((long)get_number(&d, "code"), e->reason);
	}
	return true;
}
