/* Has gpuhelper-judge decide, by what the helper has found out. */
#ifndef GPUHELPER_ROOT_DECISION_H
#define GPUHELPER_ROOT_DECISION_H

#include "work.h"

/*
 * Fills w->decision, by w's settings, policies and identity and by what host_look() has found: which policy gives what
 * of what r asks for, as the judge decides and pure/verdict.h believes.  -1 with w->why: nothing is granted.
 */
int decision_reach(struct work *w, const struct request *r);

#endif
