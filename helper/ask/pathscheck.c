/* See pathsquery.h: what the helper does with an answer. gpuhelper-look may be taken over. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/path.h"
#include "../kernel/cgroupline.h"
#include "pathsquery.h"

#define FS_PATH_MAX (4096 + 32)		/* bytes: of a path, and of its file system's numbers */
#define SIZE_MAX_FOUND (896 << 10)	/* bytes of all paths: a lease holds hardly more (leasefile.h) */
#define FS_PATHS_MAX 520		/* of one path: more directories than a path that policies can name has */

static int
refuse_answer(const char *what, struct why *why)
{
	return refuse(why, WHY_BUG, "gpuhelper-look sent an invalid answer: %s", what);
}

/*
 * Each is «FILE-SYSTEM PATH», and goes into the reply's JSON. The helper compares all of them with those of other
 * leases while it holds the lock.
 */
static bool
are_fs_paths(const struct strlist *at)
{
	size_t i;

	for (i = 0; i < at->n; i++)
		if (strstr(at->v[i], " /") == NULL || strlen(at->v[i]) > FS_PATH_MAX)
			return false;
	return at->n > 0 && at->n <= FS_PATHS_MAX && strlist_is_utf8(at);
}

static size_t
size_of(const struct found_path *f)
{
	size_t i, size = strlen(f->path);

	for (i = 0; i < f->at.n; i++)
		size += strlen(f->at.v[i]) + 1;
	return size;
}

/* True if the file, or another one in its directory, was found. */
static bool
is_found(const struct paths_answer *a, const char *file)
{
	const size_t dir = (size_t)(path_last(file) - file);
	size_t i;

	for (i = 0; i < a->n; i++)
		if (strncmp(a->found[i].path, file, dir) == 0 && strchr(a->found[i].path + dir, '/') == NULL)
			return true;
	return false;
}

/* Without its lookup path, a file would be compared with no folder that somebody may write to as the host's root. */
static bool
are_found(const struct paths_answer *a, const struct strlist *file)
{
	size_t i;

	for (i = 0; i < file->n; i++)
		if (!is_found(a, file->v[i]))
			return false;
	return a->n <= file->n;
}

/* True if the path is what was sought, or matches the pattern; *rest gets what comes after its target. */
static bool
is_asked_for(const struct folder_query *f, const char *path, const char **rest)
{
	const struct folder_rule only = { .path = f->path };

	return path_is_clean(path) && folder_rule_gives(&only, path, rest);
}

static int
add_lookup(struct found_path *f, bool writable, struct lease *l, struct why *why)
{
	struct lookup w = { .path = f->path, .writable = writable, .at = f->at };

	f->path = NULL;
	f->at = (struct strlist){ 0 };
	return lease_add_lookup(l, &w) ? 0 : refuse_nomem(why);
}

static int
give_found_folder(const struct folder_query *f, struct found_path *found, struct edits *e, struct lease *l,
    struct why *why)
{
	autofree char *target = NULL;
	struct edit_mount *m;
	const char *rest;

	if (!is_asked_for(f, found->path, &rest))
		return refuse_answer("a folder that was not asked for", why);
	if (asprintf(&target, "%s%s", f->target, rest) == -1)
		target = NULL;
	if (target == NULL || !edits_add_mount(e, found->path, target, folder_rule_options(f->submounts, f->writable)))
		return refuse_nomem(why);
	m = &e->mount[e->mounts - 1];
	m->relabel = f->relabel;
	if ((m->fs_path = strdup(found->at.v[0])) == NULL)
		return refuse_nomem(why);
	return add_lookup(found, f->writable, l, why);
}

static int
give_found_file(const char *file, struct found_path *found, struct lease *l, struct why *why)
{
	return strcmp(found->path, file) != 0 ? refuse_answer("a file that was not asked for", why) :
	    add_lookup(found, false, l, why);
}

/* In the helper's own words. */
static int
refuse_file(const char *file, enum file_fault fault, struct why *why)
{
	switch (fault) {
	case FILE_FAULT_UNSURE:
		return refuse(why, WHY_CONFIG, "driver file %s: a file system on the way there may never answer (fuse, autofs)",
		    file);
	case FILE_FAULT_CLOSED:
		return refuse(why, WHY_CONFIG, "driver file %s: a directory on the way there is not root's, or not open to all",
		    file);
	case FILE_FAULT_UNSEEN:
		return refuse(why, WHY_IO, "driver file %s: the mounts on the way there can't be found", file);
	case FILE_FAULT_NONE:
	case FILE_FAULT_MEMORY:
		break;
	}
	return refuse_nomem(why);
}

static bool
are_cgroups(const struct strlist *dir)
{
	char path[1100];
	size_t i;

	for (i = 0; i < dir->n && dir->n <= CGROUP_CANDIDATES_MAX; i++) {
		snprintf(path, sizeof(path), "/%s", dir->v[i]);
		if (path[1] == '\0' || !path_is_clean(path))
			return false;
	}
	return dir->n <= CGROUP_CANDIDATES_MAX;
}

int
paths_answer_give(const struct paths_query *asked, struct paths_answer *a, struct edits *e, struct lease *l,
    struct why *why)
{
	const bool files = asked->file.n > 0;
	struct found_path *found;
	size_t i, size = 0;

	if (files && a->fault != FILE_FAULT_NONE)
		return refuse_file(a->at_fault < asked->file.n ? asked->file.v[a->at_fault] : "?", a->fault, why);
	if (files && !are_found(a, &asked->file))
		return refuse_answer("not each driver file is found", why);
	if ((files && a->cgroup.n > 0) || !are_cgroups(&a->cgroup))
		return refuse_answer("cgroups that can't be", why);
	if (!files && a->n > CONTAINER_FOLDERS_MAX)
		return refuse_answer("more folders than a container may have", why);
	for (i = 0; i < a->n; i++)
		size += size_of(&a->found[i]);
	if (size > SIZE_MAX_FOUND)
		return refuse(why, WHY_AGAIN, "the paths to its folders or driver files take %zu KiB, at most %d are allowed: ask "
		    "for fewer (GPUHELPER_FOLDERS)", size >> 10, SIZE_MAX_FOUND >> 10);
	for (i = 0; i < a->n; i++) {
		found = &a->found[i];
		if (found->of >= (files ? asked->file.n : asked->folders) || !are_fs_paths(&found->at))
			return refuse_answer("a folder or file that does not exist", why);
		if ((files ? give_found_file(asked->file.v[found->of], found, l, why) :
		    give_found_folder(&asked->folder[found->of], found, e, l, why)) == -1)
			return -1;
	}
	if (!files) {
		strlist_free(&l->container.cgroups);
		l->container.cgroups = a->cgroup;
		a->cgroup = (struct strlist){ 0 };
	}
	return 0;
}
