/*
 * The helper's side of gpuhelper-engine, a program without any rights that decides what a request may have, and says
 * what the CDI specs give a container in addition to its GPUs' nodes. The helper opens only nodes of GPUs
 * (ask/hostcheck.h), and those extra nodes that it finds to be fit itself (extraadd.h); what comes with them goes into
 * the reply, unread.
 */
#ifndef GPUHELPER_ROOT_CHILD_ENGINE_H
#define GPUHELPER_ROOT_CHILD_ENGINE_H

#include <sys/types.h>

#include "../../ask/authzask.h"
#include "../../lease/edits.h"
#include "../../policy/driverwant.h"

/* Starts the program, before filter_install(). If that fails, every question fails with the reason. */
void engine_start(void);
void engine_exec(void);		/* has it start now, because it will get a question soon */
void engine_end(void);

/*
 * Asks what a request may have. read, len: gpuhelper-read's answer about the policies (reader.h). Serves its questions
 * to the judge meanwhile, and sends it the CDI specs of this host. To be called in a cgroup of root's (owncgroup.h). 0:
 * the policy out->policy grants. -1 with *why; *out then says what is known, unchecked. authz_answer_free() in either
 * case.
 */
int engine_ask_authz(struct authz_ask *a, const struct settings *s, const char *read, size_t len,
    struct authz_answer *out, struct why *why);

/*
 * Finds the extra nodes of these GPUs (n of them, of the decision that was last asked for) by their rules, and who owns
 * them. -1 with *why: a node can't be given, or is not fit. Asks nothing where no rule can give one.
 */
int engine_ask_nodes(const struct decision *d, const struct driver_want *want, size_t n, struct driver_nodes *out,
    struct why *why);

/*
 * The same, and adds to *e, which may have folders and variables already, all else that comes with the GPUs: the
 * driver's files, hooks and variables, notes, and the paths of the container's /proc to hide. *specs: the specs that
 * gave them. -1 with *why.
 */
int engine_ask_edits(const struct decision *d, const struct driver_want *want, size_t n, const struct settings *s,
    struct driver_nodes *out, struct edits *e, struct strlist *specs, struct why *why);

#endif
