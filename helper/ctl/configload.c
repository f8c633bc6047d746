/* See configload.h. */
#include "configload.h"

#include <stdlib.h>

#include "../host/etc.h"
#include "../read/load.h"
#include "../read/parse.h"
#include "../read/wanted.h"

int
config_load(const struct options *o, struct config *out, struct why *why)
{
	autopolicyfiles struct policy_files files = { 0 };

	*out = (struct config){ 0 };
	if (ctl_config_dir(o->config_dir, &out->dir, &out->strict, why) == -1 ||
	    settings_load(out->dir, out->strict, &out->settings, NULL, NULL, why) == -1 ||
	    policy_files_load(out->dir, out->strict, &files, why) == -1)
		return -1;
	return policies_parse(&files, &out->policies) && issuers_want(&out->settings, &out->policies) ? 0 :
	    refuse_nomem(why);
}

void
config_free(struct config *c)
{
	policy_set_free(&c->policies);
	settings_free(&c->settings);
	free(c->dir);
	*c = (struct config){ 0 };
}
