/*
 * The lookup path of a folder of the host, or of a directory of driver files. Whoever is the host's root and may write
 * to a directory on it can redirect the path (rename(2), a link).
 */
#ifndef GPUHELPER_LEASE_LOOKUP_H
#define GPUHELPER_LEASE_LOOKUP_H

#include <stdbool.h>

#include "../base/lines.h"
#include "../base/text.h"

struct lookup {
	char *path;		/* by which the folder was granted */
	bool writable;
	/*
	 * File system paths, "8:1 /srv/data": file system and path in it (mountinfo in proc(5)). First the folder's own;
	 * then its parent's, and for each mount above, that of the directory in which it is mounted.
	 */
	struct strlist at;
};

/* True if the lookup path goes through the other's folder, by its path or by file system paths behind bind mounts. */
bool lookup_passes(const struct lookup *w, const struct lookup *through);

/* True if both are equal. */
bool lookup_same(const struct lookup *a, const struct lookup *b);

/* Reads or writes a struct lookup as fields, for lines_members() (lines.h). To be freed after a failed read, too. */
void lookup_fields(struct lines *s, void *lookup);
void lookup_free(struct lookup *w);

#endif
