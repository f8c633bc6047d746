/*
 * See queue.h. Works beneath /run/gpuhelper/queue only, under the lock on the leases. Counts time from boot, so that
 * nobody loses a position when the clock is set.
 */
#include "queue.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/lines.h"
#include "../../base/times.h"
#include "../../host/file.h"
#include "../../host/process/process.h"
#include "../../host/trust.h"
#include "../../lease/leasetasks.h"
#include "../log/audit.h"
#include "../self/state.h"

#define VERSION 5		/* of the files; a file of another version is dropped, since its process will ask again */
#define QUEUED_MAX 1024
#define QUEUED_PER_USER 256

static uint64_t
since_boot_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static uint64_t
ms_of(struct timespec t)
{
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void
queued_free(struct queued *w)
{
	size_t i;

	for (i = 0; i < w->demands; i++)
		free(w->demand[i].candidate);
	free(w->demand);
	free(w->id);
	free(w->pipeline);
	free(w->policy);
	*w = (struct queued){ 0 };
}

static void
demand_lines(struct lines *s, void *member)
{
	struct gpu_demand *w = member;

	field_u32(s, &w->count);
	lines_members(s, "candidate", (void **)&w->candidate, &w->candidates, SIZE_MAX, sizeof(*w->candidate),
	    leased_gpu_fields);
}

static bool
queued_lines(struct lines *s, struct queued *w)
{
	uint32_t version = VERSION;

	lines_begin(s, "waiter");
	field_u32(s, &version);
	if (version != VERSION)
		s->failed = true;
	field_copy(s, &w->id);
	field_copy(s, &w->pipeline);
	field_u32(s, &w->uid);
	process_id_fields(s, &w->asker);
	process_id_fields(s, &w->task);
	field_u64(s, &w->arrived);
	field_i64(s, &w->since);
	field_u32(s, &w->wait);
	lines_begin(s, "by");
	field_copy(s, &w->policy);
	field_u32(s, &w->max_gpus);
	field_u32(s, &w->priority);
	field_u32(s, &w->urgent_after);
	lines_members(s, "want", (void **)&w->demand, &w->demands, SIZE_MAX, sizeof(*w->demand), demand_lines);
	return lines_finish(s);
}

/*
 * Reads a request's file. 1: the file is not of this version, and keeps no position. -1 with *why: it can't
 * be read, and may be one.
 */
static int
load_queued(int dir, const char *name, struct queued *w, struct why *why)
{
	autofree char *text = NULL;
	unsigned tries = 20;
	struct stat st;
	struct lines s;
	size_t len;
	int ret;

	*w = (struct queued){ 0 };
	if (strlen(name) != 64)
		return 1;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return refuse(why, WHY_IO, "%s/queue/%s: %s", GPUHELPER_RUNDIR, name, strerror(errno));
	/* a request renews its position without the lock, so the file may change while it is read */
	while ((text = trust_read(dir, name, name, 1 << 20, true, &len, why)) == NULL && why->code == WHY_AGAIN &&
	    tries-- > 0)
		;
	if (text == NULL)
		return why->code == WHY_CONFIG ? 1 : -1;
	s = (struct lines){ .at = text, .end = text + len };
	ret = queued_lines(&s, w) ? 0 : s.nomem ? refuse_nomem(why) : 1;
	snprintf(w->key, sizeof(w->key), "%s", name);
	w->renewed = ms_of(st.st_mtim);
	return ret;
}

/*
 * True if the request keeps its position. After its full wait it asks once more, and is told that the wait is over.
 * Checks only that the numbers of processes are in use: a scan of a process could block. A task's asker is root's
 * wrapper, which takes the position away when the task ends. changed: milliseconds since boot when a lease last
 * changed.
 */
static bool
still_waits(const struct queued *w, uint64_t changed)
{
	const uint64_t now = since_boot_ns() / 1000000, silence = w->uid == 0 ? SILENCE_MS : POLLED_MS;

	if (now > w->arrived / 1000000 + (uint64_t)w->wait * 1000 + silence)
		return false;
	if (w->task.pid == 0 && w->renewed < changed && changed + WOKEN_MS < now)
		return false;
	return w->renewed <= now && now - w->renewed <= silence && process_is_there(w->asker.pid) &&
	    (w->task.pid == 0 || (process_is_there(w->task.pid) && process_id_lives(w->asker)));
}

static unsigned
waited(const struct queued *w)
{
	const uint64_t now = since_boot_ns();

	return now < w->arrived ? 0 : (unsigned)((now - w->arrived) / 1000000000);
}

/* Records a wait that ended without a GPU or a refusal. Only root's: others could fill the log. */
static void
record_abandoned(int audit, const struct queue *q, const struct queued *w)
{
	const struct request about = { .id = w->id };
	const struct record rec = { .event = "abandon", .uid = w->uid, .pid = w->task.pid, .request = &about,
		.of_lease = w->pipeline, .waited = queue_waited(q, w->key) };
	struct why ignored;

	if (w->uid == 0)
		(void)audit_write(audit, &rec, &ignored);
}

void
queue_abandon(struct queue *q, const char *key, int audit)
{
	const size_t position = queue_position(q, key);

	if (position == q->n)
		return;
	record_abandoned(audit, q, &q->v[position]);
	queue_leave(q, key);
}

static int
by_order(const void *a, const void *b)
{
	const struct queued *x = a, *y = b;

	if (x->urgent != y->urgent)
		return y->urgent - x->urgent;
	if (!x->urgent && x->priority != y->priority)
		return x->priority > y->priority ? -1 : 1;
	if (x->share_used != y->share_used)
		return x->share_used < y->share_used ? -1 : 1;
	return x->arrived != y->arrived ? (x->arrived > y->arrived) - (x->arrived < y->arrived) : strcmp(x->key, y->key);
}

/* Adds the request to the list. -1 with *why: memory is short; *w is then freed. */
static int
add_queued(struct queue *q, struct queued *w, struct why *why)
{
	struct queued *v = reallocarray(q->v, q->n + 1, sizeof(*v));

	if (v == NULL) {
		queued_free(w);
		return refuse_nomem(why);
	}
	q->v = v;
	q->v[q->n++] = *w;
	return 0;
}

/* Removes those of the list that no longer wait. */
static void
drop_gone(struct queue *q, int audit)
{
	struct stat leases;
	size_t i, n = 0;

	if (fstatat(q->dir, "../leases", &leases, AT_SYMLINK_NOFOLLOW) == -1)
		leases = (struct stat){ 0 };
	for (i = 0; i < q->n; i++) {
		if (still_waits(&q->v[i], ms_of(leases.st_mtim))) {
			q->v[n++] = q->v[i];
			continue;
		}
		if (audit != -1) {
			record_abandoned(audit, q, &q->v[i]);
			queue_leave(q, q->v[i].key);
		}
		queued_free(&q->v[i]);
	}
	q->n = n;
}

void
queue_sort(struct queue *q)
{
	if (q->n > 1)
		qsort(q->v, q->n, sizeof(*q->v), by_order);
}

int
queue_open(struct queue *q, int audit, struct why *why)
{
	autostrlist struct strlist names = { 0 };
	struct queued w;
	size_t i;
	int ret;

	*q = (struct queue){ .dir = -1 };
	if ((q->dir = state_dir("queue", why)) == -1 ||
	    state_list(q->dir, GPUHELPER_RUNDIR "/queue", 4 * QUEUED_MAX, &names, why) == -1)
		return -1;
	for (i = 0; i < names.n; i++) {
		if ((ret = load_queued(q->dir, names.v[i], &w, why)) == 0)
			ret = add_queued(q, &w, why);
		else
			queued_free(&w);
		if (ret == -1)
			return -1;
		if (ret == 1)
			(void)unlinkat(q->dir, names.v[i], 0);
	}
	drop_gone(q, audit);
	for (i = 0; i < q->n; i++)
		q->v[i].urgent = waited(&q->v[i]) >= q->v[i].urgent_after;
	queue_sort(q);
	return 0;
}

void
queue_close(struct queue *q)
{
	size_t i;

	for (i = 0; i < q->n; i++)
		queued_free(&q->v[i]);
	free(q->v);
	if (q->dir != -1)
		close(q->dir);
	*q = (struct queue){ .dir = -1 };
}

size_t
queue_position(const struct queue *q, const char *key)
{
	size_t i;

	for (i = 0; i < q->n && strcmp(q->v[i].key, key) != 0; i++)
		;
	return i;
}

unsigned
queue_waited(const struct queue *q, const char *key)
{
	const size_t position = queue_position(q, key);

	return position == q->n ? 0 : waited(&q->v[position]);
}

/* True if the queued request goes before one that is not in the queue yet. */
static bool
goes_before(const struct queued *v, const struct queued *w)
{
	return v->urgent || v->priority > w->priority || (v->priority == w->priority && v->share_used <= w->share_used);
}

size_t
queue_before(const struct queue *q, const struct queued *w)
{
	size_t position = queue_position(q, w->key);

	if (position == q->n)
		for (position = 0; position < q->n && goes_before(&q->v[position], w); position++)
			;
	return position;
}

/* Sets a file's modification time to now, counted from boot: when its request was last renewed. */
static void
touch(int dir, const char *key)
{
	const uint64_t now = since_boot_ns();
	const struct timespec at = { .tv_sec = (time_t)(now / 1000000000), .tv_nsec = (long)(now % 1000000000) };
	const struct timespec times[2] = { at, at };

	(void)utimensat(dir, key, times, AT_SYMLINK_NOFOLLOW);
}

/* True if the request's file has this text. A file that is written wakes all tasks that wait. */
static bool
is_written(const struct queue *q, size_t position, const struct buf *text)
{
	autobuf struct buf old = { 0 };

	return position < q->n && queued_lines(&(struct lines){ .out = &old }, &q->v[position]) && strcmp(old.p, text->p) == 0;
}

/* For a request that is not in the queue yet. */
static int
check_limits(const struct queue *q, const struct queued *w, unsigned max_waiting, struct why *why)
{
	size_t i, own = 0, of_policy = 0;

	for (i = 0; i < q->n; i++) {
		own += q->v[i].uid == w->uid;
		of_policy += strcmp(q->v[i].policy, w->policy) == 0;
	}
	if (max_waiting != 0 && of_policy >= max_waiting)
		return refuse(why, WHY_AGAIN, "%s: as many of its containers wait already as may (max_waiting = %u)", w->policy,
		    max_waiting);
	return q->n < QUEUED_MAX && own < QUEUED_PER_USER ? 0 :
	    refuse(why, WHY_AGAIN, "too many containers wait for GPUs already (%zu): try again", q->n);
}

int
queue_stay(struct queue *q, struct queued *w, unsigned max_waiting, struct why *why)
{
	const size_t position = queue_position(q, w->key);
	autobuf struct buf text = { 0 };

	if (position == q->n && check_limits(q, w, max_waiting, why) == -1)
		return -1;
	w->arrived = position < q->n ? q->v[position].arrived : since_boot_ns();
	w->since = position < q->n ? q->v[position].since : time(NULL);
	if (!queued_lines(&(struct lines){ .out = &text }, w))
		return refuse_nomem(why);
	if (!is_written(q, position, &text) && state_write(q->dir, w->key, text.p, text.len, 0600, why) == -1)
		return -1;
	touch(q->dir, w->key);
	return 0;
}

void
queue_note_change(int leases)
{
	touch(leases, ".");
}

void
queue_touch(const char *key)
{
	struct why ignored;
	autoclose int dir = state_dir("queue", &ignored);

	if (dir != -1)
		touch(dir, key);
}

void
queue_leave(const struct queue *q, const char *key)
{
	(void)unlinkat(q->dir, key, 0);
}
