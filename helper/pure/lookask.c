/* See lookask.h. Takes no length on trust, whoever wrote the bytes. */
#include "lookask.h"

#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "text.h"

/* Of a lease: the boot it was written in, its processes and what they run; and then so many of each, in this order. */
struct fixed {
	char boot[40];
	struct process_id asker, init;
	uint64_t mounts, pids;
	struct file_id program;
	uint64_t users, nodes, execs, cgroups, folders, ways;
};

static void
put(struct buf *b, const void *what, size_t n)
{
	if (n > 0)
		buf_add(b, what, n);
}

static void
put_text(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s) + 1);
}

static const char *
place_of(const struct way *w)
{
	return w->at.n > 0 ? w->at.v[0] : "";
}

char *
look_ask_pack(const struct look_ask *a, const struct lease *l, size_t *len)
{
	struct fixed f = { .asker = l->asker, .init = l->init, .mounts = l->mounts, .pids = l->pids,
		.program = l->pausing.program, .users = l->users, .nodes = l->nodes, .execs = l->pausing.execs,
		.cgroups = l->cgroups.n, .folders = l->folders, .ways = l->ways };
	autobuf struct buf b = { 0 };
	size_t i;

	memcpy(f.boot, l->boot, sizeof(f.boot));
	put(&b, a, sizeof(*a));
	put(&b, &f, sizeof(f));
	put(&b, l->user, l->users * sizeof(*l->user));
	put(&b, l->node, l->nodes * sizeof(*l->node));
	put(&b, l->pausing.exec, l->pausing.execs * sizeof(*l->pausing.exec));
	for (i = 0; i < l->cgroups.n; i++)
		put_text(&b, l->cgroups.v[i]);
	for (i = 0; i < l->folders; i++) {
		put_text(&b, l->folder[i].fs);
		put_text(&b, l->folder[i].place);
	}
	for (i = 0; i < l->ways; i++) {
		put(&b, l->way[i].writable ? "w" : "r", 1);
		put_text(&b, place_of(&l->way[i]));
	}
	*len = b.len;
	return buf_take(&b);
}

/* The bytes that were not read yet. */
struct rest {
	const char *p;
	size_t n;
};

static bool
take(struct rest *r, void *out, size_t n)
{
	if (n > r->n)
		return false;
	if (n > 0)
		memcpy(out, r->p, n);
	r->p += n;
	r->n -= n;
	return true;
}

static char *
take_text(struct rest *r)
{
	const char *end = r->n > 0 ? memchr(r->p, '\0', r->n) : NULL;
	char *s = end != NULL ? strdup(r->p) : NULL;

	if (s != NULL) {
		r->n -= (size_t)(end + 1 - r->p);
		r->p = end + 1;
	}
	return s;
}

/* An array whose members stand as they lie in memory; NULL, too, where there are none. */
static bool
take_array(struct rest *r, uint64_t n, size_t size, void **out, size_t *count)
{
	if (n == 0)
		return true;
	if (n > r->n / size || (*out = calloc((size_t)n, size)) == NULL)
		return false;
	*count = (size_t)n;
	return take(r, *out, (size_t)n * size);
}

static bool
take_cgroups(struct rest *r, uint64_t n, struct lease *l)
{
	uint64_t i;

	for (i = 0; i < n; i++) {
		autofree char *dir = take_text(r);

		if (dir == NULL || !strlist_add(&l->cgroups, dir, SIZE_MAX))
			return false;
	}
	return true;
}

static bool
take_folders(struct rest *r, uint64_t n, struct lease *l)
{
	struct held_folder f;
	uint64_t i;

	for (i = 0; i < n; i++) {
		f = (struct held_folder){ .fs = take_text(r) };
		f.place = take_text(r);
		if (f.fs == NULL || f.place == NULL) {
			held_folder_free(&f);
			return false;
		}
		if (!lease_add_folder(l, &f))
			return false;
	}
	return true;
}

static bool
take_ways(struct rest *r, uint64_t n, struct lease *l)
{
	uint64_t i;
	char how;

	for (i = 0; i < n; i++) {
		struct way w = { 0 };
		autofree char *place = take(r, &how, 1) ? take_text(r) : NULL;

		if (place == NULL)
			return false;
		w.writable = how == 'w';
		if (*place != '\0' && !strlist_add(&w.at, place, SIZE_MAX)) {
			way_free(&w);
			return false;
		}
		if (!lease_add_way(l, &w))
			return false;
	}
	return true;
}

static bool
take_fixed(struct rest *r, struct fixed *f, struct lease *l)
{
	if (!take(r, f, sizeof(*f)))
		return false;
	memcpy(l->boot, f->boot, sizeof(l->boot));
	l->boot[sizeof(l->boot) - 1] = '\0';
	l->asker = f->asker;
	l->init = f->init;
	l->mounts = f->mounts;
	l->pids = f->pids;
	l->pausing.program = f->program;
	return true;
}

static bool
take_arrays(struct rest *r, const struct fixed *f, struct lease *l)
{
	void *user = NULL, *node = NULL, *exec = NULL;
	const bool good = take_array(r, f->users, sizeof(*l->user), &user, &l->users) &&
	    take_array(r, f->nodes, sizeof(*l->node), &node, &l->nodes) &&
	    take_array(r, f->execs, sizeof(*l->pausing.exec), &exec, &l->pausing.execs);

	l->user = user;
	l->node = node;
	l->pausing.exec = exec;
	return good;
}

bool
look_ask_unpack(const char *bytes, size_t len, struct look_ask *a, struct lease *l)
{
	struct rest r = { bytes, len };
	struct fixed f;

	*l = (struct lease){ 0 };
	return take(&r, a, sizeof(*a)) && take_fixed(&r, &f, l) && take_arrays(&r, &f, l) &&
	    take_cgroups(&r, f.cgroups, l) && take_folders(&r, f.folders, l) && take_ways(&r, f.ways, l) && r.n == 0;
}
