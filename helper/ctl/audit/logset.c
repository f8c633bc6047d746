/* See logset.h.  The log may be written, rotated and compressed at any time while we read. */
#include "logset.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../host/file.h"

#define TRIES 50		/* a rotation takes several steps */
#define PAUSE_US 20000

static void
close_all(struct log_set *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		close(s->v[i].fd);
	free(s->v);
	s->v = NULL;
	s->n = 0;
}

void
log_set_end(struct log_set *s)
{
	close_all(s);
	globfree(&s->names);
}

static int
open_one(const char *path, struct log_set *s, struct why *why)
{
	struct log_file *l = &s->v[s->n];
	struct stat st;

	*l = (struct log_file){ .path = path, .fd = open(path, O_RDONLY | O_CLOEXEC) };
	if (l->fd != -1 && fstat(l->fd, &st) == 0) {
		l->size = st.st_size;
		s->n++;
		return 0;
	}
	log_refuse(path, errno, why);
	if (l->fd != -1)
		close(l->fd);
	return -1;
}

/* Opens the files.  whole: also those that gzip(1) has not finished. */
static int
open_each(char *const *path, size_t n, bool whole, struct log_set *s, struct why *why)
{
	size_t i;

	if ((s->v = calloc(n + 1, sizeof(*s->v))) == NULL)
		return refuse_nomem(why);
	for (i = 0; i < n; i++)
		if ((whole || !log_is_unfinished(path[i], path, n)) && open_one(path[i], s, why) == -1)
			return -1;
	return 0;
}

static int
find_logs(glob_t *names, struct why *why)
{
	const int ret = glob(AUDIT_LOG "*", GLOB_ERR, NULL, names);
	autoclose int dir = -1;

	if (ret == GLOB_NOSPACE)
		return refuse_nomem(why);
	if (ret == 0)
		return 0;
	dir = open(GPUHELPER_LOGDIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return log_refuse(AUDIT_LOG, dir == -1 ? errno : ENOENT, why);
}

/* True if the same names still exist, and still name the open files. */
static bool
names_unchanged(const struct log_set *s)
{
	struct stat opened, there;
	struct why ignored;
	glob_t now = { 0 };
	size_t i;
	bool same = find_logs(&now, &ignored) == 0 && now.gl_pathc == s->names.gl_pathc;

	for (i = 0; same && i < now.gl_pathc; i++)
		same = strcmp(now.gl_pathv[i], s->names.gl_pathv[i]) == 0;
	globfree(&now);
	for (i = 0; same && i < s->n; i++)
		same = fstat(s->v[i].fd, &opened) == 0 && stat(s->v[i].path, &there) == 0 && opened.st_ino == there.st_ino &&
		    opened.st_dev == there.st_dev;
	return same;
}

/* Opens the log's files.  1: the log was rotated at the same time, so try again.  -1 with *why. */
static int
open_all(struct log_set *s, struct why *why)
{
	int ret;

	close_all(s);
	globfree(&s->names);
	s->names = (glob_t){ 0 };
	if (find_logs(&s->names, why) == -1)
		return -1;
	ret = open_each(s->names.gl_pathv, s->names.gl_pathc, false, s, why);
	return names_unchanged(s) ? ret : 1;
}

/* Opens this host's log, as it was at one moment: a rotation neither loses a file nor has one read twice. */
static int
open_of_host(struct log_set *out, struct why *why)
{
	unsigned tries;
	int ret = 1;

	for (tries = 0; ret == 1 && tries < TRIES; tries++) {
		if (tries > 0)
			(void)usleep(PAUSE_US);
		ret = open_all(out, why);
	}
	return ret == 1 ? refuse(why, WHY_AGAIN, AUDIT_LOG " is being rotated: try again") : ret;
}

int
log_set_open(char *const *path, size_t n, struct log_set *out, struct why *why)
{
	*out = (struct log_set){ .n = 0 };
	if ((n > 0 ? open_each(path, n, true, out, why) : open_of_host(out, why)) == -1)
		return -1;
	return log_order(out->v, out->n, why);
}
