/*
 * See auditline.h.  Text from a task is quoted where it could be read as ours (quoted.h), and not escaped.  A reason
 * contains such text, too, and comes last.
 */
#include "auditline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "../../base/quoted.h"
#include "../../json/strictjson.h"
#include "../ctl.h"

void
audit_pipeline_name(const char *team, const char *pipeline, char out[256])
{
	snprintf(out, 256, "%.120s%s%.120s", team, *team != '\0' ? "/" : "", pipeline);
}

void
audit_pipeline(const json_t *record, char out[256])
{
	audit_pipeline_name(get_text(record, "team"), get_text(record, "pipeline"), out);
}

static void
add_list(struct buf *b, const char *before, const json_t *list)
{
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
		if (json_is_string(item))
			buf_printf(b, "%s%s", i == 0 ? before : ", ", json_string_value(item));
		else
			buf_printf(b, "%s%s %s", i == 0 ? before : ", ", quoted(get_text(item, "target")),
			    get_text(item, "access"));
}

static void
add_number(struct buf *b, const char *before, const json_t *number)
{
	if (json_is_integer(number))
		buf_printf(b, "%s%lld", before, (long long)json_integer_value(number));
}

static void
add_text(struct buf *b, const char *before, const char *text)
{
	if (*text != '\0')
		buf_printf(b, "%s%s", before, text);
}

static void
add_strange(struct buf *b, const char *before, const char *text)
{
	if (*text != '\0')
		buf_printf(b, "%s%s", before, quoted(text));
}

void
audit_vars(const char *vars, struct buf *b)
{
	struct why ignored;
	json_t *object = strictjson_object(vars, strlen(vars), &ignored);

	if (object != NULL)
		buf_puts(b, vars);
	else
		buf_json_ascii(b, vars);
	json_decref(object);
}

void
audit_line(const json_t *record, struct buf *b)
{
	char pipeline[256];

	audit_pipeline(record, pipeline);
	buf_printf(b, "%s  %-8s", get_text(record, "time"), get_text(record, "event"));
	add_text(b, "  ", *pipeline != '\0' ? quoted(pipeline) : "-");
	if (json_is_string(json_object_get(record, "instance_vars"))) {
		buf_puts(b, " ");
		audit_vars(get_text(record, "instance_vars"), b);
	}
	add_number(b, ", instance variables left out: ", json_object_get(record, "instance_vars_left_out"));
	add_strange(b, " job ", get_text(record, "job"));
	add_text(b, " by ", get_text(record, "identity"));
	add_list(b, "; gpu ", json_object_get(record, "gpus"));
	add_list(b, "; folder ", json_object_get(record, "folders"));
	add_strange(b, "; asked for gpus ", get_text(record, "asked_gpus"));
	add_strange(b, "; asked for folders ", get_text(record, "asked_folders"));
	add_text(b, "; policy ", get_text(record, "policy"));
	if (json_is_true(json_object_get(record, "privileged")))
		buf_puts(b, "; privileged");
	if (json_is_true(json_object_get(record, "again")))
		buf_puts(b, "; again");
	if (json_is_true(json_object_get(record, "draining")))
		buf_puts(b, "; still in use");
	add_number(b, "; seconds waited: ", json_object_get(record, "waited"));
	add_number(b, "; records left out before: ", json_object_get(record, "suppressed"));
	add_strange(b, "; container ", get_text(record, "container"));
	add_text(b, "; user ", get_text(record, "user"));
	if (*get_text(record, "user") == '\0')
		add_number(b, "; uid ", json_object_get(record, "uid"));
	add_text(b, ": ", get_text(record, "reason"));
}

bool
audit_is_denial(const json_t *record)
{
	const char *event = get_text(record, "event");

	return strcmp(event, "refuse") == 0 || (strcmp(event, "exec") == 0 && json_object_get(record, "code") != NULL);
}

bool
audit_stands_outside(const char *event)
{
	static const char *const events[] = { "refuse", "plain", "quota", "left-out" };
	size_t i;

	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (strcmp(event, events[i]) == 0)
			return true;
	return false;
}
