/* See places.h.  Reads the kernel's table of the container's mounts, which names nothing by a path on the host. */
#include "places.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../host/file.h"
#include "../host/mounts.h"
#include "../pure/cleanup.h"

/* A place that is to be mounted. */
struct wanted {
	const char *text;
	bool seen;
};

struct search {
	struct wanted *v;	/* sorted */
	size_t n, left;
};

int
places_of(const struct edits *e, struct strlist *out, struct why *why)
{
	size_t i;

	for (i = 0; i < e->mounts; i++)
		if (e->mount[i].place != NULL && !strlist_add(out, e->mount[i].place, SIZE_MAX))
			return refuse_nomem(why);
	return 0;
}

static int
by_text(const void *a, const void *b)
{
	return strcmp(((const struct wanted *)a)->text, ((const struct wanted *)b)->text);
}

/* One mount is one of the places, which may be there more than once.  True where none is left. */
static bool
tick_off(void *ctx, struct mount *m)
{
	struct search *s = ctx;
	autofree char *text = NULL;
	struct wanted key, *w;

	if (asprintf(&text, "%s %s", m->fs, m->place) == -1)
		text = NULL;
	key = (struct wanted){ .text = text };
	if (text == NULL || (w = bsearch(&key, s->v, s->n, sizeof(key), by_text)) == NULL)
		return false;
	while (w > s->v && by_text(w - 1, &key) == 0)
		w--;
	while (w < s->v + s->n && w->seen && by_text(w, &key) == 0)
		w++;
	if (w == s->v + s->n || w->seen || by_text(w, &key) != 0)
		return false;
	w->seen = true;
	return --s->left == 0;
}

static int
refuse_first(const struct search *s, struct why *why)
{
	const struct wanted *w = s->v;

	while (w->seen)
		w++;
	return refuse(why, WHY_DENIED, "a granted folder (%.300s, by file system and path) is not what the runtime mounted: "
	    "someone led its path elsewhere meanwhile", w->text);
}

int
places_check(pid_t pid, const struct strlist *places, struct why *why)
{
	autoclose int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	autofree struct wanted *v = calloc(places->n + 1, sizeof(*v));
	struct search s = { .v = v, .n = places->n, .left = places->n };
	char name[24];
	size_t i;
	int found;

	if (places->n == 0)
		return 0;
	if (v == NULL)
		return refuse_nomem(why);
	for (i = 0; i < places->n; i++)
		v[i].text = places->v[i];
	qsort(v, s.n, sizeof(*v), by_text);
	snprintf(name, sizeof(name), "%d", pid);
	found = proc != -1 ? mounts_any(proc, name, tick_off, &s) : -1;
	if (found == -1)
		return refuse(why, WHY_IO, "/proc/%s/mountinfo: %s", name, strerror(errno));
	return found == 1 ? 0 : refuse_first(&s, why);
}
