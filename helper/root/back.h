/* Gives GPUs back to a container that gave them up, when something is started in it. */
#ifndef GPUHELPER_ROOT_BACK_H
#define GPUHELPER_ROOT_BACK_H

#include "../pure/edits.h"
#include "call.h"

/*
 * Gives the call's container the GPUs that it had, if today's policies grant them to the pipeline that the lease
 * names, if they are free, and if no waiter comes first. Then writes the peer into the lease as a process that starts
 * something in the container. A container in which nothing was started yet waits for its GPUs like a request. Fills
 * in *reply: REPLY_NOTED, with or without GPUs, as its line says; REPLY_BUSY; or REPLY_REFUSED, if a task would begin
 * without what it was granted.
 *
 * *without says why the process has no GPU, for the exec's record. Its code is WHY_NONE if the process has its GPUs,
 * which is recorded as a grant, or if it must ask again.
 */
void come_back(const struct call *c, struct reply *reply, struct why *without);

#endif
