/*
 * See lograte.h. Each user has a file in /run/gpuhelper/rate, which is locked while a record of that user is counted
 * and written. A caller can stop its helpers at any moment (by its cgroup). Without a lock, all helpers that are
 * stopped between reading and writing would count as one. Only helpers of the same user wait for the lock. A record
 * that can't be counted must never be written.
 */
#include "lograte.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "../../base/text.h"
#include "../../base/times.h"
#include "../../host/file.h"
#include "../self/state.h"

#define DAY 86400
#define MIB (1U << 20)
#define USERS_MAX 65536
#define QUERIES_A_MINUTE 600	/* a worker of 200 containers looks once for each one that ends */

/* A refusal or an exec takes some 500 bytes, a grant 1 to 3 thousand: no worker comes near these limits. */
static const struct {
	const char *name;
	uint32_t per_minute;
	unsigned mib_a_day;
	bool ends;		/* other records follow: RATE_ENDS_OF() */
} limits[RATE_KINDS] = {
	[RATE_REFUSAL] = { "refusals", 600, 16, false },
	[RATE_PLAIN] = { "plain containers", 600, 64, false },
	[RATE_GRANT] = { "grants", 3000, 256, true },
	[RATE_EXEC] = { "execs", 3000, 64, false },
};

/* A new file, or one of another version, counts from zero. -1 with errno: it can't be read. */
static int
read_count(int fd, struct rate_count *c)
{
	const ssize_t n = pread(fd, c, sizeof(*c), 0);

	if (n != (ssize_t)sizeof(*c))
		*c = (struct rate_count){ 0 };
	return n == -1 ? -1 : 0;
}

/* -1 with errno. */
static int
write_count(int fd, const struct rate_count *c)
{
	const ssize_t n = pwrite(fd, c, sizeof(*c), 0);

	if (n >= 0 && n != (ssize_t)sizeof(*c))
		errno = ENOSPC;
	return n == (ssize_t)sizeof(*c) ? 0 : -1;
}

static int
refuse_uncounted(uint32_t uid, enum why_code code, const char *cause, struct why *why)
{
	return refuse(why, code, GPUHELPER_RUNDIR "/rate/%u: what uid %u asks for can't be counted: %.160s", uid, uid, cause);
}

static int
save(struct rate *r, struct why *why)
{
	return write_count(r->fd, &r->count) == 0 ? 0 : refuse_uncounted(r->uid, WHY_IO, strerror(errno), why);
}

/* Opens and locks the file, and reads the count. -1 with *why. */
static int
open_locked(struct rate *r, struct why *why)
{
	struct why cause = { 0 };
	autoclose int dir = state_dir("rate", &cause);
	char name[16];

	snprintf(name, sizeof(name), "%u", r->uid);
	if (dir != -1 && (r->fd = state_lock(dir, name, LOCK_WAIT_MS, &cause)) != -1) {
		if (read_count(r->fd, &r->count) == 0)
			return 0;
		refuse(&cause, WHY_IO, "%s", strerror(errno));
		rate_close(r);
	}
	if (cause.code != WHY_AGAIN)
		return refuse_uncounted(r->uid, cause.code, cause.text, why);
	*why = cause;
	return -1;
}

int
rate_open(uint32_t uid, int64_t now, struct rate *r, struct why *why)
{
	struct rate_count *c = &r->count;

	*r = (struct rate){ .fd = -1, .uid = uid };
	if (uid == 0)
		return 0;
	if (open_locked(r, why) == -1)
		return -1;
	if (c->day != now / DAY)
		*c = (struct rate_count){ .day = now / DAY, .left_out = c->left_out };
	if (c->minute != now / 60) {
		c->minute = now / 60;
		memset(c->written, 0, sizeof(c->written));
		c->queries = 0;
	}
	r->untold = c->left_out;
	return 0;
}

static int
refuse_for_today(struct rate *r, enum rate_kind kind, struct why *why)
{
	char until[32];

	r->used_up = (r->count.told & 1U << kind) == 0;
	r->count.told |= 1U << kind;
	text_time((r->count.day + 1) * DAY, until);
	return refuse(why, WHY_AGAIN, "uid %u has had %u MiB of %s recorded today, the most allowed: no more until %s",
	    r->uid, limits[kind].mib_a_day, limits[kind].name, until);
}

int
rate_charge(struct rate *r, enum rate_kind kind, size_t bytes, struct why *why)
{
	struct rate_count *c = &r->count;
	struct why uncounted;
	int ret = 0;

	if (r->fd == -1)
		return 0;
	if (c->bytes[kind] >= (uint64_t)limits[kind].mib_a_day * MIB)
		ret = refuse_for_today(r, kind, why);
	else if (c->written[kind] >= limits[kind].per_minute)
		ret = refuse(why, WHY_AGAIN, "more than %u records of %s by uid %u in a minute: try again later",
		    limits[kind].per_minute, limits[kind].name, r->uid);
	if (ret == 0) {
		c->written[kind]++;
		c->bytes[kind] += bytes + (limits[kind].ends ? RATE_ENDS_OF(bytes) : 0);
		c->left_out = 0;
	} else {
		r->refused = true;
		if (c->left_out < UINT32_MAX)
			c->left_out++;
	}
	if (save(r, &uncounted) == -1 && ret == 0) {
		*why = uncounted;
		ret = -1;
	}
	return ret;
}

void
rate_close(struct rate *r)
{
	if (r->fd != -1)
		close(r->fd);
	r->fd = -1;
}

int
rate_query(uint32_t uid, int64_t now, bool uncounted, struct why *why)
{
	struct rate r;
	int ret = 0;

	if (rate_open(uid, now, &r, why) == -1)
		return uncounted && why->code != WHY_AGAIN ? 0 : -1;
	if (r.fd != -1 && r.count.queries >= QUERIES_A_MINUTE)
		ret = refuse(why, WHY_AGAIN, "uid %u has looked at its leases more than %d times in a minute: try again later", uid,
		    QUERIES_A_MINUTE);
	else if (r.fd != -1) {
		r.count.queries++;
		ret = save(&r, why) == -1 && !uncounted ? -1 : 0;
	}
	rate_close(&r);
	return ret;
}

static void
tell_one(int dir, const char *name, int64_t today, void (*tell)(void *ctx, uint32_t uid, uint32_t left_out), void *ctx)
{
	autoclose int fd = file_open_beneath(dir, name, O_RDWR);
	struct rate_count c;
	uint64_t uid;

	/* a helper of this user has it: its record mentions them, or the next call does */
	if (fd == -1 || !text_u64(name, UINT32_MAX, &uid) || flock(fd, LOCK_EX | LOCK_NB) == -1)
		return;
	if (read_count(fd, &c) == -1 || c.left_out == 0 || c.day >= today)
		return;
	tell(ctx, (uint32_t)uid, c.left_out);
	c.left_out = 0;
	/* mentioned twice is better than never */
	(void)write_count(fd, &c);
}

void
rate_tell_left_out(int64_t now, void (*tell)(void *ctx, uint32_t uid, uint32_t left_out), void *ctx)
{
	autostrlist struct strlist names = { 0 };
	struct why ignored;
	autoclose int dir = state_dir("rate", &ignored);
	size_t i;

	if (dir == -1 || state_list(dir, "rate", USERS_MAX, &names, &ignored) == -1)
		return;
	for (i = 0; i < names.n; i++)
		tell_one(dir, names.v[i], now / DAY, tell, ctx);
}
