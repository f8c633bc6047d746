/*
 * See paths.h. Opens directories with O_PATH; reads only those that a pattern is to match in (folders.c). A file system
 * on the way may never answer: the helper ends the look then (main.c).
 */
#include "paths.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../base/path.h"
#include "../host/file.h"
#include "../host/folder/folders.h"
#include "../host/folder/inwritablebind.h"
#include "../lease/editsdriver.h"
#include "../policy/inwritable.h"
#include "cgroups.h"
#include "mountsabove.h"

bool
paths_answer_add(struct paths_answer *a, uint32_t of, char *path, struct strlist *at)
{
	struct found_path *v = path != NULL ? reallocarray(a->found, a->n + 1, sizeof(*v)) : NULL;

	if (v == NULL) {
		free(path);
		strlist_free(at);
		return false;
	}
	a->found = v;
	v[a->n++] = (struct found_path){ of, path, *at };
	*at = (struct strlist){ 0 };
	return true;
}

/* Folders. */

/* The folders of the question, as a grant; the texts are borrowed. */
struct asked_folders {
	struct folder_rule *rule;
	struct folder_grant *grant;
};

static void
asked_folders_free(struct asked_folders *s)
{
	free(s->rule);
	free(s->grant);
}

#define autoaskedfolders __attribute__((cleanup(asked_folders_free)))

static bool
as_grant(const struct paths_query *asked, struct asked_folders *s, struct grant *g)
{
	const struct folder_query *f;
	size_t i;

	s->rule = calloc(asked->folders + 1, sizeof(*s->rule));
	s->grant = calloc(asked->folders + 1, sizeof(*s->grant));
	if (s->rule == NULL || s->grant == NULL)
		return false;
	for (i = 0; i < asked->folders; i++) {
		f = &asked->folder[i];
		s->rule[i] = (struct folder_rule){ .submounts = f->submounts, .relabel = f->relabel };
		s->grant[i] = (struct folder_grant){ &s->rule[i], f->path, f->target, f->base, f->writable };
	}
	*g = (struct grant){ .folder = s->grant, .folders = asked->folders };
	return true;
}

static void
fill_subject(const struct paths_query *asked, struct subject *s)
{
	struct request r = { .spec.uid = asked->uid, .spec.gid = asked->gid, .spec.gid_count = asked->groups,
		.spec.dac_override = asked->dac_override };

	memcpy(r.spec.gid_list, asked->group, sizeof(r.spec.gid_list));
	subject_of(&r, &asked->uids, &asked->gids, s);
}

/* Other paths may lead to the same submounts, and nobody could see that they lead through this folder. */
static int
check_submounts(const struct paths_query *asked, const struct edit_mount *m, const struct mount_table *mounts,
    struct why *why)
{
	uint32_t inside;
	char first[1100];

	if (!idmap_in(&asked->uids, 0, &inside) || !strlist_has(&m->options, "rw") || !strlist_has(&m->options, "rbind") ||
	    !mounts_beneath(mounts, m->source, first, sizeof(first)))
		return 0;
	return refuse(why, WHY_DENIED, "folder %s has a mount beneath it (%s), so a container whose root is the host's root "
	    "can't have it rw: give it a user namespace, or the folder without submounts", m->source, first);
}

/* Adds the folder to the answer, and its file system path to the mount. */
static int
note_folder(const struct paths_query *asked, struct edit_mount *m, struct mounts_above *above, struct paths_answer *out)
{
	autostrlist struct strlist at = { 0 };

	if (check_submounts(asked, m, above->mounts, &out->why) == -1 ||
	    mounts_above_find(above, m->source, m->mnt_id, m->source, &at, &out->why) == -1)
		return -1;
	m->fs_path = strdup(at.v[0]);
	return m->fs_path != NULL && paths_answer_add(out, m->grant, strdup(m->source), &at) ? 0 : refuse_nomem(&out->why);
}

