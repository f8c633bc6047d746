/* See drivernames.h. Looks at no file: driverfiles.c has checked every source that is mounted again here. */
#include "drivernames.h"

#include <stdio.h>
#include <string.h>

#include "../../base/path.h"
#include "../../cdi/loaderdirs.h"
#include "../../cdi/nvhook.h"
#include "../../cdi/nvlibs.h"
#include "driverfound.h"

#define NAMED_MAX 1024		/* mounts of one container */

struct naming {
	const struct cdi_edits *const *from;
	struct edits *out;
	bool cached, linked;	/* a hook runs that updates the loader's cache; one that makes links */
};

/* The spec's own mount at this place, or NULL. *e gets the edits that it is in. */
static const struct cdi_mount *
find_own(const struct naming *n, const char *target, const struct cdi_edits **e)
{
	size_t i, k;

	for (i = 0; i < 2; i++)
		for (*e = n->from[i], k = 0; k < (*e)->mounts; k++)
			if ((*e)->mount[k].container_path != NULL && strcmp((*e)->mount[k].container_path, target) == 0)
				return &(*e)->mount[k];
	return NULL;
}

static bool
is_free(const struct naming *n, const char *target)
{
	const uint32_t sum = target_sum(target);
	const struct cdi_edits *e;
	size_t i;

	/* mostly the name is there already: gpuhelperctl's specs have all of them */
	for (i = 0; i < n->out->mounts; i++)
		if (n->out->mount[i].sum == sum && strcmp(n->out->mount[i].target, target) == 0)
			return false;
	for (i = 0; i < n->out->mounts; i++)
		if (path_related(driver_path_merged(n->out->mount[i].target), driver_path_merged(target)))
			return false;
	return find_own(n, target, &e) == NULL && !driver_hook_links(n->out, target);
}

/* True if the spec mounts this library, and it is not a 32-bit one. */
static bool
is_own_64(const struct naming *n, const char *target)
{
	const struct cdi_edits *e;
	const struct cdi_mount *own = find_own(n, target, &e);

	return own != NULL && !nvmount_is_32(e, own);
}

/* Mounts the source of mount number «at» under another name as well. */
static bool
mount_driver_as(struct naming *n, size_t at, const char *target)
{
	static const char *const options[] = { "bind", "rprivate", "ro", "nosuid", "nodev", NULL };

	if (n->out->mounts >= NAMED_MAX)
		return true;
	if (!edits_add_mount(n->out, n->out->mount[at].source, target, options))
		return false;
	n->out->mount[n->out->mounts - 1].driver = true;
	return true;
}

static bool
add_in_dirs(struct naming *n, size_t at, const char *beneath, const char *name)
{
	const char *const *dir;
	char target[256];

	for (dir = loader_dirs_here(); *dir != NULL; dir++)
		if ((size_t)snprintf(target, sizeof(target), "%s/%s%s", *dir, beneath, name) < sizeof(target) &&
		    is_free(n, target) && is_own_64(n, n->out->mount[at].target) && !mount_driver_as(n, at, target))
			return false;
	return true;
}

static bool
name_library(struct naming *n, size_t at)
{
	const char *file = path_last(n->out->mount[at].target), *beneath = nvlib_beneath(file), *other;
	char soname[64];

	if (!nvlib_soname(file, soname))
		return true;
	if (!n->cached && (!add_in_dirs(n, at, beneath, soname) || !add_in_dirs(n, at, beneath, file)))
		return false;
	return n->linked || (other = nvlib_other_name(file)) == NULL || add_in_dirs(n, at, "", other);
}

/* True if a loader of the container looks in the mount's directory. */
static bool
is_where_loaders_look(const char *target)
{
	const size_t len = (size_t)(path_last(target) - target);
	char dir[256];

	return (size_t)snprintf(dir, sizeof(dir), "%.*s", (int)len - 1, target) < sizeof(dir) && loader_looks_in(dir);
}

/* Mounts files under the names of the links that the hook would make to them. */
static bool
follow_links(struct naming *n, const struct cdi_hook *h)
{
	char target[NVHOOK_PATH_MAX], link[NVHOOK_PATH_MAX];
	size_t i, at = 0;

	while (nvhook_link(h, &at, target, link)) {
		/* links to nodes: the nodes are granted by themselves */
		if (path_is_beneath(link, "/dev"))
			continue;
		for (i = 0; i < n->out->mounts; i++)
			if (n->out->mount[i].driver &&
			    strcmp(driver_path_merged(n->out->mount[i].target), driver_path_merged(target)) == 0)
				break;
		if (i < n->out->mounts && is_free(n, link) && !mount_driver_as(n, i, link))
			return false;
	}
	return true;
}

bool
driver_names_add(const struct cdi_edits *const from[2], struct edits *out)
{
	struct naming n = { from, out, driver_hook_runs(out, NVHOOK_CACHE), driver_hook_runs(out, NVHOOK_LINKS) };
	const size_t last = out->mounts;
	size_t i, k;
	int round;

	/* of two files with one SONAME, that in a loader's directory first: the other is for programs that ask for it */
	for (round = 0; round < 2; round++)
		for (i = 0; i < last; i++)
			if (out->mount[i].driver && is_where_loaders_look(out->mount[i].target) == (round == 0) &&
			    !name_library(&n, i))
				return false;
	for (i = 0; !n.linked && i < 2; i++)
		for (k = 0; k < from[i]->hooks; k++)
			if (nvhook_of(&from[i]->hook[k]) == NVHOOK_LINKS && !follow_links(&n, &from[i]->hook[k]))
				return false;
	return true;
}
