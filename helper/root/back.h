/* A container that gave its GPUs back may have them again when something is started in it. */
#ifndef GPUHELPER_ROOT_BACK_H
#define GPUHELPER_ROOT_BACK_H

#include "../pure/edits.h"
#include "../pure/request.h"
#include "peer.h"

/*
 * The same GPUs for the same container, if the policies of now give them to whom
 * the lease says it is, if they are free, and if nobody who waits would have them
 * before; the peer is then written down as one that starts something there.  A
 * container in which nothing was started yet waits for them as a request does.
 * *reply is filled: REPLY_NOTED with or without them, as its line says; REPLY_BUSY;
 * or REPLY_REFUSED, where a task would begin without what it was granted.
 *
 * *without says why it is without them, for the exec's record; its code is WHY_NONE
 * where the exec has them, which is recorded as a grant, or is to ask again.
 */
void come_back(const struct peer *p, const struct request *r, int audit, struct reply *reply, struct why *without);

#endif
