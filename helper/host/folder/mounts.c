/* See mounts.h. Reads only /proc/PID/mountinfo and /proc/PID/fdinfo, and must never touch what is mounted. */
#include "../process/procdir.h"
#include "mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/path.h"
#include "../../base/text.h"
#include "../file.h"

/* Undoes the escapes of mountinfo, which writes space, tab, newline and backslash as three octal digits. */
static void
unescape_octal(char *s)
{
	char *o = s;

	for (; *s != '\0'; o++) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' && s[3] >= '0' && s[3] <= '7') {
			*o = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 4;
		} else
			*o = *s++;
	}
	*o = '\0';
}

bool
mount_line(char *line, struct mount *out)
{
	char *save = NULL, *word[6] = { NULL };
	size_t i;

	for (i = 0; i < 6; i++)
		if ((word[i] = strtok_r(i == 0 ? line : NULL, " ", &save)) == NULL)
			return false;
	unescape_octal(word[3]);
	unescape_octal(word[4]);
	*out = (struct mount){ strtoull(word[0], NULL, 10), strtoull(word[1], NULL, 10), word[2], word[3], word[4],
	    strncmp(word[5], "rw", 2) == 0, word[5], save };
	return true;
}

struct mount_table {
	char *text;		/* the lines; the texts of «v» point into it */
	struct mount *v;	/* sorted by id */
	const char **point;	/* the mount points, sorted bytewise */
	size_t n;
};

static int
by_id(const void *a, const void *b)
{
	const uint64_t x = ((const struct mount *)a)->id, y = ((const struct mount *)b)->id;

	return (x > y) - (x < y);
}

static int
by_mount_point(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void
mounts_free(struct mount_table **t)
{
	if (*t == NULL)
		return;
	free((*t)->text);
	free((*t)->v);
	free((*t)->point);
	free(*t);
	*t = NULL;
}

static bool
parse_parsed(struct mount_table *t)
{
	char *line, *lines = NULL;
	size_t i, most = 1;

	for (line = t->text; *line != '\0'; line++)
		most += *line == '\n';
	if ((t->v = calloc(most, sizeof(*t->v))) == NULL || (t->point = calloc(most, sizeof(*t->point))) == NULL)
		return false;
	for (line = strtok_r(t->text, "\n", &lines); line != NULL; line = strtok_r(NULL, "\n", &lines))
		t->n += mount_line(line, &t->v[t->n]);
	for (i = 0; i < t->n; i++)
		t->point[i] = t->v[i].point;
	if (t->n > 1) {
		qsort(t->v, t->n, sizeof(*t->v), by_id);
		qsort(t->point, t->n, sizeof(*t->point), by_mount_point);
	}
	return true;
}

struct mount_table *
mounts_read(void)
{
	struct mount_table *t = calloc(1, sizeof(*t));
	char name[40];

	/* not «self», which is a link */
	snprintf(name, sizeof(name), "%d/mountinfo", getpid());
	if (t == NULL || (t->text = procdir_read(name, 16 << 20)) == NULL || !parse_parsed(t))
		mounts_free(&t);
	return t;
}

int
mounts_own(mount_test *test, void *ctx)
{
	automounts struct mount_table *t = mounts_read();
	struct mount m;
	size_t i;

	if (t == NULL)
		return -1;
	for (i = 0; i < t->n; i++) {
		m = t->v[i];
		if (test(ctx, &m))
			return 1;
	}
	return 0;
}

bool
mounts_beneath(const struct mount_table *t, const char *dir, char *first, size_t size)
{
	const size_t n = strlen(dir);
	size_t low = 0, high = t != NULL ? t->n : 0, at;

	snprintf(first, size, "?");
	if (t == NULL)
		return true;
	/*
	 * find the first path that does not sort before the directory; the paths beneath it follow, among
	 * others with the same prefix
	 */
	while (low < high) {
		at = low + (high - low) / 2;
		if (strcmp(t->point[at], dir) < 0)
			low = at + 1;
		else
			high = at;
	}
	for (; low < t->n && strncmp(t->point[low], dir, n) == 0; low++)
		if (path_is_beneath(t->point[low], dir)) {
			snprintf(first, size, "%s", t->point[low]);
			return true;
		}
	return false;
}

/*
 * Translates a path on this mount into the path in the mounted file system. The caller frees it; NULL with
 * errno.
 */
static char *
fs_path_on(const struct mount *m, const char *path)
{
	const char *rest, *top = strcmp(m->root, "/") == 0 ? "" : m->root;
	char *fs_path;

	if (!path_at_or_beneath(path, m->point)) {
		errno = ESTALE;
		return NULL;
	}
	rest = strcmp(m->point, "/") == 0 ? path : path + strlen(m->point);
	if (strcmp(rest, "/") == 0)
		rest = "";
	if (*top == '\0' && *rest == '\0')
		return strdup("/");
	return asprintf(&fs_path, "%s%s", top, rest) == -1 ? NULL : fs_path;
}

bool
mount_of(int fd, uint64_t *id)
{
	autofree char *text = NULL;
	unsigned long long n;
	const char *line;
	struct statx st;
	char name[48];

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, 0, &st) == 0 && (st.stx_mask & STATX_MNT_ID)) {
		*id = st.stx_mnt_id;
		return true;
	}
	snprintf(name, sizeof(name), "%d/fdinfo/%d", getpid(), fd);
	if ((text = procdir_read(name, 4096)) == NULL ||
	    (line = strstr(text, "\nmnt_id:")) == NULL || sscanf(line, "\nmnt_id: %llu", &n) != 1)
		return false;
	*id = n;
	return true;
}