static int
find_folders(const struct paths_query *asked, const struct mount_table *mounts, struct paths_answer *out)
{
	automountsabove struct mounts_above above = MOUNTS_ABOVE(mounts);
	autoaskedfolders struct asked_folders folders = { .rule = NULL };
	autocontaineredits struct edits e = { 0 };
	struct subject subject;
	struct grant g;
	size_t i;

	fill_subject(asked, &subject);
	if (!as_grant(asked, &folders, &g))
		return refuse_nomem(&out->why);
	if (folders_resolve_among(mounts, &g, &subject, &e, &out->why) == -1)
		return -1;
	for (i = 0; i < e.mounts; i++)
		if (note_folder(asked, &e.mount[i], &above, out) == -1)
			return -1;
	if (asked->writers.n > 0 && refuse_in_writable(&asked->writers, &e, &out->why) == -1)
		return -1;
	return asked->writers.n > 0 ? refuse_bind_in_writable(&asked->writers, &e, &out->why) : 0;
}

/* Files. */

/* True if a file in the same directory was found before. */
static bool
has_directory(const struct paths_answer *out, const char *file, size_t len)
{
	size_t i;

	for (i = 0; i < out->n; i++)
		if (strncmp(out->found[i].path, file, len) == 0 && strchr(out->found[i].path + len, '/') == NULL)
			return true;
	return false;
}

/*
 * gpuhelper-engine names the driver's files. A directory is at fault if gpuhelper-engine could not have looked into it:
 * else naming files would make us wait for a user's file system, or reveal what a closed directory holds.
 */
static enum file_fault
fault_of_way(const char *dir, const struct mount_table *mounts)
{
	autofree char *copy = strdup(dir + 1);
	char *name, *rest = copy;
	autoclose int at = dup(file_root());
	struct stat st;
	int next;

	if (copy == NULL)
		return FILE_FAULT_MEMORY;
	if (mounts_unsure(mounts, dir) != NULL)
		return FILE_FAULT_UNSURE;
	for (;;) {
		if (fstat(at, &st) == -1 || (st.st_mode & S_IXOTH) == 0 || st.st_uid != 0)
			return FILE_FAULT_CLOSED;
		if ((name = strsep(&rest, "/")) == NULL || *name == '\0')
			return FILE_FAULT_NONE;
		if ((next = file_open_beneath(at, name, O_PATH | O_DIRECTORY)) == -1)
			return FILE_FAULT_UNSEEN;
		close(at);
		at = next;
	}
}

/*
 * Adds one path for all files of a directory, because they share every step; a driver has a hundred files. Who compares
 * paths takes at.v[0] for the target, which no path crosses. Here it is the directory, which the paths of its files do
 * cross: so it is added once more.
 */
static enum file_fault
note_file(uint32_t of, const char *file, struct mounts_above *above, struct paths_answer *out)
{
	const size_t len = (size_t)(path_last(file) - file);	/* includes the slash */
	autofree char *dir = strndup(file, len > 1 ? len - 1 : 1);
	autostrlist struct strlist at = { 0 };
	enum file_fault fault;
	struct why ignored;

	if (dir == NULL)
		return FILE_FAULT_MEMORY;
	if (has_directory(out, file, len))
		return FILE_FAULT_NONE;
	if ((fault = fault_of_way(dir, above->mounts)) != FILE_FAULT_NONE)
		return fault;
	if (mounts_above_find(above, dir, 0, file, &at, &ignored) == -1)
		return FILE_FAULT_UNSEEN;
	return strlist_add(&at, at.v[0], SIZE_MAX) && paths_answer_add(out, of, strdup(file), &at) ? FILE_FAULT_NONE :
	    FILE_FAULT_MEMORY;
}

static void
find_files(const struct paths_query *asked, const struct mount_table *mounts, struct paths_answer *out)
{
	automountsabove struct mounts_above above = MOUNTS_ABOVE(mounts);
	uint32_t i;

	for (i = 0; out->fault == FILE_FAULT_NONE && i < asked->file.n; i++) {
		out->at_fault = i;
		out->fault = note_file(i, asked->file.v[i], &above, out);
	}
}

void
paths_find(const struct paths_query *asked, struct paths_answer *out)
{
	automounts struct mount_table *mounts = asked->folders > 0 || asked->file.n > 0 ? mounts_read() : NULL;

	*out = (struct paths_answer){ .n = 0 };
	if (asked->folders > 0 && find_folders(asked, mounts, out) == -1)
		return;
	find_files(asked, mounts, out);
	if (asked->cgroups.asker != 0)
		(void)cgroups_find(&asked->cgroups, out);
}
