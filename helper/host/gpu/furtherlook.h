/* What the kernel shows of a character device by its number. */
#ifndef GPUHELPER_HOST_GPU_FURTHERLOOK_H
#define GPUHELPER_HOST_GPU_FURTHERLOOK_H

#include "../../gpu/furthernode.h"

/* Looks the number up in sysfs (/sys/dev/char). Opens no device. */
struct further_node further_look(uint32_t major, uint32_t minor);

#endif
