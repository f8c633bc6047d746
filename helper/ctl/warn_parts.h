/* gpuhelperctl check: the parts that warn, each a file; warnings.c asks them. */
#ifndef GPUHELPER_CTL_WARN_PARTS_H
#define GPUHELPER_CTL_WARN_PARTS_H

#include "../host/cdidirs.h"
#include "check.h"

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

/* What the settings say that their author may not mean. */
void warn_settings(struct check_set *s);

#endif
