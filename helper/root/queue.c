/*
 * See queue.h.  Works beneath /run/gpuhelper/queue only, under the lock of the
 * leases.  Time is counted from boot: a clock that is set does not make anyone
 * lose his place.
 */
#include "queue.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../host/file.h"
#include "../host/trust.h"
#include "../pure/cleanup.h"
#include "../pure/strictjson.h"
#include "state.h"

#define SILENCE_MS 2000		/* after which a waiter has lost its place */
#define WAITERS_MAX 1024
#define WAITERS_PER_USER 256

static uint64_t
since_boot_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

void
waiter_free(struct waiter *w)
{
	size_t i;

	for (i = 0; i < w->wants; i++)
		free(w->want[i].candidate);
	free(w->want);
	free(w->id);
	free(w->pipeline);
	*w = (struct waiter){ 0 };
}

static json_t *
waiter_json(const struct waiter *w)
{
	json_t *wants = json_array(), *candidates;
	char turn[24], start[24];
	size_t i, k;

	for (i = 0; i < w->wants; i++) {
		candidates = json_array();
		for (k = 0; k < w->want[i].candidates; k++)
			json_array_append_new(candidates, held_gpu_pack(&w->want[i].candidate[k]));
		json_array_append_new(wants, json_pack("{s:i, s:o}", "count", (int)w->want[i].count, "candidates", candidates));
	}
	snprintf(turn, sizeof(turn), "%llu", (unsigned long long)w->turn);
	snprintf(start, sizeof(start), "%llu", (unsigned long long)w->start);
	return json_pack("{s:i, s:s, s:s, s:I, s:I, s:s, s:s, s:I, s:I, s:o}", "version", 2, "id", w->id,
	    "pipeline", w->pipeline, "uid", (json_int_t)w->uid, "pid", (json_int_t)w->pid, "start", start, "turn", turn,
	    "since", (json_int_t)w->since, "wait", (json_int_t)w->wait, "wants", wants);
}

static int
read_want(const json_t *j, struct pick_want *w)
{
	const json_t *list = json_object_get(j, "candidates"), *g;
	size_t i;

	*w = (struct pick_want){ .count = (unsigned)json_integer_value(json_object_get(j, "count")) };
	if ((w->candidate = calloc(json_array_size(list) + 1, sizeof(*w->candidate))) == NULL)
		return -1;
	json_array_foreach(list, i, g)
		if (held_gpu_unpack(g, &w->candidate[w->candidates++]) == -1)
			return -1;
	return 0;
}

static int
read_waiter(const json_t *j, struct waiter *w)
{
	const char *id = json_string_value(json_object_get(j, "id"));
	const char *pipeline = json_string_value(json_object_get(j, "pipeline"));
	const char *turn = json_string_value(json_object_get(j, "turn"));
	const char *start = json_string_value(json_object_get(j, "start"));
	const json_t *wants = json_object_get(j, "wants"), *item;
	size_t i;

	if (json_integer_value(json_object_get(j, "version")) != 2 || id == NULL || pipeline == NULL || turn == NULL ||
	    start == NULL || !text_u64(turn, UINT64_MAX, &w->turn) || !text_u64(start, UINT64_MAX, &w->start))
		return -1;
	w->id = strdup(id);
	w->pipeline = strdup(pipeline);
	w->uid = (uint32_t)json_integer_value(json_object_get(j, "uid"));
	w->pid = (pid_t)json_integer_value(json_object_get(j, "pid"));
	w->since = json_integer_value(json_object_get(j, "since"));
	w->wait = (unsigned)json_integer_value(json_object_get(j, "wait"));
	if (w->id == NULL || w->pipeline == NULL || (w->want = calloc(json_array_size(wants) + 1, sizeof(*w->want))) == NULL)
		return -1;
	json_array_foreach(wants, i, item) {
		w->wants++;
		if (read_want(item, &w->want[i]) == -1)
			return -1;
	}
	return 0;
}

/* A file that is no waiter of this version keeps no place: 1.  One that could not be read may be one: -1. */
static int
load_waiter(int dir, const char *name, struct waiter *w, struct why *why)
{
	autofree char *text = NULL;
	unsigned tries = 20;
	struct stat st;
	size_t len;
	json_t *j;
	int ret;

	*w = (struct waiter){ 0 };
	if (strlen(name) != 64)
		return 1;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return refuse(why, WHY_IO, "%s/queue/%s: %s", GPUHELPER_RUNDIR, name, strerror(errno));
	/* whoever waits renews its place without the lock, in the midst of this, too */
	while ((text = trust_read(dir, name, name, 1 << 20, true, &len, why)) == NULL && why->code == WHY_AGAIN &&
	    tries-- > 0)
		;
	if (text == NULL)
		return why->code == WHY_CONFIG ? 1 : -1;
	if ((j = strictjson_object(text, len, why)) == NULL)
		return why->code == WHY_DATA ? 1 : -1;
	errno = 0;
	ret = read_waiter(j, w) == 0 ? 0 : errno == ENOMEM ? refuse_nomem(why) : 1;
	json_decref(j);
	snprintf(w->key, sizeof(w->key), "%s", name);
	w->renewed = (uint64_t)st.st_mtim.tv_sec * 1000 + (uint64_t)st.st_mtim.tv_nsec / 1000000;
	return ret;
}

