/* See lookask.h. Trusts no length, whoever wrote the bytes. */
#include "lookask.h"

#include <string.h>

#include "bytes.h"
#include "cleanup.h"
#include "text.h"

/*
 * The fixed part of a lease: its boot, its processes and what they run. Then follow the arrays, in the order
 * of their counts.
 */
struct fixed {
	char boot[40];
	struct process_id asker, init;
	uint64_t mounts, pids;
	struct file_id program;
	struct process_id task;
	uint64_t users, nodes, cgroups, folders, ways;
};

static void
put_text(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s) + 1);
}

static const char *
own_place(const struct way *w)
{
	return w->at.n > 0 ? w->at.v[0] : "";
}

/* A lease may have a thousand of each, so they are sent only for questions that need them. */
static bool
needs_folders(const struct look_ask *a, const struct lease *l)
{
	return a->kind == LOOK_USE || (a->kind == LOOK_LIFE && l->users > 0);
}

char *
look_ask_pack(const struct look_ask *a, const struct lease *l, size_t *len)
{
	struct fixed f = { .asker = l->asker, .init = l->init, .mounts = l->mounts, .pids = l->pids,
		.program = l->pausing.program, .task = l->pausing.task, .users = l->users, .nodes = l->nodes,
		.cgroups = l->cgroups.n, .folders = needs_folders(a, l) ? l->folders : 0,
		.ways = a->kind == LOOK_PASSED ? l->ways : 0 };
	autobuf struct buf b = { 0 };
	size_t i;

	memcpy(f.boot, l->boot, sizeof(f.boot));
	bytes_put(&b, a, sizeof(*a));
	bytes_put(&b, &f, sizeof(f));
	bytes_put(&b, l->user, l->users * sizeof(*l->user));
	bytes_put(&b, l->node, l->nodes * sizeof(*l->node));
	for (i = 0; i < l->cgroups.n; i++)
		put_text(&b, l->cgroups.v[i]);
	for (i = 0; i < f.folders; i++) {
		put_text(&b, l->folder[i].fs);
		put_text(&b, l->folder[i].place);
	}
	for (i = 0; i < f.ways; i++) {
		bytes_put(&b, l->way[i].writable ? "w" : "r", 1);
		put_text(&b, own_place(&l->way[i]));
	}
	*len = b.len;
	return buf_take(&b);
}

static bool
take_cgroup_names(struct bytes *rest, uint64_t n, struct lease *l)
{
	uint64_t i;

	for (i = 0; i < n; i++) {
		autofree char *dir = bytes_take_text(rest);

		if (dir == NULL || !strlist_add(&l->cgroups, dir, SIZE_MAX))
			return false;
	}
	return true;
}

static bool
take_folders(struct bytes *rest, uint64_t n, struct lease *l)
{
	struct held_folder f;
	uint64_t i;

	for (i = 0; i < n; i++) {
		f = (struct held_folder){ .fs = bytes_take_text(rest) };
		f.place = bytes_take_text(rest);
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
take_ways(struct bytes *rest, uint64_t n, struct lease *l)
{
	uint64_t i;
	char how;

	for (i = 0; i < n; i++) {
		struct way w = { 0 };
		autofree char *place = bytes_take(rest, &how, 1) ? bytes_take_text(rest) : NULL;

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
take_fixed(struct bytes *rest, struct fixed *f, struct lease *l)
{
	if (!bytes_take(rest, f, sizeof(*f)))
		return false;
	memcpy(l->boot, f->boot, sizeof(l->boot));
	l->boot[sizeof(l->boot) - 1] = '\0';
	l->asker = f->asker;
	l->init = f->init;
	l->mounts = f->mounts;
	l->pids = f->pids;
	l->pausing.program = f->program;
	l->pausing.task = f->task;
	return true;
}

static bool
take_arrays(struct bytes *rest, const struct fixed *f, struct lease *l)
{
	void *user = NULL, *node = NULL;
	const bool good = bytes_take_array(rest, f->users, sizeof(*l->user), &user, &l->users) &&
	    bytes_take_array(rest, f->nodes, sizeof(*l->node), &node, &l->nodes);

	l->user = user;
	l->node = node;
	return good;
}

bool
look_ask_unpack(const char *bytes, size_t len, struct look_ask *a, struct lease *l)
{
	struct bytes rest = { bytes, len };
	struct fixed f;

	*l = (struct lease){ 0 };
	return bytes_take(&rest, a, sizeof(*a)) && take_fixed(&rest, &f, l) && take_arrays(&rest, &f, l) &&
	    take_cgroup_names(&rest, f.cgroups, l) && take_folders(&rest, f.folders, l) &&
	    take_ways(&rest, f.ways, l) && rest.n == 0;
}
