/* What is known of nodes by their paths alone, for callers that can't look at the host. */
#ifndef GPUHELPER_GPU_EXTRAPATH_H
#define GPUHELPER_GPU_EXTRAPATH_H

#include "extranode.h"

#define IMEX_CHANNEL "/dev/nvidia-caps-imex-channels/channel"	/* and its number: a node of IMEX_DRIVER */

/*
 * True if the path is that of a node whose driver extra_classify() knows. *word gets the word that a policy needs for
 * it, or 0.
 */
bool extra_path_known(const char *path, unsigned *word);

/* Whether the node of that path can have that number. Any number fits a path that is not known. */
enum extra_number {
	EXTRA_NUMBER_FITS,
	EXTRA_NUMBER_UNLIKELY,	/* the kernel chooses the driver's major, and never chooses this one */
	EXTRA_NUMBER_OTHER,	/* the driver's number is fixed, and differs */
};
enum extra_number extra_path_number(const char *path, int64_t major, int64_t minor);

#endif
