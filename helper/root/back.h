/* Gives GPUs again to a container that gave them back, when a process is to start in it. */
#ifndef GPUHELPER_ROOT_BACK_H
#define GPUHELPER_ROOT_BACK_H

#include "../pure/edits.h"
#include "call.h"

/*
 * Gives the call's container the GPUs that it had, if today's policies grant them to the pipeline that the lease
 * names, if they are free, and if no request waits for them. Then adds the peer to the lease as a runtime that starts a
 * process. A container in which no process was started yet waits for its GPUs like a request. Fills in *reply:
 * REPLY_NOTED, whose line says whether there are GPUs; REPLY_BUSY; or REPLY_REFUSED, if the first task would start
 * without the GPUs that it was granted.
 *
 * *without says why the process has no GPU, for the exec's record. Its code is WHY_NONE if the process has its GPUs,
 * which is recorded as a grant, or if the peer must ask again.
 */
void come_back(const struct call *c, struct reply *reply, struct why *without);

#endif
