/* What the kernel shows of a character device by its number. */
#ifndef GPUHELPER_HOST_GPU_EXTRANODEFIND_H
#define GPUHELPER_HOST_GPU_EXTRANODEFIND_H

#include "../../gpu/extranode.h"

/* Looks the number up in sysfs (/sys/dev/char). Opens no device. */
struct extra_node extra_node_find(uint32_t major, uint32_t minor);

#endif
