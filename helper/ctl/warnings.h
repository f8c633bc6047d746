/* gpuhelperctl check: what the parts that warn share. */
#ifndef GPUHELPER_CTL_WARNINGS_H
#define GPUHELPER_CTL_WARNINGS_H

#include "../host/cdidirs.h"
#include "../pure/match.h"
#include "check.h"

/* One that parses: what it says is known. */
bool is_policy(const struct checked *c);
/* Line of a top-level key; 0 if it is not in the file. */
unsigned key_line(const struct checked *c, const char *key);

#define ASKERS_MAX 32

/*
 * Users whose workers the policy is for, as far as it names them and this host knows
 * them, the first ASKERS_MAX; root where it names none.  The names are the policy's.
 * Returns how many.
 */
size_t policy_askers(const struct policy *p, struct asker out[ASKERS_MAX]);

/* Adds a warning, unless the file has that very one. */
void warn_once(struct checked *c, unsigned line, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* What this host would refuse of a policy's folders. */
void warn_folders(struct checked *c, const struct settings *settings);

/* This host's GPUs of the vendors that the policies name. */
struct gpu_view {
	bool seen;		/* else none is named, or the host can't be looked at */
	struct inventory inventory;
	struct cdi_registry specs;
};
void look_at_gpus(const struct check_set *s, struct gpu_view *v);
void gpu_view_free(struct gpu_view *v);
/* What this host would refuse of a policy's GPUs. */
void warn_gpus(struct checked *c, const struct check_set *s, const struct gpu_view *v);

/* gpuhelper.conf, which is in view. */
void warn_settings(struct check_set *s);

#endif
