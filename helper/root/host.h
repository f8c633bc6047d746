/*
 * What GPUs the host has: as gpuhelper-judge sees it (judge.h), checked (pure/hostcheck.h), with what the helper reads
 * by itself in /proc.
 */
#ifndef GPUHELPER_ROOT_HOST_H
#define GPUHELPER_ROOT_HOST_H

#include "../host/decide.h"

/*
 * What the helper reads by itself: which numbers are whose, and how NVIDIA's nodes are made.  -1 with *why: then none
 * may be made.  inventory_free() in either case.
 */
int host_read_drivers(struct inventory *inv, struct why *why);

/*
 * Has the judge look, once and before it hears anything else, for GPUs of the vendors in the mask (1 << enum
 * gpu_vendor).  What goes wrong shows in host_gpus().  To be called when leave_cgroup() (owncgroup.h) has been: the
 * kernel shows GPUs as the cgroup's device rules are.
 */
void host_look(unsigned vendors);

/* A gpus_finder, of what host_look() looked for; nobody having called that, it is done now. */
int host_gpus(unsigned vendors, struct inventory *out, struct why *why);

#endif
