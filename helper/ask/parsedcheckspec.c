/* See parsedcheckspec.h: CDI specs. The helper does not link this file. */
#include "parsedcheckspec.h"

#include <string.h>

#include "../base/path.h"
#include "../cdi/cdi.h"
#include "parsedcheck.h"

static int
refuse_spec(const char *kind, const char *what, struct why *why)
{
	return refuse(why, WHY_BUG, "gpuhelper-read reports %.100s with %.200s, which it should have refused", kind, what);
}

static int
check_parsed_edits(const char *kind, const struct cdi_edits *e, struct why *why)
{
	size_t i;

	for (i = 0; i < e->mounts; i++)
		/* a mount of another type has no path as its source, and is refused when it is requested */
		if ((cdi_mount_is_bind(&e->mount[i]) && !path_is_clean(e->mount[i].host_path)) ||
		    !path_is_clean(e->mount[i].container_path) || cdi_target_wrong(&e->mount[i]) != NULL)
			return refuse_spec(kind, "an invalid mount", why);
	for (i = 0; i < e->nodes; i++)
		if (!path_is_clean(e->node[i].path) || !path_is_beneath(e->node[i].path, "/dev"))
			return refuse_spec(kind, "an invalid node", why);
	for (i = 0; i < e->env.n; i++)
		if (strchr(e->env.v[i], '=') == NULL)
			return refuse_spec(kind, "invalid variables", why);
	return 0;
}

int
parsed_check_spec(const struct cdi_spec *s, struct why *why)
{
	size_t i;

	if (check_parsed_edits(s->kind, &s->edits, why) == -1)
		return -1;
	for (i = 0; i < s->devices; i++)
		if (!cdi_device_name_ok(s->device[i].name))
			return refuse_spec(s->kind, "an invalid device", why);
		else if (check_parsed_edits(s->kind, &s->device[i].edits, why) == -1)
			return -1;
	return 0;
}
