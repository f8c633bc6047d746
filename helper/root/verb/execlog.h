/* The record of a process that is started in a container with a lease. */
#ifndef GPUHELPER_ROOT_VERB_EXECLOG_H
#define GPUHELPER_ROOT_VERB_EXECLOG_H

#include "../../ask/reply.h"
#include "../../lease/leasefile.h"
#include "../enter/peer.h"

/*
 * Records the exec in the log «audit». A process gets nothing that the lease does not hold already, so it begins even
 * if its record can't be written: the reply's text then says so.
 */
void exec_log(int audit, const struct peer *peer, const struct lease *l, struct reply *reply);

#endif
