/* See drivernames.h.  Looks at nothing: what is mounted once more was looked at. */
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

/* The spec's own mount at this place. */
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

/* What is mounted at number «at», as another name. */
static bool
add_name(struct naming *n, size_t at, const char *target)
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
		    !add_name(n, at, target))
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
	/* VDPAU looks for its drivers in a directory of their own */
	beneath = text_starts(file, "libvdpau_") ? "vdpau/" : "";
	if (!add_in_dirs(n, at, beneath, soname) || !add_in_dirs(n, at, beneath, file))
		return false;
	return (other = nvlib_other_name(file)) == NULL || add_in_dirs(n, at, "", other);
}

/* Where a link leads to what the container has, that has another name. */
static bool
follow_links(struct naming *n, const struct cdi_hook *h)
{
	char target[NVHOOK_PATH_MAX], link[NVHOOK_PATH_MAX];
	size_t i, at = 0;

	while (nvhook_link(h, &at, target, link)) {
		/* links to nodes: the nodes come by themselves */
		if (path_is_beneath(link, "/dev"))
			continue;
		for (i = 0; i < n->out->mounts; i++)
			if (n->out->mount[i].driver && strcmp(n->out->mount[i].target, target) == 0)
				break;
		if (i < n->out->mounts && !add_name(n, i, link))
			return false;
	}
	return true;
}

/* «libcuda.so.1», and not «libcuda.so.580.95.05». */
static bool
is_soname(const char *path)
{
	const char *file = path_last(path), *so = strstr(file, ".so.");
	char soname[64];

	return so != NULL && strchr(so + strlen(".so."), '.') == NULL && nvlib_soname(file, soname) &&
	    strcmp(soname, file) == 0;
}

/* A spec that mounts libraries under their SONAMEs says by itself what is to be where, and needs no links. */
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
