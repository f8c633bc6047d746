/*
 * See nodes.h. Runs with the caller's rights, and only reads. The container's ids have no more rights than the
 * caller. So the container can't read a directory that the caller can't read.
 */
#include "nodes.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>

#include "../../base/path.h"
#include "../../host/file.h"
#include "../../host/folder/mounts.h"

#define DEPTH_MAX 4		/* /host/dev/dri/card0 */
#define ENTRIES_MAX 4096	/* of one bound directory, without links */

static bool
is_gpu_node(const struct devmajors *majors, const struct stat *st)
{
	return S_ISCHR(st->st_mode) && devmajors_is_gpu(majors, major(st->st_rdev));
}

bool
node_is_gpu(const struct spec *s, const struct devmajors *majors, const char *path)
{
	char full[PATH_MAX];
	struct stat st;

	return spec_host_path(s, path, full) && stat(full, &st) == 0 && is_gpu_node(majors, &st);
}

/* What was found in one bound directory and in the mounts beneath. */
struct seen {
	const struct devmajors *majors;
	char source[PATH_MAX];
	char gpu[256];		/* the first node of a GPU, or "" */
	bool other;		/* something else, or an entry that was not looked at */
	bool failed;		/* no memory */
};

/* A search through one file system, breadth first, because nodes are near the top. */
struct walk {
	struct seen *seen;
	const char *top_path;
	int top;
	uint64_t mount;
	unsigned entries;
	struct strlist dirs;	/* beneath the top, still to be searched */
};

static void
note_node(struct walk *w, const char *path, const struct stat *st)
{
	if (!is_gpu_node(w->seen->majors, st))
		w->seen->other = true;
	else if (w->seen->gpu[0] == '\0')
		snprintf(w->seen->gpu, sizeof(w->seen->gpu), "%.120s/%.120s", w->top_path, path);
}

static bool
is_on_mount(int fd, uint64_t mount)
{
	uint64_t own;

	return mount_of(fd, &own) && own == mount;
}

static void
look_at_entry(struct walk *w, int dir, const char *prefix, const struct dirent *e, unsigned depth)
{
	char path[DEPTH_MAX * sizeof(e->d_name)];
	struct stat st;

	if (e->d_type == DT_LNK || strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
		return;
	if (++w->entries > ENTRIES_MAX) {
		w->seen->other = true;
		return;
	}
	if (e->d_type == DT_REG) {
		w->seen->other = true;
		return;
	}
	if (fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == -1 || S_ISLNK(st.st_mode))
		return;
	snprintf(path, sizeof(path), "%s%s%s", prefix, *prefix != '\0' ? "/" : "", e->d_name);
	if (!S_ISDIR(st.st_mode)) {
		note_node(w, path, &st);
	} else if (depth == DEPTH_MAX) {
		w->seen->other = true;
	} else if (!strlist_add(&w->dirs, path, SIZE_MAX))
		w->seen->failed = true;
}

/*
 * Searches one directory. A directory that is a mount point is searched by look_at_mount(), if the bind
 * includes it.
 */
static void
search_dir(struct walk *w, const char *path)
{
	int fd = openat(w->top, *path != '\0' ? path : ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	const char *c;
	unsigned depth = *path != '\0' ? 2 : 1;
	struct dirent *e;
	DIR *dir;

	if (fd == -1) {
		w->seen->other = true;
		return;
	}
	if (!is_on_mount(fd, w->mount)) {
		close(fd);
		return;
	}
	if ((dir = file_list(fd)) == NULL)
		return;
	for (c = path; *c != '\0'; c++)
		depth += *c == '/';
	while (w->entries <= ENTRIES_MAX && !w->seen->failed && (e = readdir(dir)) != NULL)
		look_at_entry(w, fd, path, e, depth);
	closedir(dir);
}

static void
search_tree(struct seen *seen, int top, const char *top_path)
{
	struct walk w = { .seen = seen, .top_path = top_path, .top = top };
	size_t i;

	if (!mount_of(top, &w.mount))
		return;
	search_dir(&w, "");
	for (i = 0; i < w.dirs.n && w.entries <= ENTRIES_MAX && !seen->failed; i++)
		search_dir(&w, w.dirs.v[i]);
	strlist_free(&w.dirs);
}

/* Searches a mount beneath the source, which a recursive bind includes. */
static bool
look_at_mount(void *ctx, struct mount *m)
{
	static const char *const no_nodes[] = { "proc", "sysfs", "cgroup", "cgroup2", "devpts", "mqueue", NULL };
	struct seen *seen = ctx;
	autoclose int fd = -1;
	struct stat st;
	const char *type;
	size_t i;

	if (!path_is_beneath(m->point, seen->source))
		return false;
	type = mount_type(m);
	for (i = 0; no_nodes[i] != NULL && strcmp(type, no_nodes[i]) != 0; i++)
		;
	if (no_nodes[i] != NULL || mount_has_option(m, "nodev")) {
		seen->other = true;
		return false;
	}
	if ((fd = open(m->point, O_PATH | O_NOFOLLOW | O_CLOEXEC)) == -1 || fstat(fd, &st) == -1)
		return false;
	if (S_ISDIR(st.st_mode))
		search_tree(seen, fd, m->point);
	else if (!is_gpu_node(seen->majors, &st))
		seen->other = true;
	else if (seen->gpu[0] == '\0')
		snprintf(seen->gpu, sizeof(seen->gpu), "%s", m->point);
	return seen->failed;
}

static int
search_bind(struct seen *seen, const struct spec *s, const struct spec_mount *m, struct why *why)
{
	char path[PATH_MAX];
	autoclose int fd = spec_host_path(s, m->source, path) ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	struct statvfs fs;

	/* not a directory, or the mount will fail */
	if (fd == -1 || fstatvfs(fd, &fs) == -1 || realpath(path, seen->source) == NULL)
		return 0;
	if ((fs.f_flag & ST_NODEV) != 0)
		seen->other = true;
	else
		search_tree(seen, fd, seen->source);
	if (strlist_has(&m->options, "rbind"))
		(void)mounts_own(look_at_mount, seen);
	return seen->failed ? refuse_nomem(why) : 0;
}

int
nodes_check_mounts(struct spec *s, const struct devmajors *majors, struct why *why)
{
	struct spec_mount *m;
	size_t i;

	for (i = 0; i < s->mount_count; i++) {
		struct seen seen = { .majors = majors };

		m = &s->mount[i];
		if (!m->bind || m->source == NULL || node_is_gpu(s, majors, m->source))
			continue;
		if (search_bind(&seen, s, m, why) == -1)
			return -1;
		if (seen.gpu[0] != '\0' && seen.other)
			return refuse(why, WHY_DENIED, "the mount of %.150s at %.100s would bring GPUs (%.150s) into the container, "
			    "which has no device cgroup to deny them: mount only the files that it needs", m->source, m->target,
			    seen.gpu);
		m->only_gpus = seen.gpu[0] != '\0';
	}
	return 0;
}
