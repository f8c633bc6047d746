/* See auditfilter.h.  A record's instance variables may come from a task, so they are parsed strictly. */
#include "auditfilter.h"

#include <stdlib.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "../../json/strictjson.h"
#include "../ctl.h"
#include "../pipelinename.h"

int
audit_filter_check(const struct options *o, const char *command)
{
	const char *var;
	size_t i;

	for (i = 0; i < o->instance_var_count; i++) {
		var = o->instance_var[i];
		if (*var == '=' || strchr(var, '=') == NULL)
			return misuse(o, "%s: --instance-var must be NAME=VALUE, not \"%s\"", command, var);
	}
	return pipeline_option_check(o, command);
}

void
audit_filter_describe(const struct options *o, struct buf *out)
{
	size_t i;

	if (o->pipeline != NULL)
		buf_printf(out, "pipeline %s", o->pipeline);
	for (i = 0; i < o->instance_var_count; i++)
		buf_printf(out, "%s%s", out->len > 0 ? ", " : "", o->instance_var[i]);
}

static bool
has_value(const json_t *value, const char *wanted)
{
	autofree char *text = NULL;

	if (json_is_string(value))
		return strcmp(json_string_value(value), wanted) == 0;
	text = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
	return text != NULL && strcmp(text, wanted) == 0;
}

static bool
has_var(const json_t *vars, const char *wanted, bool left_out)
{
	const char *equals = strchr(wanted, '=');
	autofree char *name = strndup(wanted, (size_t)(equals - wanted));
	const json_t *value = name != NULL ? json_object_get(vars, name) : NULL;

	return value != NULL ? has_value(value, equals + 1) : left_out;
}

static bool
has_all_vars(const struct options *o, const char *text, bool left_out)
{
	struct why ignored;
	json_t *vars = *text != '\0' ? strictjson_object(text, strlen(text), &ignored) : NULL;
	bool has = vars != NULL;
	size_t i;

	for (i = 0; has && i < o->instance_var_count; i++)
		has = has_var(vars, o->instance_var[i], left_out);
	json_decref(vars);
	return has;
}

bool
audit_filter_takes(const struct options *o, const char *pipeline, const char *vars, bool left_out)
{
	return (o->pipeline == NULL || strcmp(pipeline, o->pipeline) == 0) &&
	    (o->instance_var_count == 0 || has_all_vars(o, vars, left_out));
}
