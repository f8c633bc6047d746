/* See takedriver.h. */
#include "takedriver.h"

#include <stdlib.h>
#include <string.h>

#include "../../lease/editsdriver.h"
#include "../../vet/vet.h"

/* What the helper was told is what it compared with folders that others may write to, and wrote into the lease. */
static bool
are_told(const struct edits *from, const struct driver_edits *told)
{
	size_t i;

	if (from->mounts != told->mounted.n || from->hooks != told->run.n)
		return false;
	for (i = 0; i < from->mounts; i++)
		if (strcmp(from->mount[i].source, told->mounted.v[i]) != 0)
			return false;
	for (i = 0; i < from->hooks; i++)
		if (strcmp(from->hook[i].path, told->run.v[i]) != 0)
			return false;
	return true;
}

static int
check_variables(const struct strlist *env, const struct settings *s, struct why *why)
{
	size_t i;

	for (i = 0; i < env->n; i++)
		if (s->driver_files == DRIVER_FILES_NONE && !vet_names_gpus(s, env->v[i]))
			return refuse(why, WHY_BUG, "gpuhelper-engine reports variables that gpuhelper.conf does not allow");
	return 0;
}

/* Moves what is there. */
static int
merge(struct edits *from, struct edits *e, struct why *why)
{
	struct edit_mount *v = reallocarray(e->mount, e->mounts + from->mounts + 1, sizeof(*v));
	size_t i;

	if (v == NULL)
		return refuse_nomem(why);
	e->mount = v;
	if (from->mounts > 0)
		memcpy(&v[e->mounts], from->mount, from->mounts * sizeof(*v));
	e->mounts += from->mounts;
	from->mounts = 0;
	for (i = 0; i < from->env.n; i++)
		if (!edits_add_env(e, from->env.v[i]))
			return refuse_nomem(why);
	e->hook = from->hook;
	e->hooks = from->hooks;
	e->masked = from->masked;
	e->notes = from->notes;
	from->hook = NULL;
	from->hooks = 0;
	from->masked = from->notes = (struct strlist){ .n = 0 };
	return 0;
}

static int
take(struct edits *from, struct edits *e, const struct settings *s, struct why *why)
{
	if (driver_edits_decode(e->driver.files, e->driver.process, from, why) == -1 ||
	    check_variables(&from->env, s, why) == -1 ||
	    driver_edits_check_folders(from, e->mount, e->mounts, why) == -1)
		return -1;
	return are_told(from, &e->driver) ? merge(from, e, why) :
	    refuse(why, WHY_BUG, "gpuhelper-engine reports files or hooks of which gpuhelper has not heard");
}

int
take_driver_edits(struct edits *e, const struct settings *s, struct why *why)
{
	autocontaineredits struct edits from = { 0 };

	if (e->driver.files != NULL && take(&from, e, s, why) == -1)
		return -1;
	edits_sort_mounts(e);
	return 0;
}
