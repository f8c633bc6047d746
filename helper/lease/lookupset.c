/* See lookupset.h. */
#include "lookupset.h"

#include <stdlib.h>
#include <string.h>

/* The start of a path, or of a file system path with its file system («8:1 /srv»), that «lookup» goes through or is. */
struct prefix {
	const char *text;
	size_t len;
	const struct lookup *lookup;
};

static int
by_text(const void *a, const void *b)
{
	const struct prefix *x = a, *y = b;
	int order = memcmp(x->text, y->text, x->len < y->len ? x->len : y->len);

	return order != 0 ? order : (x->len > y->len) - (x->len < y->len);
}

static bool
add_prefix(struct prefixes *m, const char *text, size_t len, const struct lookup *lookup)
{
	struct prefix *v;
	size_t room;

	if (m->n == m->room) {
		room = m->room > 0 ? 2 * m->room : 64;
		if ((v = reallocarray(m->v, room, sizeof(*v))) == NULL)
			return false;
		m->v = v;
		m->room = room;
	}
	m->v[m->n++] = (struct prefix){ text, len, lookup };
	return true;
}

static void
sort_prefixes(struct prefixes *m)
{
	if (m->n > 1)
		qsort(m->v, m->n, sizeof(*m->v), by_text);
}

static const struct lookup *
find_prefix(const struct prefixes *m, const char *text, size_t len)
{
	const struct prefix key = { text, len, NULL };
	const struct prefix *found = m->n > 0 ? bsearch(&key, m->v, m->n, sizeof(key), by_text) : NULL;

	return found != NULL ? found->lookup : NULL;
}

/* Where the path in a file system path begins; NULL if it is no file system path. */
static const char *
path_in_fs_path(const char *fs_path)
{
	const char *space = strchr(fs_path, ' ');

	return space != NULL ? space + 1 : NULL;
}

/*
 * The length of the next directory above, starting with the path itself; 0 after the last one, "/". «path» is
 * where the path begins in «text».
 */
static size_t
next_above(const char *text, const char *path, size_t len)
{
	const size_t top = (size_t)(path - text) + 1;

	if (len == 0)
		return strlen(text) > top ? strlen(text) : top;
	if (len <= top)
		return 0;
	do
		len--;
	while (len > top && text[len] != '/');
	return len;
}

static size_t
parent_length(const char *text, const char *path)
{
	return next_above(text, path, next_above(text, path, 0));
}

/* True if both are in the same directory, so that all directories above are the same. */
static bool
same_parent(const char *a, const char *b)
{
	const char *x = *a == '/' ? a : path_in_fs_path(a), *y = *b == '/' ? b : path_in_fs_path(b);
	size_t len;

	if (x == NULL || y == NULL)
		return false;
	len = parent_length(a, x);
	return len == parent_length(b, y) && memcmp(a, b, len) == 0;
}

/* True if both are the same to lookup_passes(). */
static bool
leads_alike(const struct lookup *a, const struct lookup *b)
{
	size_t i;

	if (a->at.n != b->at.n || !same_parent(a->path, b->path))
		return false;
	for (i = 1; i < a->at.n; i++)
		if (strcmp(a->at.v[i], b->at.v[i]) != 0)
			return false;
	return true;
}

/* Adds the directories that the text is in, starting with itself or with the one above. */
static bool
add_prefixes_above(struct prefixes *m, const char *text, const char *path, bool itself, const struct lookup *lookup)
{
	size_t len = path != NULL ? next_above(text, path, 0) : 0;

	if (!itself && len > 0)
		len = next_above(text, path, len);
	for (; len > 0; len = next_above(text, path, len))
		if (!add_prefix(m, text, len, lookup))
			return false;
	return true;
}

