/* See vetting.h. Runs as the host's root. */
#include "vetting.h"

#include <stdlib.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "../../host/folder/mountpoint.h"
#include "../../host/selinux.h"
#include "../../host/users.h"
#include "../../policy/policydecide.h"
#include "../../policy/policygrant.h"
#include "../../vet/vet.h"
#include "parsedfiles.h"
#include "vethost.h"

/* The policy that grants, which must list root. */
static const struct policy *
find_policy(const struct policy_set *all, const char *name, struct why *why)
{
	autofree char *user = user_name(0);
	const struct client root = { .uid = 0, .user = user, .member = true, .rootful = true };
	size_t i;

	for (i = 0; i < all->n; i++)
		if (all->v[i].broken == NULL && strcmp(all->v[i].policy.name, name) == 0)
			return policy_lists(&all->v[i].policy, &root, why) ? &all->v[i].policy : NULL;
	refuse(why, WHY_AGAIN, "policy %.200s granted the container and is gone or broken now: try again", name);
	return NULL;
}

/* The devices that names of usable specs mean, in an array that the caller frees. NULL if memory is short. */
static struct vet_source *
sources_of(const struct cdi_registry *r, size_t *n)
{
	struct vet_source *v = calloc(r->entries + 1, sizeof(*v));
	const struct cdi_entry *e;
	size_t i;

	*n = 0;
	for (i = 0; v != NULL && i < r->entries; i++) {
		e = &r->entry[i];
		if (!e->conflict)
			v[(*n)++] = (struct vet_source){ { &e->file->spec.edits, &e->device->edits }, e->file->spec.kind,
				e->file->faults.unsafe_hooks == 0, false };
	}
	return v;
}

/* Specs matter for grants of GPUs alone. */
static bool
needs_specs(const struct edits *e)
{
	size_t i;

	for (i = 0; i < e->mounts; i++)
		if (e->mount[i].driver)
			return true;
	return e->nodes > 0 || e->hooks > 0;
}

static int
check_reply(struct reply *reply, const struct request *r, const struct settings *s,
    const struct devmajors *majors, struct why *why)
{
	autovethost struct vethost host = { .parent = -1 };
	struct vet v = { .edits = &reply->edits, .request = r, .settings = s, .majors = majors, .host_view =
	    vethost_functions(&host) };
	autocdiregistry struct cdi_registry specs = { .files = 0 };
	autopolicyset struct policy_set policies = { .n = 0 };
	autofree struct vet_source *source = NULL;
	enum selinux_state selinux;

	if (parsed_files_policies(&policies, why) == -1 || (v.policy = find_policy(&policies, reply->policy, why)) == NULL)
		return -1;
	if (needs_specs(v.edits) && parsed_files_specs(&specs, why) == -1)
		return -1;
	if ((v.source = source = sources_of(&specs, &v.sources)) == NULL)
		return refuse_nomem(why);
	if (selinux_state(&selinux, why) == -1)
		return -1;
	v.enforcing = selinux == SELINUX_ENFORCING;
	if (vet_edits(&v, why) == -1 || mountpoints_check(&reply->edits, why) == -1)
		return -1;
	reply->edits.env_secret = reply->edits.env_secret || vet_sets_secret(&reply->edits, v.policy);
	return 0;
}

int
vetting_check(struct reply *reply, const struct request *r, const struct settings *s,
    const struct devmajors *majors, struct why *why)
{
	const int ret = check_reply(reply, r, s, majors, why);

	parsed_files_end();
	return ret;
}
