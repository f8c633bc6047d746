/* Picks GPUs (pick.h). */
#ifndef GPUHELPER_GPU_PICKGPUS_H
#define GPUHELPER_GPU_PICKGPUS_H

#include "pick.h"

/*
 * Picks for all demands, at most «max». Takes the least held candidate first (parts are counted each by itself), then
 * parts of GPUs of which parts are in use, then joined GPUs, as the inventory knows them: several of one group, or one
 * of the group with the fewest whole GPUs; then in the candidates' order. Picks never overlap. Demands without a choice
 * come first. True if every demand is met; otherwise picks[0, *picked) is what was possible.
 */
bool pick_gpus(const struct holding *held, size_t n, const struct inventory *inv, const struct gpu_demand *demand,
    size_t demands, struct pick *picks, size_t max, size_t *picked);

#endif
