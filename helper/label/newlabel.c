/* See newlabel.h. */
#include "newlabel.h"

#include <stdio.h>

static bool
replace(const char *has, const char *type, const char *level, char out[SECONTEXT_MAX])
{
	struct secontext c;

	if (!secontext_parse(has, &c))
		return false;
	snprintf(c.type, sizeof(c.type), "%s", type);
	snprintf(c.level, sizeof(c.level), "%s", level);
	return secontext_format(&c, out);
}

bool
newlabel_of_file(const char *has, enum relabel how, const char *level, char out[SECONTEXT_MAX])
{
	return replace(has, SECONTEXT_FILE_TYPE, how == RELABEL_PRIVATE ? level : "s0", out);
}

bool
newlabel_of_node(const char *has, const char *level, char out[SECONTEXT_MAX])
{
	return replace(has, SECONTEXT_DEVICE_TYPE, level, out);
}
