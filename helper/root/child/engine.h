/*
 * The helper's side of gpuhelper-engine, a program without any rights that decides what a request may have, and says
 * what the CDI specs give a container in addition to its GPUs' nodes. The helper gives access only to nodes of GPUs
 * that the judge told of (gpu/knownnode.h), and those extra nodes that it finds to be fit itself (extraadd.h); what
 * comes with them goes into the reply, unread.
 */
#ifndef GPUHELPER_ROOT_CHILD_ENGINE_H
#define GPUHELPER_ROOT_CHILD_ENGINE_H

#include <sys/types.h>

#include "../../ask/authzquery.h"
#include "../../ask/enginequery.h"
#include "../../lease/edits.h"
#include "../../policy/grantedgpu.h"

/*
 * Starts the program, before filter_install(). If that fails, every question fails with the reason. at_once: it is
 * executed now, because it will get a question soon.
 */
void engine_start(bool at_once);

/*
 * Asks what a request may have. read, len: gpuhelper-read's answer about the policies (reader.h). Serves its questions
 * to the judge meanwhile, and sends it the CDI specs of this host. To be called in a cgroup of root's (owncgroup.h). 0:
 * the policy out->policy grants. -1 with *why; *out then says what is known, unchecked. authz_answer_free() in either
 * case.
 */
int engine_ask_authz(struct authz_query *a, const struct settings *s, const char *read, size_t len,
    struct authz_answer *out, struct why *why);

/*
 * Under the lock on the leases: has it pick GPUs of the decision that was last asked for, and say what comes with them
 * (for_task: only the extra nodes, and the task's variables). w: the request's words; e: what the container gets
 * already, its folders. 0: out->pick has the picks, which are not checked, and out->why says why the rest is not known.
 * 1 with *why: too few are free, and out->pick.in_quota is filled in. -1 with *why: there is no answer.
 * engine_answer_free() in any case.
 */
int engine_ask_picks(bool for_task, const struct pick_query *pick, const struct untrusted *w, const struct edits *e,
    struct engine_answer *out, struct why *why);

/*
 * Asks what comes with all of these GPUs (n of them; none of them is picked). w, e: of the same container, as above. -1
 * with *why. engine_answer_free() in either case.
 */
int engine_ask_all(const struct decision *d, const struct granted_gpu *granted, size_t n, const struct untrusted *w,
    const struct edits *e, struct engine_answer *out, struct why *why);

/*
 * Takes the extra nodes of the answer about these GPUs, and finds who owns them. -1 with *why: a node is not fit, or
 * answer->why.
 */
int engine_take_nodes(const struct engine_answer *answer, const struct decision *d, const struct granted_gpu *granted,
    size_t n, struct extra_nodes *out, struct why *why);

/*
 * Takes all else of the answer, unread: the driver's files, hooks and variables, notes, and the paths of the
 * container's /proc to hide. -1 with *why: gpuhelper.conf allows no such files or hooks.
 */
int engine_take_edits(struct engine_answer *answer, const struct settings *s, struct driver_edits *out,
    struct why *why);

/*
 * Asks for the extra nodes of these GPUs alone. -1 with *why: a node can't be given, or is not fit. Asks nothing where
 * no rule can give one.
 */
int engine_ask_nodes(const struct decision *d, const struct granted_gpu *granted, size_t n, struct extra_nodes *out,
    struct why *why);

#endif
