/* Finds GPUs in a task's CUDA_VISIBLE_DEVICES that its container does not have, which CUDA leaves out silently. */
#ifndef GPUHELPER_USER_SPEC_CUDAVISIBLE_H
#define GPUHELPER_USER_SPEC_CUDAVISIBLE_H

#include "../../lease/edits.h"
#include "../../lease/editsdriver.h"

/*
 * «env» has the task's variables ("NAME=value"), and the last of a name counts. «set» has those that the grant sets,
 * which replace them. «gpus» are the granted ones as in struct edits. Returns true, with a warning in «out», if the
 * value names an NVIDIA GPU that is not among these. Leaves alone a value that asks for no GPU ("", "-1",
 * "NoDevFiles") or that CUDA does not understand, and every value if no NVIDIA GPU is granted.
 */
bool cuda_visible_warns(const struct strlist *env, const struct strlist *set, const struct strlist *gpus,
    char out[NOTE_MAX]);

#endif
