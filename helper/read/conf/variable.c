/* See variable.h. */
#include "variable.h"

#include <string.h>

#include "../../base/text.h"
#include "../../gpu/vendorvars.h"

#define NAME_MAX_BYTES 64

bool
variable_is_name(const char *name)
{
	if (*name >= '0' && *name <= '9')
		return false;
	return name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")] == '\0';
}

bool
variable_may_have_token(const char *name)
{
	static const char *const other[] = { "PATH", "HOME", "USER", "SHELL", "LD_PRELOAD", "LD_LIBRARY_PATH",
		"GPUHELPER_GPUS", "GPUHELPER_FOLDERS", "GPUHELPER_AGAIN", "BUILD_TEAM_NAME", "BUILD_PIPELINE_NAME", "BUILD_JOB_NAME",
		"BUILD_PIPELINE_INSTANCE_VARS", NULL };

	return *name != '\0' && strlen(name) <= NAME_MAX_BYTES && variable_is_name(name) && !text_among(name, other) &&
	    !vendor_env_owns(name);
}