/* Who has waited long enough is told so when he asks again, and has no place after that. */
static bool
still_waits(const struct waiter *w)
{
	uint64_t now = since_boot_ns() / 1000000;

	if (now > w->turn / 1000000 + (uint64_t)w->wait * 1000 + SILENCE_MS)
		return false;
	/* its number alone: to look at the process is to wait for as long as it likes, and for so short a time it is enough */
	return w->renewed <= now && now - w->renewed <= SILENCE_MS && process_is_there(w->pid);
}

static int
by_turn(const void *a, const void *b)
{
	const struct waiter *x = a, *y = b;

	return x->turn != y->turn ? (x->turn > y->turn) - (x->turn < y->turn) : strcmp(x->key, y->key);
}

int
queue_open(struct queue *q, struct why *why)
{
	autostrlist struct strlist names = { 0 };
	struct waiter w, *v;
	size_t i;
	int ret;

	*q = (struct queue){ .dir = -1 };
	if ((q->dir = state_dir("queue", why)) == -1 ||
	    state_list(q->dir, GPUHELPER_RUNDIR "/queue", 4 * WAITERS_MAX, &names, why) == -1)
		return -1;
	for (i = 0; i < names.n; i++) {
		if ((ret = load_waiter(q->dir, names.v[i], &w, why)) == 1 || (ret == 0 && !still_waits(&w))) {
			waiter_free(&w);
			(void)unlinkat(q->dir, names.v[i], 0);
			continue;
		}
		if (ret == -1 || (v = reallocarray(q->v, q->n + 1, sizeof(*v))) == NULL) {
			waiter_free(&w);
			return ret == -1 ? -1 : refuse_nomem(why);
		}
		q->v = v;
		q->v[q->n++] = w;
	}
	if (q->n > 1)
		qsort(q->v, q->n, sizeof(*q->v), by_turn);
	return 0;
}

void
queue_close(struct queue *q)
{
	size_t i;

	for (i = 0; i < q->n; i++)
		waiter_free(&q->v[i]);
	free(q->v);
	if (q->dir != -1)
		close(q->dir);
	*q = (struct queue){ .dir = -1 };
}

size_t
queue_place(const struct queue *q, const char *key)
{
	size_t i;

	for (i = 0; i < q->n && strcmp(q->v[i].key, key) != 0; i++)
		;
	return i;
}

unsigned
queue_waited(const struct queue *q, const char *key)
{
	size_t place = queue_place(q, key);
	uint64_t now = since_boot_ns();

	return place == q->n || now < q->v[place].turn ? 0 : (unsigned)((now - q->v[place].turn) / 1000000000);
}

/* A file's modification time is when its waiter asked last, counted from boot. */
static void
touch(int dir, const char *key)
{
	const uint64_t now = since_boot_ns();
	const struct timespec at = { .tv_sec = (time_t)(now / 1000000000), .tv_nsec = (long)(now % 1000000000) };
	const struct timespec times[2] = { at, at };

	(void)utimensat(dir, key, times, AT_SYMLINK_NOFOLLOW);
}

int
queue_stay(struct queue *q, struct waiter *w, struct why *why)
{
	size_t place = queue_place(q, w->key), i, own = 0;
	autofree char *text = NULL;
	json_t *j;

	for (i = 0; i < q->n; i++)
		own += q->v[i].uid == w->uid;
	if (place == q->n && (q->n >= WAITERS_MAX || own >= WAITERS_PER_USER))
		return refuse(why, WHY_AGAIN, "too many containers wait for GPUs already (%zu): try again", q->n);
	w->turn = place < q->n ? q->v[place].turn : since_boot_ns();
	w->since = place < q->n ? q->v[place].since : time(NULL);
	j = waiter_json(w);
	text = json_dumps(j, JSON_COMPACT);
	json_decref(j);
	if (text == NULL)
		return refuse_nomem(why);
	if (state_write(q->dir, w->key, text, 0600, why) == -1)
		return -1;
	touch(q->dir, w->key);
	return 0;
}

void
queue_renew(const char *key)
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
