/*
 * What config.json has and the container does not get: nodes and mounts that would bring GPUs without a grant
 * («--device /dev/nvidia0», «-v», «--device nvidia.com/gpu=0», «--gpus all»).
 */
#ifndef GPUHELPER_USER_COMPOSE_REMOVED_H
#define GPUHELPER_USER_COMPOSE_REMOVED_H

#include "../../lease/edits.h"
#include "../../lease/editsdriver.h"
#include "../spec/spec.h"

struct removal {
	const struct spec *s;
	const struct devmajors *majors;
	const struct edits *grant;	/* for a plain container: an SELinux label at most */
	bool hide;			/* GPUs that were not granted are taken away */
};

/*
 * True for a device that is left out: it is a GPU's, or one of the grant, which compose.c adds. Sets v->removed if the
 * grant does not have it.
 */
bool removed_device(const struct removal *r, struct spec_device *v);

/*
 * True for a mount of a GPU's host node or of a directory with nothing but such nodes, for one that the grant repeats,
 * and for a mount that an NVIDIA runtime would read as a request. Sets m->removed if the grant does not repeat it, and
 * *failed if memory is short.
 */
bool removed_mount(const struct removal *r, struct spec_mount *m, bool *failed);

/*
 * Writes one line for the user about what compose() has removed; "" if that is nothing. «hide» is compose()'s,
 * and «granted» is true for a container with a grant.
 */
void removed_tell(const struct spec *s, bool hide, bool granted, char out[NOTE_MAX]);

#endif
