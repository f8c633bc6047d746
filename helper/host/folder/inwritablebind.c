/* See inwritablebind.h. Opens only directories that policies name, with O_PATH. */
#include "inwritablebind.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "../../base/path.h"
#include "../file.h"
#include "mounts.h"

/* The rule's folder or, for a pattern, the directory that the pattern is in. The caller frees it. */
static char *
dir_of(const struct folder_rule *r)
{
	const size_t n = (size_t)(path_last(r->path) - r->path);

	return glob_is(r->path) ? strndup(r->path, n > 1 ? n - 1 : 1) : strdup(r->path);
}

/*
 * True if the file system path «FILE-SYSTEM PATH» is strictly beneath the folder or, for a pattern, beneath a name that
 * matches.
 */
static bool
lies_in(const char *text, const char *fs, const char *fs_path, const struct folder_rule *r)
{
	const size_t n = strlen(fs);
	const char *at = text + n + 1, *rest;
	autofree char *name = NULL;

	if (strncmp(text, fs, n) != 0 || text[n] != ' ' || !path_is_beneath(at, fs_path))
		return false;
	if (!glob_is(r->path))
		return true;
	at += strlen(fs_path) + (strcmp(fs_path, "/") != 0);
	if ((rest = strchr(at, '/')) == NULL)
		return false;
	name = strndup(at, (size_t)(rest - at));
	return name == NULL || glob_match(path_last(r->path), name);
}

/*
 * True if the directory is on the file system of one of the folders. Other directories are not opened,
 * because their file system may hang.
 */
static bool
may_hold(const struct mount_table *t, const char *dir, const struct edits *e)
{
	size_t i;

	for (i = 0; i < e->mounts; i++)
		if (e->mount[i].fs_path != NULL && mounts_on(t, dir, e->mount[i].fs_path, strcspn(e->mount[i].fs_path, " ")))
			return true;
	return false;
}

/* A folder that does not exist or is reached by a link is granted to nobody, so it passes. */
static int
check_bind_in_writable(const struct policy *p, const struct folder_rule *r, int root, const struct mount_table *t,
    const struct edits *e, struct why *why)
{
	autofree char *fs = NULL, *fs_path = NULL, *dir = dir_of(r);
	autoclose int fd = -1;
	size_t i;

	if (dir == NULL)
		return refuse_nomem(why);
	if (!may_hold(t, dir, e))
		return 0;
	if ((fd = file_open_beneath(root, strcmp(dir, "/") == 0 ? "." : dir + 1, O_PATH | O_DIRECTORY)) == -1)
		return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? 0 :
		    refuse(why, WHY_IO, "folder %s: %s", dir, strerror(errno));
	if (!mounts_fs_path(t, fd, dir, &fs, &fs_path))
		return refuse(why, WHY_IO, "folder %s: its file system can't be seen in /proc/self/mountinfo", dir);
	for (i = 0; i < e->mounts; i++)
		if (e->mount[i].fs_path != NULL && lies_in(e->mount[i].fs_path, fs, fs_path, r))
			return refuse(why, WHY_DENIED, "folder %s lies in %s by another path, which %s gives for writing: «run» "
			    "starts the task before gpuhelper can check that nobody has redirected the path; use create and start",
			    e->mount[i].source, r->path, p->name);
	return 0;
}

int
refuse_bind_in_writable(const struct policy_set *policies, const struct edits *e, struct why *why)
{
	automounts struct mount_table *t = e->mounts > 0 ? mounts_read() : NULL;
	const int root = file_root();
	const struct policy *p;
	size_t i, k;

	if (e->mounts > 0 && (t == NULL || root == -1))
		return refuse(why, WHY_IO, "/proc/self/mountinfo: %s", strerror(errno));
	for (i = 0; e->mounts > 0 && i < policies->n; i++) {
		p = &policies->v[i].policy;
		for (k = 0; k < p->folders; k++)
			if (p->folder[k].writable && check_bind_in_writable(p, &p->folder[k], root, t, e, why) == -1)
				return -1;
	}
	return 0;
}
