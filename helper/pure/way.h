/*
 * The way to a folder of the host: who is the host's root and may write in a
 * directory on it can have the path lead elsewhere (rename(2), a link).
 */
#ifndef GPUHELPER_PURE_WAY_H
#define GPUHELPER_PURE_WAY_H

#include <stdbool.h>

#include "lines.h"
#include "text.h"

struct way {
	char *path;		/* that the folder was given by */
	bool writable;
	/*
	 * File system and place in there, "8:1 /srv/data" (proc(5), mountinfo): the
	 * folder's own first; then, of each mount on the way, the last directory above it.
	 */
	struct strlist at;
};

/* True if the way leads through the folder of the other: by its path, or by places that bind mounts lead to. */
bool way_passes(const struct way *w, const struct way *through);

/*
 * True if the folder lies in the other one, by its place: whoever may move it there
 * makes its place another.
 */
bool way_lies_in(const struct way *w, const struct way *other);

/* True if both say the same. */
bool way_same(const struct way *a, const struct way *b);

/* As it is written down (lines.h); what is none fails, and is to be freed, too. */
void way_words(struct lines *s, struct way *w);
void way_free(struct way *w);
#define autoway __attribute__((cleanup(way_free)))

#endif