static bool
add_lookup(struct lookupset *s, const struct lookup *w, const struct lookup *last)
{
	const char *own = w->at.n > 0 ? w->at.v[0] : NULL;
	size_t i;

	if (last == NULL || !leads_alike(w, last)) {
		if (!add_prefixes_above(&s->above, w->path, w->path, false, w))
			return false;
		for (i = 1; i < w->at.n; i++)
			if (!add_prefixes_above(&s->fs_paths_above, w->at.v[i], path_in_fs_path(w->at.v[i]), true, w))
				return false;
	}
	if (!w->writable)
		return true;
	if (!add_prefix(&s->writable, w->path, strlen(w->path), w))
		return false;
	return own == NULL || path_in_fs_path(own) == NULL || (add_prefix(&s->writable_fs_paths, own, strlen(own), w) &&
	    ((last != NULL && last->writable && last->at.n > 0 && same_parent(own, last->at.v[0])) ||
	    add_prefixes_above(&s->holding, own, path_in_fs_path(own), false, w)));
}

bool
lookupset_make(struct lookupset *s, const struct lookup *lookup, size_t lookups)
{
	size_t i;

	*s = (struct lookupset){ .above.v = NULL };
	for (i = 0; i < lookups; i++)
		if (!add_lookup(s, &lookup[i], i > 0 ? &lookup[i - 1] : NULL))
			return false;
	sort_prefixes(&s->above);
	sort_prefixes(&s->fs_paths_above);
	sort_prefixes(&s->writable);
	sort_prefixes(&s->writable_fs_paths);
	sort_prefixes(&s->holding);
	return true;
}

void
lookupset_free(struct lookupset *s)
{
	free(s->above.v);
	free(s->fs_paths_above.v);
	free(s->writable.v);
	free(s->writable_fs_paths.v);
	free(s->holding.v);
	*s = (struct lookupset){ .above.v = NULL };
}

const struct lookup *
lookupset_through(const struct lookupset *s, const struct lookup *through)
{
	const struct lookup *w = find_prefix(&s->above, through->path, strlen(through->path));

	if (w == NULL && through->at.n > 0 && path_in_fs_path(through->at.v[0]) != NULL)
		w = find_prefix(&s->fs_paths_above, through->at.v[0], strlen(through->at.v[0]));
	return w;
}

/*
 * The first of these prefixes that the text is in, starting with itself or with the directory above. NULL if
 * there is none.
 */
static const struct lookup *
find_above(const struct prefixes *m, const char *text, const char *path, bool itself)
{
	size_t len = path != NULL ? next_above(text, path, 0) : 0;
	const struct lookup *found = NULL;

	if (!itself && len > 0)
		len = next_above(text, path, len);
	for (; found == NULL && len > 0; len = next_above(text, path, len))
		found = find_prefix(m, text, len);
	return found;
}

const struct lookup *
lookupset_crossed(const struct lookupset *s, const struct lookup *lookup, size_t lookups, const struct lookup **passing)
{
	const struct lookup *w, *found;
	size_t i;

	for (w = lookup; s->writable.n > 0 && w < lookup + lookups; w++) {
		if (w > lookup && leads_alike(w, w - 1))
			continue;
		found = find_above(&s->writable, w->path, w->path, false);
		for (i = 1; found == NULL && i < w->at.n; i++)
			found = find_above(&s->writable_fs_paths, w->at.v[i], path_in_fs_path(w->at.v[i]), true);
		if (found != NULL) {
			*passing = w;
			return found;
		}
	}
	return NULL;
}

const struct lookup *
lookupset_nested(const struct lookupset *s, const struct lookup *other)
{
	const char *fs_path = other->at.n > 0 ? other->at.v[0] : NULL;
	const struct lookup *w;

	if (fs_path == NULL || path_in_fs_path(fs_path) == NULL)
		return NULL;
	w = find_prefix(&s->holding, fs_path, strlen(fs_path));
	return w != NULL ? w : find_above(&s->writable_fs_paths, fs_path, path_in_fs_path(fs_path), false);
}
