/*
 * The helper's side of gpuhelper-engine, a program without any rights that says what the CDI specs give a container in
 * addition to its GPUs' nodes. The helper opens only those extra nodes that it finds to be fit itself (extraadd.h);
 * all else of the answers goes into the reply, unread.
 */
#ifndef GPUHELPER_ROOT_CHILD_ENGINE_H
#define GPUHELPER_ROOT_CHILD_ENGINE_H

#include <sys/types.h>

#include "../../lease/edits.h"
#include "../../policy/driverwant.h"
#include "../../policy/settings.h"

/* Starts the program, before filter_install(). If that fails, every question fails with the reason. */
void engine_start(void);
void engine_execute(void);		/* has it start now, because it will get a question soon */
void engine_end(void);

/* Sends it the CDI specs of this host. To be called once, in a cgroup of root's (owncgroup.h). -1 with *why. */
int engine_send_specs(struct why *why);

/*
 * After that, once: adds to *inv what the specs say of its GPUs: names, problems, and devices that are no GPU. *inv
 * must live on: later questions name its GPUs by their indexes. -1 with *why.
 */
int engine_ask_names(struct inventory *inv, struct why *why);

/*
 * Finds the extra nodes of these GPUs (n of them) by their rules, and who owns them. -1 with *why: a node can't be
 * given, or is not fit. Asks nothing where no rule can give one.
 */
int engine_ask_nodes(const struct inventory *inv, const struct driver_want *want, size_t n, struct driver_nodes *out,
    struct why *why);

/*
 * The same, and adds to *e, which may have folders and variables already, all else that comes with the GPUs: the
 * driver's files, hooks and variables, notes, and the paths of the container's /proc to hide. *specs: the specs that
 * gave them. -1 with *why.
 */
int engine_ask_edits(const struct inventory *inv, const struct driver_want *want, size_t n, const struct settings *s,
    struct driver_nodes *out, struct edits *e, struct strlist *specs, struct why *why);

#endif
