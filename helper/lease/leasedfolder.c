/* See leasedfolder.h. */
#include "leasedfolder.h"

#include <stdlib.h>
#include <string.h>

#include "../base/path.h"

bool
leased_folders_overlap(const struct leased_folder *a, const struct leased_folder *b)
{
	/* the paths matter where one is a mount point in the other */
	return path_related(a->path, b->path) || (strcmp(a->fs, b->fs) == 0 && path_related(a->fs_path, b->fs_path));
}

void
leased_folder_fields(struct lines *s, void *folder)
{
	struct leased_folder *f = folder;
	const char *const names[] = { relabel_name(RELABEL_NO), relabel_name(RELABEL_SHARED), relabel_name(RELABEL_PRIVATE) };

	field_copy(s, &f->path);
	field_copy(s, &f->fs);
	field_copy(s, &f->fs_path);
	f->relabel = (enum relabel)field_name(s, names, sizeof(names) / sizeof(names[0]), f->relabel);
	if (!s->failed && f->fs_path[0] != '/')
		s->failed = true;
}

void
leased_folder_free(struct leased_folder *f)
{
	free(f->path);
	free(f->fs);
	free(f->fs_path);
	*f = (struct leased_folder){ 0 };
}
