/* See configload.h. */
#include "configload.h"

#include <stdlib.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../host/own/etc.h"
#include "../judge/identify.h"
#include "../policy/settingsdefault.h"
#include "../read/conf/wanted.h"
#include "../read/load.h"
#include "../read/parse.h"

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

int
config_settings(const struct options *o, struct settings *out, struct why *why)
{
	autofree char *dir = NULL;
	bool strict;

	return ctl_config_dir(o->config_dir, &dir, &strict, why) == 0 &&
	    settings_load(dir, strict, out, NULL, NULL, why) == 0 ? 0 : -1;
}

int
config_settings_or_default(const struct options *o, struct settings *out, struct why *why)
{
	struct why ignored;

	if (config_settings(o, out, &ignored) == 0)
		return 0;
	settings_free(out);
	return settings_default(out) ? 0 : refuse_nomem(why);
}

void
config_free(struct config *c)
{
	policy_set_free(&c->policies);
	settings_free(&c->settings);
	free(c->dir);
	*c = (struct config){ 0 };
}

static bool
has_usable(const struct jwks *keys)
{
	size_t i;

	for (i = 0; i < jwks_count(keys); i++)
		if (jwk_unusable(jwks_at(keys, i)) == NULL)
			return true;
	return false;
}

int
config_issuer_usable(const struct issuer_setting *i, bool strict, int64_t now, struct why *why)
{
	autojwks struct jwks *keys = NULL;

	if (issuer_keys_load(i, strict, &keys, why) == -1)
		return why->code == WHY_IO && geteuid() != 0 ? 0 : -1;
	if (!has_usable(keys))
		return refuse(why, WHY_CONFIG, "%.120s has no usable key: gpuhelperctl keys show", i->keys);
	if (i->keys_max_age != 0 && now - jwks_fetched(keys) > i->keys_max_age)
		return refuse(why, WHY_CONFIG, "the keys in %.120s are older than keys_max_age: gpuhelperctl keys fetch", i->keys);
	return 0;
}
