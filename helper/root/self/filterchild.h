/* The filters of system calls (filter.h) of the programs that the helper starts. */
#ifndef GPUHELPER_ROOT_SELF_FILTERCHILD_H
#define GPUHELPER_ROOT_SELF_FILTERCHILD_H

#include "../../base/why.h"

/*
 * Installs the filter of a child.
 * - FILTER_LOOKER: gpuhelper-look may open files for reading, and fork.
 * - FILTER_LABELLER: gpuhelper-label may open and label existing files, but make none.
 * - FILTER_FINDER: gpuhelper-judge, while it finds the GPUs, may open files for reading, and install FILTER_READER.
 * - FILTER_ENGINE: gpuhelper-engine may open files for reading.
 * - FILTER_READER: gpuhelper-read and gpuhelper-judge may use their channel and memory.
 */
enum filter_child { FILTER_LOOKER, FILTER_LABELLER, FILTER_FINDER, FILTER_ENGINE, FILTER_READER };
int filter_install_for(enum filter_child child, struct why *why);

#endif
