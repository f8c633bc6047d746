/*
 * See lookquery.h. The answer may be of a program that somebody has taken over: reads nothing beyond its end, and
 * accepts no value that its reader would have to check again.
 */
#include "lookquery.h"

#include <stdio.h>
#include <string.h>

#include "../base/bytes.h"
#include "../base/times.h"

#define PID_MAX (1 << 22)	/* the kernel's largest pid_max, and more than any process id */
#define ACTIVITY_BITS 4

_Static_assert(sizeof(struct look_query) == sizeof(struct look_head) + 16 + 6 * 4, "a question has no holes");
_Static_assert(sizeof(struct look_answer) == sizeof(struct look_head) + 16 + 8 * 4, "an answer has no holes");

struct look_head
look_head(void)
{
	struct look_head h = { .form = (uint64_t)sizeof(struct look_query) << 48 | (uint64_t)sizeof(struct look_answer) << 32 |
	    sizeof(struct look_lease) << 16 | sizeof(struct edit_node) };

	snprintf(h.version, sizeof(h.version), "%s", GPUHELPER_VERSION);
	return h;
}

bool
look_head_is_ours(const struct look_head *h)
{
	return memchr(h->version, '\0', sizeof(h->version)) != NULL && strcmp(h->version, GPUHELPER_VERSION) == 0 &&
	    h->form == look_head().form;
}

static void
put_text(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s) + 1);
}

static const char *
own_fs_path(const struct lookup *w)
{
	return w->at.n > 0 ? w->at.v[0] : "";
}

/* A lease may have a thousand of each, so they are sent only for questions that need them. */
static bool
needs_folders(const struct look_query *a, const struct lease *l)
{
	return a->kind == LOOK_ROOTLESS_USE || (a->kind == LOOK_IN_USE && l->container.users > 0);
}

char *
look_query_pack(const struct look_query *a, const struct lease *l, size_t *len)
{
	const struct lease_container *c = &l->container;
	struct look_lease f = { .asker = l->asker, .init = c->init, .mnt_ns = c->mnt_ns, .pid_ns = c->pid_ns,
		.program = l->tasks.program, .task = l->tasks.task, .users = c->users, .nodes = l->nodes,
		.cgroups = l->container.cgroups.n, .folders = needs_folders(a, l) ? l->folders : 0,
		.lookups = a->kind == LOOK_LEAKED ? l->lookups : 0 };
	struct look_query head = *a;
	autobuf struct buf b = { 0 };
	size_t i;

	head.head = look_head();
	memcpy(f.boot, l->boot, sizeof(f.boot));
	bytes_put(&b, &head, sizeof(head));
	bytes_put(&b, &f, sizeof(f));
	bytes_put(&b, l->container.user, l->container.users * sizeof(*l->container.user));
	bytes_put(&b, l->node, l->nodes * sizeof(*l->node));
	for (i = 0; i < l->container.cgroups.n; i++)
		put_text(&b, l->container.cgroups.v[i]);
	for (i = 0; i < f.folders; i++) {
		put_text(&b, l->folder[i].fs);
		put_text(&b, l->folder[i].fs_path);
	}
	for (i = 0; i < f.lookups; i++) {
		bytes_put(&b, l->lookup[i].writable ? "w" : "r", 1);
		put_text(&b, own_fs_path(&l->lookup[i]));
	}
	*len = b.len;
	return buf_take(&b);
}

char *
look_paths_pack(const struct look_query *a, const struct buf *lines, size_t *len)
{
	struct look_query head = *a;
	autobuf struct buf b = { 0 };

	head.head = look_head();
	bytes_put(&b, &head, sizeof(head));
	bytes_put(&b, lines->p, lines->len);
	*len = b.len;
	return buf_take(&b);
}

uint32_t
look_answer_max(const struct look_query *a)
{
	return a->kind == LOOK_PATHS ? LOOK_PATHS_MAX : LOOK_ANSWER_MAX;
}

