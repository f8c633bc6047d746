/* See cdi.h. */
#include "cdi.h"

#include <string.h>

const char *const cdi_hook_names[CDI_HOOKS + 1] = { "prestart", "createRuntime", "createContainer", "startContainer",
	"poststart", "poststop", NULL };

const char *
cdi_kind_of(const struct cdi_spec *s)
{
	return s->kind != NULL && cdi_kind_ok(s->kind) ? s->kind : "";
}

bool
cdi_format_of(const char *name, enum cdi_format *format)
{
	const char *dot = strrchr(name, '.');

	if (dot == NULL || (strcmp(dot, ".json") != 0 && strcmp(dot, ".yaml") != 0))
		return false;
	*format = dot[1] == 'j' ? CDI_JSON : CDI_YAML;
	return true;
}
