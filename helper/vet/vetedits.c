/* See vet.h. Makes no system call: the caller says how to look at the host. */
#include "vet.h"

#include <string.h>

#include "../base/path.h"
#include "../policy/policydecide.h"
#include "vetparts.h"

/* Paths that are hidden can only be what NVIDIA's driver shows of GPUs. */
static int
check_masked(const struct vet *v, struct why *why)
{
	struct why wrong;
	size_t i;

	for (i = 0; i < v->edits->masked.n; i++)
		if (path_check(v->edits->masked.v[i], &wrong) == -1 ||
		    !path_is_beneath(v->edits->masked.v[i], "/proc/driver/nvidia"))
			return vet_refuse("masked path", v->edits->masked.v[i], why);
	return 0;
}

#define MOUNTS_MAX 2048		/* CONTAINER_FOLDERS_MAX, and as many files of a driver */
#define NODES_MAX 1024
#define HOOKS_MAX 64
#define ENV_MAX 4096

/* More than any grant has: the checks below compare each with each. */
static int
check_numbers(const struct edits *e, struct why *why)
{
	if (e->mounts > MOUNTS_MAX || e->nodes > NODES_MAX || e->hooks > HOOKS_MAX || e->env.n > ENV_MAX ||
	    e->masked.n > ENV_MAX)
		return refuse(why, WHY_BUG, "gpuhelper's reply has more changes than a container can get");
	return 0;
}

/* Without a policy that allows it, no token makes a container privileged. */
static int
check_privileged(const struct vet *v, struct why *why)
{
	if (!v->request->spec.privileged || v->settings->privileged != PRIVILEGED_DENY)
		return 0;
	return policy_lets_privileged(v->policy, why) ? 0 : -1;
}

bool
vet_sets_secret(const struct edits *e, const struct policy *p)
{
	size_t i;

	for (i = 0; i < e->env.n; i++)
		if (strlist_has(&p->env, e->env.v[i]))
			return true;
	return false;
}

int
vet_edits(struct vet *v, struct why *why)
{
	if (check_numbers(v->edits, why) == -1)
		return -1;
	if (check_privileged(v, why) == -1)
		return -1;
	if (vet_nodes(v, why) == -1)
		return -1;
	if (vet_mounts(v, why) == -1)
		return -1;
	if (vet_hooks(v, why) == -1)
		return -1;
	if (vet_labels(v, why) == -1)
		return -1;
	if (check_masked(v, why) == -1)
		return -1;
	return vet_env(v, why);
}