/* What a scan can have found, and what it can have left of its limits. */
static bool
is_possible(const struct look_query *a, const struct look_answer *r)
{
	const uint32_t most = a->kind == LOOK_WAITER ? PID_MAX : (1U << ACTIVITY_BITS) - 1;

	return r->yes <= 1 && r->of_another_boot <= 1 && r->seen <= most && r->left <= a->left &&
	    r->dirs <= a->dirs && (a->until != 0 ? r->until == a->until : r->until >= 0);
}

static bool
incomplete_is_possible(const struct look_incomplete *d)
{
	return d->kind <= INCOMPLETE_ENDED && d->pid >= 0 && d->pid <= PID_MAX && (d->kind <= INCOMPLETE_FILES || d->pid != 0);
}

static bool
take_openers(struct bytes *rest, pid_t *opener, size_t n)
{
	size_t i;

	if (rest->n != n * sizeof(*opener) || (n > 0 && !bytes_take(rest, opener, n * sizeof(*opener))))
		return false;
	for (i = 0; i < n; i++)
		if (opener[i] < -PID_MAX || opener[i] > PID_MAX)
			return false;
	return true;
}

static bool
take_more(struct bytes *rest, const struct look_more *more)
{
	if (more->lines == NULL)
		return take_openers(rest, more->opener, more->openers);
	bytes_put(more->lines, rest->p, rest->n);
	return !more->lines->failed;
}

int
look_answer_read(const char *bytes, size_t len, const struct look_query *a, const struct look_more *more,
    struct look_answer *out, struct why *why)
{
	struct bytes rest = { bytes, len };
	struct look_head head;
	bool good;

	if (len < sizeof(head) || (memcpy(&head, bytes, sizeof(head)), !look_head_is_ours(&head)))
		return refuse(why, WHY_CONFIG, "gpuhelper and gpuhelper-look differ in version: install both again (make install)");
	good = bytes_take(&rest, out, sizeof(*out)) && incomplete_is_possible(&out->incomplete);
	if (good && out->nonce == 0)
		good = rest.n == 0;
	else
		good = good && out->nonce == a->nonce && is_possible(a, out) && take_more(&rest, more);
	return good ? 0 : refuse(why, WHY_BUG, "gpuhelper-look sent a malformed answer");
}

struct activity
activity_unpack(uint32_t bits)
{
	return (struct activity){ .placeholder = (bits & 1) != 0, .alone = (bits & 2) != 0, .task = (bits & 4) != 0,
		.has_node = (bits & 8) != 0 };
}

int
incomplete_tell(const struct look_incomplete *d, struct why *why)
{
	switch (d->kind) {
	case INCOMPLETE_MEMORY:
		return refuse_nomem(why);
	case INCOMPLETE_PROC:
		return refuse(why, WHY_IO, "/proc can't be read");
	case INCOMPLETE_FILES:
		return refuse(why, WHY_AGAIN, "can't see in %d s which containers have the GPU open: they have very many files "
		    "open (the last process seen is PID %d)", OPENERS_MS / 1000, d->pid);
	case INCOMPLETE_UNSTEADY:
		return refuse(why, WHY_AGAIN, "/proc/%d: can't see whether this process, among others, has the GPU open: its "
		    "threads or files change too fast", d->pid);
	case INCOMPLETE_CROWDED:
		return refuse(why, WHY_AGAIN, "can't see which containers have the GPU open: processes start faster than they can "
		    "be looked at (the last one was PID %d): find what starts them, and end that", d->pid);
	case INCOMPLETE_SLOW:
		return refuse(why, WHY_AGAIN, "/proc/%d: can't see whether this process has the GPU open: it blocks its readers (in "
		    "execve(2) with a file of a FUSE file system open?); end it", d->pid);
	}
	return refuse(why, WHY_AGAIN, "/proc/%d: can't see whether this process has the GPU open: it blocks its readers (in "
	    "execve(2) with a file of a FUSE file system open?), or there are too many processes; end it", d->pid);
}
