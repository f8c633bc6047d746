/* See configload.h. */
#include "configload.h"

#include "../host/etc.h"
#include "../read/load.h"
#include "../read/parse.h"

int
config_load(const struct options *o, char **dir, bool *strict, struct settings *settings, struct policy_set *policies,
    struct why *why)
{
	autopolicyfiles struct policy_files files = { 0 };

	if (ctl_config_dir(o->config_dir, dir, strict, why) == -1 ||
	    settings_load(*dir, *strict, settings, NULL, NULL, why) == -1 ||
	    policy_files_load(*dir, *strict, &files, why) == -1)
		return -1;
	return policies_parse(&files, policies) ? 0 : refuse_nomem(why);
}
