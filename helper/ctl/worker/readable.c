/* See readable.h.  Computes the answer from modes and ACLs; opens nothing as that user. */
#include "readable.h"

#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../host/access.h"
#include "../../host/accessallowed.h"
#include "../../host/file.h"
#include "../../host/users.h"

#define GROUPS_MAX 256

static void
fill(uint32_t uid, const char *name, struct subject *s)
{
	gid_t list[GROUPS_MAX];
	int i, n = GROUPS_MAX;
	uint32_t same;

	*s = (struct subject){ .mapped = true, .uid = uid, .gid = uid };
	if (name == NULL || !user_uid(name, &same, &s->gid) || getgrouplist(name, s->gid, list, &n) == -1)
		return;
	for (i = 0; i < n && i < REQUEST_GIDS_MAX; i++)
		s->group[s->groups++] = list[i];
}

static bool
may(const struct subject *s, int root, const char *path, int want)
{
	autoclose int fd = file_open_beneath(root, path + 1, O_PATH);

	return fd == -1 || access_allowed(fd, s, want);
}

bool
readable_by(uint32_t uid, const char *name, const char *path)
{
	const int root = file_root();
	autofree char *part = strdup(path);
	struct subject s;
	bool allowed = true;
	char *end, *next;

	if (uid == 0 || root == -1 || part == NULL)
		return true;
	fill(uid, name, &s);
	for (end = strchr(part + 1, '/'); allowed && end != NULL; end = next) {
		next = strchr(end + 1, '/');
		*end = '\0';
		/* the file's own directory is opened for reading (trust.h) */
		allowed = may(&s, root, part, next != NULL ? X_OK : R_OK | X_OK);
		*end = '/';
	}
	return allowed && may(&s, root, part, R_OK);
}
