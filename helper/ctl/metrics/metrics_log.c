/*
 * See metrics.h.  A timer runs this once a minute, and the log may be long, so no parser reads it, either; members are
 * found by string search in the lines that host/own/record.c writes.  That code escapes a quote within a string.  So a
 * match of a member's name with its quotes is always the record's own member.
 */
#include "metrics.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "../audit/auditkind.h"

static const char *const events[] = { "grant", "exec", "refuse", "undo", "plain", "end", "draining", "gave-back",
	"promise", "abandon", "quota", "left-out", "other" };
#define EVENTS (sizeof(events) / sizeof(events[0]))

/* The buckets of the histogram of waits, in seconds. */
static const struct {
	int64_t most;
	const char *name;
} waits[] = { { 0, "0" }, { 10, "10" }, { 60, "60" }, { 300, "300" }, { 1800, "1800" }, { 3600, "3600" },
	{ INT64_MAX, "+Inf" } };
#define WAITS (sizeof(waits) / sizeof(waits[0]))

struct counted {
	int64_t event[EVENTS], refused[AUDIT_KINDS], left_out;
	int64_t waited[WAITS];		/* grants after at most this wait */
	int64_t wait_seconds;		/* the sum of all these waits */
	int64_t abandoned, abandoned_seconds;	/* waits without a grant, and their sum */
};

/* The text after «"NAME":» in the line; NULL if there is no such member. */
static const char *
member(const char *line, const char *quoted)
{
	const char *at = strstr(line, quoted);

	return at != NULL ? at + strlen(quoted) : NULL;
}

static size_t
event_of(const char *text)
{
	size_t i, n;

	for (i = 0; i < EVENTS - 1; i++) {
		n = strlen(events[i]);
		if (strncmp(text, events[i], n) == 0 && text[n] == '"')
			break;
	}
	return i;
}

static enum audit_kind
kind_of(const char *line)
{
	const char *code = member(line, "\"code\":"), *reason = member(line, "\"reason\":\"");

	return audit_kind_of(code != NULL ? strtol(code, NULL, 10) : 0, reason != NULL ? reason : "");
}

/* A record without a wait has no member «waited». */
static int64_t
waited_of(const char *line)
{
	const char *waited = member(line, "\"waited\":");

	return waited != NULL ? strtol(waited, NULL, 10) : 0;
}

static void
count_wait_buckets(const char *line, struct counted *c)
{
	const int64_t seconds = waited_of(line);
	size_t i;

	for (i = 0; i < WAITS; i++)
		c->waited[i] += seconds <= waits[i].most;
	c->wait_seconds += seconds;
}

static void
add_waits(const struct counted *c, struct buf *b)
{
	size_t i;

	metric_begin(b, "gpuhelper_wait_seconds", "histogram",
	    "How long granted requests had waited, since the log was last rotated.");
	for (i = 0; i < WAITS; i++)
		metric_add(b, "gpuhelper_wait_seconds_bucket", c->waited[i], (const char *[]){ "le", waits[i].name, NULL });
	metric_add(b, "gpuhelper_wait_seconds_sum", c->wait_seconds, NULL);
	metric_add(b, "gpuhelper_wait_seconds_count", c->waited[WAITS - 1], NULL);
	metric_begin(b, "gpuhelper_abandoned_waits_total", "counter",
	    "Waits that ended before their turn, since the log was last rotated.");
	metric_add(b, "gpuhelper_abandoned_waits_total", c->abandoned, NULL);
	metric_begin(b, "gpuhelper_abandoned_wait_seconds_total", "counter",
	    "How long these had waited, since the log was last rotated.");
	metric_add(b, "gpuhelper_abandoned_wait_seconds_total", c->abandoned_seconds, NULL);
}

static void
count_line(const char *line, struct counted *c)
{
	const char *event = member(line, "\"event\":\""), *left_out = member(line, "\"suppressed\":");

	if (event == NULL)
		return;
	c->event[event_of(event)]++;
	if (strncmp(event, "grant\"", 6) == 0)
		count_wait_buckets(line, c);
	if (strncmp(event, "abandon\"", 8) == 0) {
		c->abandoned++;
		c->abandoned_seconds += waited_of(line);
	}
	if (strncmp(event, "refuse\"", 7) == 0)
		c->refused[kind_of(line)]++;
	if (left_out != NULL)
		c->left_out += strtol(left_out, NULL, 10);
}

static void
add_counted(const struct counted *c, struct buf *b)
{
	size_t i;

	metric_begin(b, "gpuhelper_audit_records_total", "counter",
	    "Records of the audit log by event, since the log was last rotated.");
	for (i = 0; i < EVENTS; i++)
		metric_add(b, "gpuhelper_audit_records_total", c->event[i], (const char *[]){ "event", events[i], NULL });
	metric_begin(b, "gpuhelper_refusals_total", "counter", "Refused requests by reason, since the log was last rotated.");
	for (i = 0; i < AUDIT_KINDS; i++)
		metric_add(b, "gpuhelper_refusals_total", c->refused[i], (const char *[]){ "reason", audit_kinds[i].name, NULL });
	metric_begin(b, "gpuhelper_audit_left_out_total", "counter",
	    "Refusals that a user's quota left out of the audit log, since the log was last rotated.");
	metric_add(b, "gpuhelper_audit_left_out_total", c->left_out, NULL);
	add_waits(c, b);
}

int
metrics_of_log(const char *path, struct buf *b, struct why *why)
{
	autofree char *line = NULL;
	struct counted c = { 0 };
	FILE *f = fopen(path, "re");
	size_t room = 0;
	bool failed = false;

	if (f == NULL && errno != ENOENT)
		return refuse(why, WHY_IO, "%s: %s", path, strerror(errno));
	if (f != NULL) {
		while (getline(&line, &room, f) != -1)
			count_line(line, &c);
		failed = ferror(f) != 0;
		(void)fclose(f);
	}
	if (failed)
		return refuse(why, WHY_IO, "%s: can't read the file to its end", path);
	add_counted(&c, b);
	return 0;
}
