/*
 * See folders.h. The runtime resolves the path again, so only root may be able to change a directory above
 * the folder: the runtime then finds what was checked here. Opens with O_PATH only, and must never change a
 * folder's mode or ACL.
 */
#include "folders.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/path.h"
#include "../../lease/editsdriver.h"
#include "../accessallowed.h"
#include "../file.h"
#include "../trust.h"
#include "mountpoint.h"
#include "mounts.h"

/* The container's process, the mounts as of the first folder, and the directory that the last folder lies in. */
struct folder_search {
	const struct folder_grant *first;	/* of the grant's */
	const struct subject *subject;
	const struct mount_table *mounts;
	char *dir;		/* NULL: none is open */
	int parent;
};

/* Refuses with the command that gives the access. */
static int
refuse_access(const char *path, const struct subject *s, bool writable, struct why *why)
{
	if (!s->mapped)
		return refuse(why, WHY_DENIED, "folder %s: the container's user is not mapped to a user of this host", path);
	return refuse(why, WHY_DENIED, "folder %s: its mode and ACL give the container's user (uid %u here) no %s: "
	    "setfacl -m u:%u:%s %s", path, s->uid, writable ? "write access" : "read access", s->uid,
	    writable ? "rwx" : "rx", path);
}

static int
add_folder_mount(const struct folder_grant *w, const char *path, const char *target, const struct edit_mount *seen,
    struct edits *out, struct why *why)
{
	const uint32_t sum = target_sum(target);
	size_t i;

	for (i = 0; i < out->mounts; i++) {
		if (out->mount[i].relabel != w->rule->relabel && path_related(out->mount[i].source, path))
			return refuse(why, WHY_CONFIG, "folders %s and %s are the same, or one is in the other: they can't have "
			    "different labels (relabel)", out->mount[i].source, path);
		if (out->mount[i].sum != sum || strcmp(out->mount[i].target, target) != 0)
			continue;
		if (strcmp(out->mount[i].source, path) != 0)
			return refuse(why, WHY_CONFIG, "folders %s and %s would both be at %s in the container",
			    out->mount[i].source, path, target);
		if (!w->writable)
			return 0;	/* listed twice: the wider access counts */
		free(out->mount[i].source);
		free(out->mount[i].target);
		strlist_free(&out->mount[i].options);
		out->mount[i] = out->mount[--out->mounts];
		break;
	}
	if (out->mounts >= CONTAINER_FOLDERS_MAX)
		return refuse(why, WHY_CONFIG, "more than %d folders for one container: name those that it needs in "
		    "GPUHELPER_FOLDERS", CONTAINER_FOLDERS_MAX);
	if (!edits_add_mount(out, path, target, folder_rule_options(w->rule->submounts, w->writable)))
		return refuse_nomem(why);
	out->mount[out->mounts - 1].relabel = w->rule->relabel;
	out->mount[out->mounts - 1].grant = seen->grant;
	out->mount[out->mounts - 1].mnt_id = seen->mnt_id;
	return 0;
}

/*
 * In a user namespace the kernel makes no bind mount that would uncover what another mount hides
 * (mount_namespaces(7)). A folder with mounts beneath it can't be mounted there without them.
 */
static int
check_beneath(const struct folder_grant *w, const char *path, const struct folder_search *l, struct why *why)
{
	char first[1100];

	if (w->rule->submounts || l->subject->uidmap->identity || !mounts_beneath(l->mounts, path, first, sizeof(first)))
		return 0;
	return refuse(why, WHY_CONFIG, "folder %s has a mount beneath it (%s), which a container in a user namespace can't "
	    "leave out: say submounts = true in the policy, or unmount it", path, first);
}

/* Checks that the folder is a directory that the container's user may use as the grant says. */
static int
check_access(int parent, const struct folder_grant *w, const char *path, const struct subject *s, uint64_t *mnt_id,
    struct why *why)
{
	autoclose int fd = -1;
	struct statx st;

	*mnt_id = 0;
	/* mostly this call is enough, also for what look/paths.c looks for, and a container can have 1,000 folders */
	if (statx(parent, path_last(path), AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS | STATX_MNT_ID, &st) == 0 &&
	    S_ISDIR(st.stx_mode) && access_overrides(&(struct stat){ .st_uid = st.stx_uid, .st_gid = st.stx_gid }, s)) {
		*mnt_id = (st.stx_mask & STATX_MNT_ID) != 0 ? st.stx_mnt_id : 0;
		return 0;
	}
	fd = file_open_beneath(parent, path_last(path), O_PATH | O_DIRECTORY);
	if (fd == -1 && errno == EACCES && faccessat(parent, ".", X_OK, 0) == -1)
		return refuse(why, WHY_IO, "folder %s: %.*s: %s", path, (int)(path_last(path) - path - 1), path, strerror(EACCES));
	if (fd == -1)
		return refuse(why, errno == ENOENT ? WHY_ABSENT : errno == EACCES ? WHY_IO : WHY_DENIED, "folder %s: %s", path,
		    errno == ELOOP ? "is a symbolic link" : errno == ENOTDIR ? "is not a directory" : strerror(errno));
	return access_allowed(fd, s, w->writable ? R_OK | W_OK | X_OK : R_OK | X_OK) ? 0 :
	    refuse_access(path, s, w->writable, why);
}

