/* See writablemounts.h. Looks at /proc only. */
#include "writablemounts.h"

#include <stdlib.h>
#include <string.h>

#include "../../base/path.h"
#include "../../host/folder/containers.h"

struct directory {
	char *fs, *fs_path;	/* mounts.h */
};

static bool
is_above(void *ctx, struct mount *m)
{
	const struct directory *d = ctx;

	return m->writable && strcmp(m->fs, d->fs) == 0 && path_at_or_beneath(d->fs_path, m->root);
}

bool
container_writes_in(int fd, const char *path)
{
	automounts struct mount_table *mounts = mounts_read();
	struct directory d = { 0 };
	bool found = !mounts_fs_path(mounts, fd, path, &d.fs, &d.fs_path) || containers_mount_any(is_above, &d, NULL);

	free(d.fs);
	free(d.fs_path);
	return found;
}
