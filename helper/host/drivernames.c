/* See drivernames.h. Looks at no file: driverfiles.c has checked every source that is mounted again here. */
#include "drivernames.h"

#include <stdio.h>
#include <string.h>

#include "../pure/loaderdirs.h"
#include "../pure/nvhook.h"
#include "../pure/nvlibs.h"
#include "../pure/path.h"

#define NAMED_MAX 1024		/* mounts of one container */

struct naming {
	const struct cdi_edits *e;
	struct edits *out;
};

/* The spec's own mount at this place, or NULL. */
static const struct cdi_mount *
find_own(const struct naming *n, const char *target)
{
	size_t i;

	for (i = 0; i < n->e->mounts; i++)
		if (n->e->mount[i].container_path != NULL && strcmp(n->e->mount[i].container_path, target) == 0)
			return &n->e->mount[i];
	return NULL;
}

static bool
is_free(const struct naming *n, const char *target)
{
	size_t i;

	for (i = 0; i < n->out->mounts; i++)
		if (path_related(n->out->mount[i].target, target))
			return false;
	return find_own(n, target) == NULL;
}

/* Mounts the source of mount number «at» under another name as well, if that place is free. */
static bool
mount_driver_as(struct naming *n, size_t at, const char *target)
{
	static const char *const options[] = { "bind", "rprivate", "ro", "nosuid", "nodev", NULL };

	if (!is_free(n, target) || n->out->mounts >= NAMED_MAX)
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
		    !mount_driver_as(n, at, target))
			return false;
	return true;
}

static bool
name_library(struct naming *n, size_t at)
{
	const struct cdi_mount *own = find_own(n, n->out->mount[at].target);
	const char *file, *beneath, *other;
	char soname[64];

	if (own == NULL || nvmount_is_32(n->e, own))
		return true;
	file = path_last(own->container_path);
	if (!nvlib_soname(file, soname))
		return true;
	/* programs look for VDPAU drivers in a directory of their own */
	beneath = text_starts(file, "libvdpau_") ? "vdpau/" : "";
	if (!add_in_dirs(n, at, beneath, soname) || !add_in_dirs(n, at, beneath, file))
		return false;
	return (other = nvlib_other_name(file)) == NULL || add_in_dirs(n, at, "", other);
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
			if (n->out->mount[i].driver && strcmp(n->out->mount[i].target, target) == 0)
				break;
		if (i < n->out->mounts && !mount_driver_as(n, i, link))
			return false;
	}
	return true;
}

/* True for «libcuda.so.1», false for «libcuda.so.580.95.05». */
static bool
is_soname(const char *path)
{
	const char *file = path_last(path), *so = strstr(file, ".so.");
	char soname[64];

	return so != NULL && strchr(so + strlen(".so."), '.') == NULL && nvlib_soname(file, soname) &&
	    strcmp(soname, file) == 0;
}

/*
 * True if the spec mounts libraries under their SONAMEs. Its author then decided where each name goes, and no
 * links are needed.
 */
static bool
names_by_itself(const struct cdi_edits *e)
{
	size_t i;

	for (i = 0; i < e->mounts; i++)
		if (e->mount[i].container_path != NULL && is_soname(e->mount[i].container_path))
			return true;
	return false;
}

bool
driver_names_add(const struct cdi_edits *e, size_t first, struct edits *out)
{
	struct naming n = { e, out };
	const size_t last = out->mounts;
	size_t i;

	if (names_by_itself(e))
		return true;
	for (i = first; i < last; i++)
		if (out->mount[i].driver && !name_library(&n, i))
			return false;
	for (i = 0; i < e->hooks; i++)
		if (nvhook_of(&e->hook[i]) == NVHOOK_LINKS && !follow_links(&n, &e->hook[i]))
			return false;
	return true;
}
