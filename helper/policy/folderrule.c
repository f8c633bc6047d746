/* See folderrule.h. Compares paths as text only; host/folder/folders.c looks at what exists. */
#include "folderrule.h"

#include <stdlib.h>

void
folder_rule_free(struct folder_rule *r)
{
	free(r->path);
	free(r->target);
}

const char *const *
folder_rule_options(bool submounts, bool writable)
{
	static const char *const plain_ro[] = { "bind", "rprivate", "ro", "nosuid", "nodev", NULL };
	static const char *const plain_rw[] = { "bind", "rprivate", "rw", "nosuid", "nodev", NULL };
	/* recursive forms, for the mounts beneath: with "ro" alone these would stay writable */
	static const char *const deep_ro[] = { "rbind", "rprivate", "ro", "nosuid", "nodev", "rro", "rnosuid", "rnodev",
		NULL };
	static const char *const deep_rw[] = { "rbind", "rprivate", "rw", "nosuid", "nodev", "rnosuid", "rnodev", NULL };

	if (submounts)
		return writable ? deep_rw : deep_ro;
	return writable ? plain_rw : plain_ro;
}
