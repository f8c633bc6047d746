/*
 * A folder of the host that a lease holds.  It is told apart by its file system
 * and its place in there, as proc(5), mountinfo, has them: bind mounts can lead to
 * one folder by several paths.
 */
#ifndef GPUHELPER_PURE_HELDFOLDER_H
#define GPUHELPER_PURE_HELDFOLDER_H

#include "lines.h"
#include "secontext.h"

struct held_folder {
	char *path;		/* that it was given by */
	char *fs;		/* "major:minor" */
	char *place;		/* absolute, in the file system */
	enum relabel relabel;
};

/* True if they are one folder, or one lies in the other, be it on a mount of its own there. */
bool held_folders_meet(const struct held_folder *a, const struct held_folder *b);

/* As it is written down (lines.h); what is none fails, and is to be freed, too. */
void held_folder_words(struct lines *s, struct held_folder *f);
void held_folder_free(struct held_folder *f);
#define autoheldfolder __attribute__((cleanup(held_folder_free)))

#endif
