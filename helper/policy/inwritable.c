/* See inwritable.h. Compares paths of policies; root/lease/lookups.c compares the lookup paths of live leases. */
#include "inwritable.h"
#include "folderholds.h"

static int
check_policy_folders(const struct policy *p, const struct edits *e, struct why *why)
{
	size_t i, k;

	for (i = 0; i < e->mounts; i++)
		for (k = 0; k < p->folders; k++)
			if (folder_rule_holds(&p->folder[k], e->mount[i].source))
				return refuse(why, WHY_DENIED, "folder %s lies in %s, which %s gives for writing: «run» starts the task "
				    "before gpuhelper can check that nobody has redirected the path; use create and start", e->mount[i].source,
				    p->folder[k].path, p->name);
	return 0;
}

static int
check_entry(const struct policy_entry *entry, const struct edits *e, struct why *why)
{
	return entry->broken == NULL ? check_policy_folders(&entry->policy, e, why) :
	    refuse(why, WHY_CONFIG, "%s is broken, so it may give one of these folders, or one above, for writing: «run» "
	    "starts the task before gpuhelper can check the paths; mend it, or use create and start", entry->policy.name);
}

int
refuse_in_writable(const struct policy_set *policies, const struct edits *e, struct why *why)
{
	size_t i;

	for (i = 0; e->mounts > 0 && i < policies->n; i++)
		if (check_entry(&policies->v[i], e, why) == -1)
			return -1;
	return 0;
}
