/* The number of a device. */
#ifndef GPUHELPER_KERNEL_DEVNUM_H
#define GPUHELPER_KERNEL_DEVNUM_H

#include <stdint.h>

struct devnum {
	uint32_t major, minor;
};

#endif
