/* See lookquestion.h. Trusts no length, whoever wrote the bytes. */
#include "lookquestion.h"

#include <stdlib.h>
#include <string.h>

#include "../base/bytes.h"
#include "../base/cleanup.h"

/* Takes a text up to its NUL. The caller frees it; NULL if there is none or memory is short. */
static char *
take_text(struct bytes *b)
{
	const char *end = b->n > 0 ? memchr(b->p, '\0', b->n) : NULL;
	char *s = end != NULL ? strdup(b->p) : NULL;

	if (s != NULL) {
		b->n -= (size_t)(end + 1 - b->p);
		b->p = end + 1;
	}
	return s;
}

/*
 * Takes an array of n members as they are in memory. False if they are not all there or memory is short; the caller
 * frees *out in any case. If n is 0, leaves *out and *count unchanged.
 */
static bool
take_array(struct bytes *b, uint64_t n, size_t size, void **out, size_t *count)
{
	if (n == 0)
		return true;
	if (n > b->n / size || (*out = calloc((size_t)n, size)) == NULL)
		return false;
	*count = (size_t)n;
	return bytes_take(b, *out, (size_t)n * size);
}

static bool
take_cgroup_names(struct bytes *rest, uint64_t n, struct lease *l)
{
	uint64_t i;

	for (i = 0; i < n; i++) {
		autofree char *dir = take_text(rest);

		if (dir == NULL || !strlist_add(&l->container.cgroups, dir, SIZE_MAX))
			return false;
	}
	return true;
}

static bool
take_folders(struct bytes *rest, uint64_t n, struct lease *l)
{
	struct leased_folder f;
	uint64_t i;

	for (i = 0; i < n; i++) {
		f = (struct leased_folder){ .fs = take_text(rest) };
		f.fs_path = take_text(rest);
		if (f.fs == NULL || f.fs_path == NULL) {
			leased_folder_free(&f);
			return false;
		}
		if (!lease_add_folder(l, &f))
			return false;
	}
	return true;
}

static bool
take_lookups(struct bytes *rest, uint64_t n, struct lease *l)
{
	uint64_t i;
	char how;

	for (i = 0; i < n; i++) {
		struct lookup w = { 0 };
		autofree char *fs_path = bytes_take(rest, &how, 1) ? take_text(rest) : NULL;

		if (fs_path == NULL)
			return false;
		w.writable = how == 'w';
		if (*fs_path != '\0' && !strlist_add(&w.at, fs_path, SIZE_MAX)) {
			lookup_free(&w);
			return false;
		}
		if (!lease_add_lookup(l, &w))
			return false;
	}
	return true;
}

static bool
take_fixed(struct bytes *rest, struct look_lease *f, struct lease *l)
{
	if (!bytes_take(rest, f, sizeof(*f)))
		return false;
	memcpy(l->boot, f->boot, sizeof(l->boot));
	l->boot[sizeof(l->boot) - 1] = '\0';
	l->asker = f->asker;
	l->container.init = f->init;
	l->container.mnt_ns = f->mnt_ns;
	l->container.pid_ns = f->pid_ns;
	l->tasks.program = f->program;
	l->tasks.task = f->task;
	return true;
}

static bool
take_arrays(struct bytes *rest, const struct look_lease *f, struct lease *l)
{
	void *user = NULL, *node = NULL;
	const bool good = take_array(rest, f->users, sizeof(*l->container.user), &user, &l->container.users) &&
	    take_array(rest, f->nodes, sizeof(*l->node), &node, &l->nodes);

	l->container.user = user;
	l->node = node;
	return good;
}

bool
look_query_unpack(const char *bytes, size_t len, struct look_query *a, struct lease *l)
{
	struct bytes rest = { bytes, len };
	struct look_lease f;

	*l = (struct lease){ 0 };
	return bytes_take(&rest, a, sizeof(*a)) && look_head_is_ours(&a->head) && take_fixed(&rest, &f, l) &&
	    take_arrays(&rest, &f, l) && take_cgroup_names(&rest, f.cgroups, l) && take_folders(&rest, f.folders, l) &&
	    take_lookups(&rest, f.lookups, l) && rest.n == 0;
}

bool
look_query_is_of_paths(const char *bytes, size_t len)
{
	struct look_query a;

	return bytes_take(&(struct bytes){ bytes, len }, &a, sizeof(a)) && look_head_is_ours(&a.head) && a.kind == LOOK_PATHS;
}

bool
look_paths_unpack(const char *bytes, size_t len, struct look_query *a, struct paths_query *paths)
{
	struct bytes rest = { bytes, len };
	struct lines t = { 0 };

	*paths = (struct paths_query){ .folders = 0 };
	if (!bytes_take(&rest, a, sizeof(*a)))
		return false;
	t.at = rest.p;
	t.end = rest.p + rest.n;
	paths_query_lines(&t, paths);
	return lines_finish(&t);
}

void
paths_query_free(struct paths_query *a)
{
	size_t i;

	for (i = 0; i < a->folders; i++) {
		free(a->folder[i].path);
		free(a->folder[i].target);
		free(a->folder[i].base);
	}
	free(a->folder);
	free(a->cgroups.path);
	free(a->cgroups.id);
	policy_set_free(&a->writers);
	strlist_free(&a->file);
	*a = (struct paths_query){ .folders = 0 };
}

struct look_answer
look_answer_begin(uint64_t nonce)
{
	return (struct look_answer){ .head = look_head(), .nonce = nonce };
}

uint32_t
activity_pack(const struct activity *s)
{
	return (s->placeholder ? 1U : 0) | (s->alone ? 2U : 0) | (s->task ? 4U : 0) | (s->has_node ? 8U : 0);
}