/* Adds one folder, whose parent directory is open and trusted. */
static int
resolve_one(int parent, const struct folder_grant *w, const char *path, const char *target,
    const struct folder_search *l, struct edits *out, struct why *why)
{
	struct edit_mount seen = { .grant = (uint32_t)(w - l->first) };

	if (check_access(parent, w, path, l->subject, &seen.mnt_id, why) == -1 || check_beneath(w, path, l, why) == -1)
		return -1;
	return add_folder_mount(w, path, target, &seen, out, why);
}

/* Returns 1 for a directory, 0 for anything else or if it is gone, -1 with errno if that can't be seen. */
static int
is_dir(int parent, const char *name)
{
	autoclose int fd = file_open_beneath(parent, name, O_PATH);
	struct stat st;

	if (fd == -1)
		return errno == ENOENT || errno == ELOOP ? 0 : -1;
	return fstat(fd, &st) == -1 ? -1 : S_ISDIR(st.st_mode);
}

/* Adds the folders in «dir» that match the pattern. */
static int
resolve_pattern(int parent, const char *dir, const struct folder_grant *w, const struct folder_search *l,
    struct edits *out, struct why *why)
{
	struct dirent *e;
	int dir_is, ret = 0;
	/* opened anew: a duplicate would share its place in the listing with that of another pattern */
	DIR *d = file_list(openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));

	if (d == NULL)
		return refuse(why, WHY_IO, "folder %s: %s", dir, strerror(errno));
	while (ret == 0 && (errno = 0, e = readdir(d)) != NULL) {
		autofree char *path = NULL, *target = NULL;

		if (e->d_name[0] == '.' || !glob_match(path_last(w->path), e->d_name) ||
		    (dir_is = is_dir(parent, e->d_name)) == 0)
			continue;
		if (dir_is == -1)
			ret = refuse(why, WHY_IO, "folder %s/%s: %s", dir, e->d_name, strerror(errno));
		else if (asprintf(&path, "%s/%s", dir, e->d_name) == -1 ||
		    asprintf(&target, "%s/%s", w->target, e->d_name) == -1) {
			path = target = NULL;
			ret = refuse_nomem(why);
		} else if (path_check(path, why) == -1) {
			ret = -1;
		} else
			ret = resolve_one(parent, w, path, target, l, out, why);
	}
	/* a listing that broke off would grant fewer folders than the policy says */
	if (ret == 0 && errno != 0)
		ret = refuse(why, WHY_IO, "folder %s: %s", dir, strerror(errno));
	closedir(d);
	return ret;
}

/*
 * Refuses a folder beneath the policy's own if a directory between them does not let the container through. If the
 * container got the policy's folder, it could not reach such a subfolder. So it must not reach it by asking for the
 * subfolder itself.
 */
static int
check_path_above(const struct folder_grant *w, const struct subject *s, struct why *why)
{
	autofree char *above = strdup(w->path);
	const int root = file_root();
	char *slash;
	int fd;

	if (above == NULL)
		return refuse_nomem(why);
	while ((slash = strrchr(above, '/')) != NULL && slash != above) {
		*slash = '\0';
		if (!path_at_or_beneath(above, w->base))
			return 0;
		fd = file_open_beneath(root, above + 1, O_PATH | O_DIRECTORY);
		if (fd == -1 || !access_allowed(fd, s, X_OK)) {
			refuse(why, WHY_DENIED, "folder %s: %s does not let the container's user (uid %u here) through: "
			    "setfacl -m u:%u:x %s", w->path, above, s->uid, s->uid, above);
			if (fd != -1)
				close(fd);
			return -1;
		}
		close(fd);
	}
	return 0;
}

static void
close_parent(struct folder_search *l)
{
	if (l->dir != NULL)
		close(l->parent);
	free(l->dir);
	l->dir = NULL;
}

/*
 * Opens the trusted directory that the folder lies in. It stays open: the next folder is mostly in the same directory.
 */
static int
open_parent(const struct folder_grant *w, struct folder_search *l, struct why *why)
{
	autofree char *dir = path_parent(w->path);
	enum trust_found found;
	struct why inner;

	if (dir == NULL)
		return refuse_nomem(why);
	if (l->dir != NULL && strcmp(l->dir, dir) == 0)
		return 0;
	close_parent(l);
	if ((found = trust_pin_dir(dir, true, &l->parent, &inner)) != TRUST_FOUND)
		return refuse(why, found == TRUST_ABSENT ? WHY_ABSENT : found == TRUST_NO_ACCESS ? WHY_IO : WHY_DENIED,
		    "folder %s: %s", w->path, inner.text);
	l->dir = dir;
	dir = NULL;
	return 0;
}

static int
resolve_folder(const struct folder_grant *w, struct folder_search *l, struct edits *out, struct why *why)
{
	if (open_parent(w, l, why) == -1)
		return -1;
	if (w->base != NULL && check_path_above(w, l->subject, why) == -1)
		return -1;
	if (glob_is(w->path))
		return resolve_pattern(l->parent, l->dir, w, l, out, why);
	return resolve_one(l->parent, w, w->path, w->target, l, out, why);
}

int
folders_resolve_among(const struct mount_table *mounts, const struct grant *g, const struct subject *s,
    struct edits *out, struct why *why)
{
	struct folder_search search = { .first = g->folder, .subject = s, .mounts = mounts };
	size_t i;
	int ret = 0;

	for (i = 0; ret == 0 && i < g->folders; i++)
		ret = resolve_folder(&g->folder[i], &search, out, why);
	close_parent(&search);
	if (ret == -1)
		return -1;
	edits_sort_mounts(out);
	return mountpoints_check(out, why);
}
