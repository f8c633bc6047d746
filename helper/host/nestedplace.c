/* See nestedplace.h. */
#include "nestedplace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../pure/cleanup.h"
#include "../pure/path.h"
#include "file.h"
#include "mounts.h"

/* Of a pattern the directory that it is in: what lies deeper than its names may lie in one of them. */
static char *
dir_of(const struct folder_rule *r)
{
	return glob_is(r->path) ? strndup(r->path, (size_t)(path_last(r->path) - r->path - 1)) : strdup(r->path);
}

/* «FILE-SYSTEM PLACE»: strictly beneath, and of a pattern's directory two names deeper. */
static bool
lies_in(const char *text, const char *fs, const char *place, bool pattern)
{
	const size_t n = strlen(fs);
	const char *at = text + n + 1;

	if (strncmp(text, fs, n) != 0 || text[n] != ' ' || !path_is_beneath(at, place))
		return false;
	at += strlen(place) + (strcmp(place, "/") != 0);
	return !pattern || strchr(at, '/') != NULL;
}

/* What is not there, or led to by a link, is given to nobody. */
static int
check_rule(const struct policy *p, const struct folder_rule *r, int root, const struct mount_table *t,
    const struct edits *e, struct why *why)
{
	autofree char *fs = NULL, *place = NULL, *dir = dir_of(r);
	autoclose int fd = -1;
	size_t i;

	if (dir == NULL)
		return refuse_nomem(why);
	if (*dir == '\0' || (fd = file_open_beneath(root, dir + 1, O_PATH | O_DIRECTORY)) == -1)
		return 0;
	if (!mounts_place(t, fd, dir, &fs, &place))
		return refuse(why, WHY_IO, "folder %s: its file system can't be seen in /proc/self/mountinfo", dir);
	for (i = 0; i < e->mounts; i++)
		if (e->mount[i].place != NULL && lies_in(e->mount[i].place, fs, place, glob_is(r->path)))
			return refuse(why, WHY_DENIED, "folder %s lies in %s by another path, which %s gives for writing, and «run» "
			    "starts the task before it can be seen that nobody has led the path elsewhere: use create and start",
			    e->mount[i].source, r->path, p->name);
	return 0;
}

int
nested_refuse_places(const struct policy_set *policies, const struct edits *e, struct why *why)
{
	automounts struct mount_table *t = e->mounts > 0 ? mounts_read() : NULL;
	autoclose int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	const struct policy *p;
	size_t i, k;

	for (i = 0; e->mounts > 0 && i < policies->n; i++) {
		p = &policies->v[i].policy;
		for (k = 0; k < p->folders; k++)
			if (p->folder[k].writable && check_rule(p, &p->folder[k], root, t, e, why) == -1)
				return -1;
	}
	return 0;
}
