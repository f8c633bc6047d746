/*
 * gpuhelperctl audit show: prints the audit log, one line for each record.  Reads with its caller's rights.  Records
 * contain text from tasks: it must neither control the terminal nor look like another record.  say() escapes it, and a
 * record is always one line.
 */
#include "../ctl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../base/cleanup.h"
#include "../../base/text.h"
#include "../../json/strictjson.h"
#include "../when.h"
#include "auditfilter.h"
#include "auditline.h"
#include "auditlog.h"

struct reading {
	const struct options *options;
	int64_t since;		/* seconds since 1970; INT64_MIN: from the first record */
	size_t shown, torn;	/* records; lines that are no records */
	bool met;		/* some record is of --pipeline */
};

static bool
is_shown(struct reading *r, const json_t *record)
{
	const struct options *o = r->options;
	char pipeline[256];
	int64_t at;

	audit_pipeline(record, pipeline);
	r->met = r->met || (o->pipeline != NULL && strcmp(pipeline, o->pipeline) == 0);
	if (!audit_filter_takes(o, pipeline, get_text(record, "instance_vars"),
	    json_object_get(record, "instance_vars_left_out") != NULL))
		return false;
	if (o->denied && !audit_is_denial(record))
		return false;
	/* show a record with an invalid time, rather than hide it */
	return r->since == INT64_MIN || !when_read(get_text(record, "time"), &at) || at >= r->since;
}

static void
say_record(const json_t *record)
{
	autobuf struct buf b = { 0 };

	audit_line(record, &b);
	say("%s", b.failed ? "out of memory" : b.p);
}

static void
show_line(struct reading *r, const char *line, size_t len)
{
	struct why ignored;
	json_t *record;

	if (len == 0)
		return;
	if ((record = strictjson_object(line, len, &ignored)) == NULL) {
		r->torn++;
		return;
	}
	if (is_shown(r, record)) {
		if (r->options->json) {
			fputs(r->shown > 0 ? ",\n " : "\n ", stdout);
			(void)json_dumpf(record, stdout, JSON_COMPACT);
		} else
			say_record(record);
		r->shown++;
	}
	json_decref(record);
}

static void
show_lines(struct reading *r, FILE *f)
{
	autofree char *line = NULL;
	size_t room = 0;
	ssize_t n;

	while ((n = getline(&line, &room, f)) != -1)
		show_line(r, line, (size_t)n - (n > 0 && line[n - 1] == '\n'));
}

static FILE *
open_shown_log(const char *path, struct why *why)
{
	FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");

	if (f == NULL)
		log_refuse(path, errno, why);
	return f;
}

static int
show(struct reading *r, const char *path, struct why *why)
{
	FILE *f = open_shown_log(path, why);
	bool failed;

	if (f == NULL)
		return -1;
	show_lines(r, f);
	failed = ferror(f);
	if (f != stdin)
		(void)fclose(f);
	return failed ? refuse(why, WHY_IO, "%s: can't read the file to its end", path) : 0;
}

/* Opens every file before anything is printed, so that a missing file does not cut the output in half. */
static int
check_openable(char *const *path, size_t n, struct why *why)
{
	FILE *f;
	size_t i;

	for (i = 0; i < n; i++) {
		if ((f = open_shown_log(path[i], why)) == NULL)
			return -1;
		if (f != stdin)
			(void)fclose(f);
	}
	return 0;
}

int
ctl_audit_show(const struct options *o)
{
	static char *const own[] = { (char *)(uintptr_t)AUDIT_LOG };
	char *const *path = o->args > 0 ? o->arg : own;
	const size_t n = o->args > 0 ? o->args : 1;
	struct reading r = { .options = o, .since = INT64_MIN };
	struct why why;
	int status;
	size_t i;

	if ((status = audit_filter_check(o, "audit show")) != 0 ||
	    (status = when_option(o, "audit show", "--since", o->since, time(NULL), &r.since)) != 0)
		return status;
	if (check_openable(path, n, &why) == -1)
		return give_up(o, &why);
	if (o->json)
		fputs("{\"records\": [", stdout);
	for (i = 0; i < n; i++)
		if (show(&r, path[i], &why) == -1)
			return complain(why.code, "%s", why.text);
	if (o->json)
		printf("%s], \"torn\": %zu}\n", r.shown > 0 ? "\n" : "", r.torn);
	else if (r.torn > 0)
		say("! %zu line%s no valid record%s: cut off by a full disk, or changed later", r.torn,
		    r.torn == 1 ? " is" : "s are", S_OF(r.torn));
	if (o->pipeline != NULL && !r.met && !o->json)
		(void)complain(WHY_ABSENT, "audit show: no record is of pipeline %s", o->pipeline);
	return o->pipeline != NULL && !r.met ? WHY_ABSENT : 0;
}
