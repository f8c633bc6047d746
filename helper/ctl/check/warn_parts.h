/*
 * gpuhelperctl check: its warnings about folders, GPUs, claims and settings, each in a file.  warnings.c has the rest,
 * and calls all.
 */
#ifndef GPUHELPER_CTL_CHECK_WARN_PARTS_H
#define GPUHELPER_CTL_CHECK_WARN_PARTS_H

#include "../../host/driver/cdidirs.h"
#include "check.h"

/* Warns about a policy's folders that this host would refuse. */
void warn_folders(struct checked *c, const struct settings *settings);

/* This host's GPUs, of the vendors that the policies name. */
struct host_gpus {
	bool seen;		/* false if no policy names GPUs, or this user can't look at the host */
	struct inventory inventory;
	struct cdi_registry specs;
};
/* Finds them; never fails, but may leave v->seen false.  The caller calls host_gpus_free(). */
void host_gpus_find(const struct check_set *s, struct host_gpus *v);
void host_gpus_free(struct host_gpus *v);
/* Warns about a policy's GPU rules that this host would refuse. */
void warn_gpus(struct checked *c, const struct check_set *s, const struct host_gpus *v);

/* Warns about what a policy does not ask of its issuer's tokens. */
void warn_claims(struct checked *c, const struct settings *settings);
/* Warns about an issuer's reuse_by. */
void warn_turns(struct checked *c, const struct issuer_setting *i);

/* Warns about settings that may not mean what their author thinks.  gpuhelper.conf must be part of the set. */
void warn_settings(struct check_set *s);

#endif
