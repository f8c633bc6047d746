/* See pipelinename.h. */
#include "pipelinename.h"

#include <stddef.h>
#include <string.h>

#include "ctl.h"

bool
pipeline_name_is_whole(const char *name)
{
	const char *slash = strchr(name, '/');

	return slash != NULL && slash != name && slash[1] != '\0';
}

int
pipeline_option_check(const struct options *o, const char *command)
{
	if (o->pipeline == NULL || pipeline_name_is_whole(o->pipeline))
		return 0;
	return misuse(o, "%s: --pipeline must be TEAM/PIPELINE, not \"%s\"", command, o->pipeline);
}