bool
mount_of_dir(int dir, const char *name, uint64_t *id)
{
	struct statx st;

	if (statx(dir, name, AT_SYMLINK_NOFOLLOW | AT_STATX_DONT_SYNC, 0, &st) == -1 || (st.stx_mask & STATX_MNT_ID) == 0 ||
	    (st.stx_mask & STATX_TYPE) == 0 || !S_ISDIR(st.stx_mode))
		return false;
	*id = st.stx_mnt_id;
	return true;
}

bool
mounts_fs_path_on(const struct mount_table *t, uint64_t mount, const char *path, char **fs, char **fs_path)
{
	const struct mount is = { .id = mount };
	const struct mount *m;

	*fs = *fs_path = NULL;
	errno = ESTALE;
	if (t == NULL || t->n == 0 || (m = bsearch(&is, t->v, t->n, sizeof(*t->v), by_id)) == NULL)
		return false;
	*fs_path = fs_path_on(m, path);
	*fs = *fs_path != NULL ? strdup(m->fs) : NULL;
	return *fs != NULL;
}

bool
mounts_fs_path(const struct mount_table *t, int fd, const char *path, char **fs, char **fs_path)
{
	uint64_t mount;

	*fs = *fs_path = NULL;
	errno = ESTALE;
	return t != NULL && mount_of(fd, &mount) && mounts_fs_path_on(t, mount, path, fs, fs_path);
}

bool
mounts_on(const struct mount_table *t, const char *path, const char *fs, size_t n)
{
	size_t i, deepest = 0, len;
	bool is = false, one;

	for (i = 0; i < t->n; i++) {
		if (!path_at_or_beneath(path, t->v[i].point) || (len = strlen(t->v[i].point)) < deepest)
			continue;
		one = strlen(t->v[i].fs) == n && strncmp(t->v[i].fs, fs, n) == 0;
		is = len > deepest ? one : is || one;
		deepest = len;
	}
	return is;
}

bool
mount_is_unsure(const struct mount *m)
{
	/* the type follows the optional fields, which end with « - » (proc(5)); fuse adds a subtype after a dot */
	static const char *const types[] = { "autofs", "fuse", "fuseblk", NULL };
	const char *type = m->rest == NULL ? "- fuse" : text_starts(m->rest, "- ") ? m->rest : strstr(m->rest, " - ");
	char name[16];

	if (type == NULL)
		return true;
	type += strspn(type, " -");
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(type, " ."), type);
	return text_among(name, types);
}

/* True if another file system is mounted on this one, as autofs does. */
static bool
is_covered(const struct mount_table *t, size_t at)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (t->v[i].parent == t->v[at].id && strcmp(t->v[i].point, t->v[at].point) == 0)
			return true;
	return false;
}

const char *
mounts_unsure(const struct mount_table *t, const char *path)
{
	size_t i;

	for (i = 0; t != NULL && i < t->n; i++)
		if (path_at_or_beneath(path, t->v[i].point) && mount_is_unsure(&t->v[i]) && !is_covered(t, i))
			return t->v[i].point;
	return t != NULL ? NULL : "?";
}
