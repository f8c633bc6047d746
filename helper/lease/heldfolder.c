/* See heldfolder.h. */
#include "heldfolder.h"

#include <stdlib.h>
#include <string.h>

#include "../base/path.h"

bool
held_folders_overlap(const struct held_folder *a, const struct held_folder *b)
{
	/* the paths matter where one is a mount point in the other */
	return path_related(a->path, b->path) || (strcmp(a->fs, b->fs) == 0 && path_related(a->fs_path, b->fs_path));
}

void
held_folder_words(struct lines *s, void *folder)
{
	struct held_folder *f = folder;
	const char *const names[] = { relabel_name(RELABEL_NO), relabel_name(RELABEL_SHARED), relabel_name(RELABEL_PRIVATE) };

	word_copy(s, &f->path);
	word_copy(s, &f->fs);
	word_copy(s, &f->fs_path);
	f->relabel = (enum relabel)word_name(s, names, sizeof(names) / sizeof(names[0]), f->relabel);
	if (!s->failed && f->fs_path[0] != '/')
		s->failed = true;
}

void
held_folder_free(struct held_folder *f)
{
	free(f->path);
	free(f->fs);
	free(f->fs_path);
	*f = (struct held_folder){ 0 };
}
