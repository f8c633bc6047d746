/* See cdigroups.h.  Reads /etc/group and looks at nodes in /dev; opens none. */
#include "cdigroups.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../pure/text.h"
#include "users.h"

/* *v is of *n elements; what is there already stays. */
static struct cdi_group *
add(struct cdi_group **v, size_t *n, uint32_t gid)
{
	struct cdi_group *more;
	size_t i;

	for (i = 0; i < *n; i++)
		if ((*v)[i].gid == gid)
			return &(*v)[i];
	if ((more = reallocarray(*v, *n + 1, sizeof(*more))) == NULL)
		return NULL;
	*v = more;
	more += (*n)++;
	*more = (struct cdi_group){ .gid = gid };
	return more;
}

static int
add_named(struct cdi_group **v, size_t *n, struct why *why)
{
	/* disks and memory; engines that start what they are told to; passwords; who may become root */
	static const char *const names[] = { "disk", "kmem", "docker", "lxd", "incus", "incus-admin", "podman",
		"containerd", "libvirt", "shadow", "staff", "sudo", "wheel", "admin", "gpuhelper", NULL };
	struct cdi_group *g;
	uint32_t gid;
	size_t i;

	for (i = 0; names[i] != NULL; i++) {
		if (!group_gid(names[i], &gid)) {
			if (errno != 0 && errno != ENOENT)
				return refuse(why, WHY_IO, "/etc/group: %s", strerror(errno));
			continue;
		}
		if ((g = add(v, n, gid)) == NULL)
			return refuse_nomem(why);
		if (g->is[0] == '\0')
			snprintf(g->is, sizeof(g->is), "is this host's group %s, which is as good as root", names[i]);
	}
	return 0;
}

/* Not what is removed and put in: such a group (cdrom, floppy) is people's at the machine. */
static bool
is_hosts(const char *name, const struct stat *st)
{
	static const char *const disks[] = { "sd", "nvme", "vd", "xvd", "mmcblk", "dm-", "md", "loop", NULL };
	size_t i;

	if (S_ISCHR(st->st_mode))
		return strcmp(name, "mem") == 0 || strcmp(name, "kmem") == 0 || strcmp(name, "port") == 0;
	for (i = 0; S_ISBLK(st->st_mode) && disks[i] != NULL; i++)
		if (text_starts(name, disks[i]))
			return true;
	return false;
}

static int
by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int
add_owners(struct cdi_group **v, size_t *n, struct why *why)
{
	struct dirent **entry = NULL;
	struct cdi_group *g;
	char path[300];
	struct stat st;
	int count = scandir("/dev", &entry, NULL, by_name), i, ret = 0;

	if (count == -1)
		return refuse(why, WHY_IO, "/dev: %s", strerror(errno));
	for (i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "/dev/%s", entry[i]->d_name);
		if (ret == 0 && lstat(path, &st) == 0 && is_hosts(entry[i]->d_name, &st)) {
			if ((g = add(v, n, st.st_gid)) == NULL)
				ret = refuse_nomem(why);
			else if (g->is[0] == '\0')
				snprintf(g->is, sizeof(g->is), "owns this host's %s, and is as good as root", path);
		}
		free(entry[i]);
	}
	free(entry);
	return ret;
}

int
cdi_groups_of_host(struct cdi_group **out, size_t *n, struct why *why)
{
	*out = NULL;
	*n = 0;
	if (add_named(out, n, why) == 0 && add_owners(out, n, why) == 0)
		return 0;
	free(*out);
	*out = NULL;
	*n = 0;
	return -1;
}
