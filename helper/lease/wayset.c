/* See wayset.h. */
#include "wayset.h"

#include <stdlib.h>
#include <string.h>

/* The start of a path, or of a place with its file system («8:1 /srv»), that «way» goes through or is. */
struct way_mark {
	const char *text;
	size_t len;
	const struct way *way;
};

static int
by_text(const void *a, const void *b)
{
	const struct way_mark *x = a, *y = b;
	int order = memcmp(x->text, y->text, x->len < y->len ? x->len : y->len);

	return order != 0 ? order : (x->len > y->len) - (x->len < y->len);
}

static bool
add_way_mark(struct way_marks *m, const char *text, size_t len, const struct way *way)
{
	struct way_mark *v;
	size_t room;

	if (m->n == m->room) {
		room = m->room > 0 ? 2 * m->room : 64;
		if ((v = reallocarray(m->v, room, sizeof(*v))) == NULL)
			return false;
		m->v = v;
		m->room = room;
	}
	m->v[m->n++] = (struct way_mark){ text, len, way };
	return true;
}

static void
sort_marks(struct way_marks *m)
{
	if (m->n > 1)
		qsort(m->v, m->n, sizeof(*m->v), by_text);
}

static const struct way *
find_mark(const struct way_marks *m, const char *text, size_t len)
{
	const struct way_mark key = { text, len, NULL };
	const struct way_mark *found = m->n > 0 ? bsearch(&key, m->v, m->n, sizeof(key), by_text) : NULL;

	return found != NULL ? found->way : NULL;
}

/* Where the path in a place begins; NULL if it is no place. */
static const char *
path_in_place(const char *fs_path)
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
	const char *x = *a == '/' ? a : path_in_place(a), *y = *b == '/' ? b : path_in_place(b);
	size_t len;

	if (x == NULL || y == NULL)
		return false;
	len = parent_length(a, x);
	return len == parent_length(b, y) && memcmp(a, b, len) == 0;
}

/* True if both are the same to way_passes(). */
static bool
leads_alike(const struct way *a, const struct way *b)
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
add_marks_above(struct way_marks *m, const char *text, const char *path, bool itself, const struct way *way)
{
	size_t len = path != NULL ? next_above(text, path, 0) : 0;

	if (!itself && len > 0)
		len = next_above(text, path, len);
	for (; len > 0; len = next_above(text, path, len))
		if (!add_way_mark(m, text, len, way))
			return false;
	return true;
}

static bool
add_way(struct wayset *s, const struct way *w, const struct way *last)
{
	const char *own = w->at.n > 0 ? w->at.v[0] : NULL;
	size_t i;

	if (last == NULL || !leads_alike(w, last)) {
		if (!add_marks_above(&s->above, w->path, w->path, false, w))
			return false;
		for (i = 1; i < w->at.n; i++)
			if (!add_marks_above(&s->places_above, w->at.v[i], path_in_place(w->at.v[i]), true, w))
				return false;
	}
	if (!w->writable)
		return true;
	if (!add_way_mark(&s->writable, w->path, strlen(w->path), w))
		return false;
	return own == NULL || path_in_place(own) == NULL || (add_way_mark(&s->writable_places, own, strlen(own), w) &&
	    ((last != NULL && last->writable && last->at.n > 0 && same_parent(own, last->at.v[0])) ||
	    add_marks_above(&s->holding, own, path_in_place(own), false, w)));
}

bool
wayset_make(struct wayset *s, const struct way *way, size_t ways)
{
	size_t i;

	*s = (struct wayset){ .above.v = NULL };
	for (i = 0; i < ways; i++)
		if (!add_way(s, &way[i], i > 0 ? &way[i - 1] : NULL))
			return false;
	sort_marks(&s->above);
	sort_marks(&s->places_above);
	sort_marks(&s->writable);
	sort_marks(&s->writable_places);
	sort_marks(&s->holding);
	return true;
}

void
wayset_free(struct wayset *s)
{
	free(s->above.v);
	free(s->places_above.v);
	free(s->writable.v);
	free(s->writable_places.v);
	free(s->holding.v);
	*s = (struct wayset){ .above.v = NULL };
}

const struct way *
wayset_through(const struct wayset *s, const struct way *through)
{
	const struct way *w = find_mark(&s->above, through->path, strlen(through->path));

	if (w == NULL && through->at.n > 0 && path_in_place(through->at.v[0]) != NULL)
		w = find_mark(&s->places_above, through->at.v[0], strlen(through->at.v[0]));
	return w;
}

/*
 * The first of these marks that the text is in, starting with itself or with the directory above. NULL if
 * there is none.
 */
static const struct way *
find_above(const struct way_marks *m, const char *text, const char *path, bool itself)
{
	size_t len = path != NULL ? next_above(text, path, 0) : 0;
	const struct way *found = NULL;

	if (!itself && len > 0)
		len = next_above(text, path, len);
	for (; found == NULL && len > 0; len = next_above(text, path, len))
		found = find_mark(m, text, len);
	return found;
}

const struct way *
wayset_passed(const struct wayset *s, const struct way *way, size_t ways, const struct way **passing)
{
	const struct way *w, *found;
	size_t i;

	for (w = way; s->writable.n > 0 && w < way + ways; w++) {
		if (w > way && leads_alike(w, w - 1))
			continue;
		found = find_above(&s->writable, w->path, w->path, false);
		for (i = 1; found == NULL && i < w->at.n; i++)
			found = find_above(&s->writable_places, w->at.v[i], path_in_place(w->at.v[i]), true);
		if (found != NULL) {
			*passing = w;
			return found;
		}
	}
	return NULL;
}

const struct way *
wayset_nested(const struct wayset *s, const struct way *other)
{
	const char *fs_path = other->at.n > 0 ? other->at.v[0] : NULL;
	const struct way *w;

	if (fs_path == NULL || path_in_place(fs_path) == NULL)
		return NULL;
	w = find_mark(&s->holding, fs_path, strlen(fs_path));
	return w != NULL ? w : find_above(&s->writable_places, fs_path, path_in_place(fs_path), false);
}
