/* See folders.h: for programs that look at a grant's folders once.  The helper reads the mount table by itself. */
#include "folders.h"

int
folders_resolve(const struct grant *g, const struct subject *s, struct edits *out, struct why *why)
{
	automounts struct mount_table *mounts = g->folders > 0 ? mounts_read() : NULL;

	return folders_resolve_among(mounts, g, s, out, why);
}
