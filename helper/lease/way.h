/*
 * The way to a folder of the host. Whoever is the host's root and may write to a directory on it can redirect
 * the path (rename(2), a link).
 */
#ifndef GPUHELPER_LEASE_WAY_H
#define GPUHELPER_LEASE_WAY_H

#include <stdbool.h>

#include "../base/lines.h"
#include "../base/text.h"

struct way {
	char *path;		/* by which the folder was granted */
	bool writable;
	/*
	 * Places, "8:1 /srv/data": file system and path in it (mountinfo in proc(5)). First the folder's own;
	 * then, for each mount on the way, the last directory above it.
	 */
	struct strlist at;
};

/* True if the way goes through the other's folder, by its path or by places behind bind mounts. */
bool way_passes(const struct way *w, const struct way *through);

/*
 * True if the folder's place is in the other folder: whoever may move it within that folder changes its
 * place.
 */
bool way_lies_in(const struct way *w, const struct way *other);

/* True if both are equal. */
bool way_same(const struct way *a, const struct way *b);

/* Reads or writes a struct way as words, for lines_members() (lines.h). To be freed after a failed read, too. */
void way_words(struct lines *s, void *way);
void way_free(struct way *w);
#define autoway __attribute__((cleanup(way_free)))

#endif
