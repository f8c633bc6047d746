/* Loads the settings and policies of the directory that --config-dir names. */
#ifndef GPUHELPER_CTL_CONFIGLOAD_H
#define GPUHELPER_CTL_CONFIGLOAD_H

#include "../policy/policyset.h"
#include "../policy/settings.h"
#include "ctl.h"

struct config {
	char *dir;			/* dir and strict are as ctl_config_dir() sets them */
	bool strict;
	struct settings settings;
	struct policy_set policies;	/* includes broken ones, each with its error */
};

/* Loads o->config_dir with the caller's rights.  -1 with *why.  The caller calls config_free() in any case. */
int config_load(const struct options *o, struct config *out, struct why *why);
/* Loads its gpuhelper.conf alone.  -1 with *why. */
int config_settings(const struct options *o, struct settings *out, struct why *why);
/*
 * The same; the defaults if gpuhelper.conf can't be used, which «check» and doctor report.  -1 with *why: memory is
 * short.  The caller calls settings_free() in any case.
 */
int config_settings_or_default(const struct options *o, struct settings *out, struct why *why);
void config_free(struct config *c);
#define autoconfig __attribute__((cleanup(config_free)))

/*
 * Checks the keys of an issuer.  -1 with *why: this host refuses each of its tokens.  0 also if this user may not read
 * the keys, and so can't tell.
 */
int config_issuer_usable(const struct issuer_setting *i, bool strict, int64_t now, struct why *why);

#endif
