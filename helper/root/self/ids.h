/* Gives root's ids up for those of a program's own user. */
#ifndef GPUHELPER_ROOT_SELF_IDS_H
#define GPUHELPER_ROOT_SELF_IDS_H

#include <stdbool.h>
#include <stdint.h>

/* Sets all ids of this process, and drops its supplementary groups. False with errno. */
bool ids_become(uint32_t uid, uint32_t gid);

#endif
