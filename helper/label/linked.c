/*
 * See linked.h. Uses a tree by device and inode (tsearch(3)), because a folder can have very many such files. Only
 * computes: the caller has opened the files.
 */
#include "linked.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#define FILES_MAX 65536
#define BYTES_MAX (16 << 20)	/* of their paths */

static int
compare_inodes(const void *a, const void *b)
{
	const struct linked *x = a, *y = b;

	if (x->device != y->device)
		return x->device > y->device ? 1 : -1;
	return (x->inode > y->inode) - (x->inode < y->inode);
}

static uint64_t
device_of(const struct statx *st)
{
	return (uint64_t)st->stx_dev_major << 32 | st->stx_dev_minor;
}

static struct linked *
find_linked(const struct linked_files *f, const struct statx *st)
{
	const struct linked key = { .device = device_of(st), .inode = st->stx_ino };
	struct linked *const *at = tfind(&key, &f->by_inode, compare_inodes);

	return at != NULL ? *at : NULL;
}

/* Adds a file. NULL if memory is short. */
static struct linked *
add_linked(struct linked_files *f, const struct statx *st, const char *path)
{
	struct linked **v, *l;

	if ((v = reallocarray(f->v, f->n + 1, sizeof(struct linked *))) == NULL)
		return NULL;
	f->v = v;
	if ((l = calloc(1, sizeof(*l))) == NULL)
		return NULL;
	l->device = device_of(st);
	l->inode = st->stx_ino;
	l->path = strdup(path);
	if (l->path == NULL || tsearch(l, &f->by_inode, compare_inodes) == NULL) {
		free(l->path);
		free(l);
		return NULL;
	}
	v[f->n++] = l;
	return l;
}

int
linked_count(struct linked_files *f, struct linked_kept *kept, const struct statx *st, const char *path)
{
	struct linked *l = find_linked(f, st);
	const size_t bytes = strlen(path);

	if (l == NULL && (kept->files >= FILES_MAX || kept->bytes + bytes > BYTES_MAX)) {
		errno = E2BIG;
		return -1;
	}
	if (l == NULL) {
		if ((l = add_linked(f, st, path)) == NULL) {
			errno = ENOMEM;
			return -1;
		}
		kept->files++;
		kept->bytes += bytes;
	}
	l->seen++;
	if (st->stx_nlink > l->names)
		l->names = st->stx_nlink;
	return 0;
}

bool
linked_is_within(const struct linked_files *f, const struct statx *st)
{
	const struct linked *l = st->stx_nlink > 1 ? find_linked(f, st) : NULL;

	return st->stx_nlink <= 1 || (l != NULL && st->stx_nlink <= l->seen);
}

bool
linked_is(const struct linked *l, const struct statx *st)
{
	return st->stx_ino == l->inode && device_of(st) == l->device;
}

static void
keep_file(void *unused)
{
	(void)unused;
}

void
linked_free(struct linked_files *f)
{
	size_t i;

	tdestroy(f->by_inode, keep_file);
	for (i = 0; i < f->n; i++) {
		free(f->v[i]->path);
		free(f->v[i]);
	}
	free(f->v);
	*f = (struct linked_files){ .n = 0 };
}
