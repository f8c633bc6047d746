/*
 * Fair shares between teams (policy/usage.h) and the order of the queue (root/lease/queue.c): a simulated host with 8 GPUs, 5
 * teams, random loads.
 */
#include "base/cleanup.h"
#include "policy/usage.h"
#include "rnd.h"
#include "root/lease/queue.h"
#include "tap.h"

static uint64_t seed = 42;

#define GPUS 8
#define TEAMS 5
#define JOBS 100000
#define PATIENCE 1000000	/* seconds; the waits here are as long as the load makes them */
#define CROWD 12		/* of each team that wait */

static const char *const teams[TEAMS] = { "ml/train", "web/x", "ops/x", "x/x", "late/x" };
static const unsigned parts[TEAMS] = { 3, 1, 2, 1, 1 };

struct job {
	int team;		/* -1: the GPU is free */
	int64_t from, until;
};

static void
test_text(void)
{
	autousage struct usage u = { .n = 0 }, back = { .n = 0 };
	autobuf struct buf b = { 0 };
	struct lines in;
	char name[32];
	long long used;
	int i, good = 0;

	ok(strlist_add(&u.shares, "ml=3", SIZE_MAX) && usage_add(&u, "ml/train", 2, 1000, 1100) && usage_add(&u, "web/x", 1, 1000, 1050) &&
	    usage_add(&u, "", 1, 1000, 1100), "uses are added");
	ok(usage_lines(&(struct lines){ .out = &b }, &u), "they are written");
	in = (struct lines){ .at = b.p, .end = b.p + b.len };
	ok(usage_lines(&in, &back) && back.n == 3 && back.shares.n == 1 && strcmp(back.v[2].team, "") == 0, "  and read back");
	used = (long long)usage_of(2, 1000, 1100);
	ok(used > 196000 && used < 200000, "two GPUs for 100 s are nearly 200 GPU seconds: %lld", used);
	is_int((long long)usage_share_used(&back, "ml/other", 1100), used / 3, "what a team has used is divided by its share");
	is_int((long long)usage_share_used(&back, "web/x", 1050), (long long)usage_of(1, 1000, 1050), "a team without a share has one part");
	is_int((long long)usage_share_used(&back, "m/x", 1100), 0, "a team whose name is a beginning of another has used nothing");
	is_int((long long)usage_share_used(&back, "ml/x", 1100 + USAGE_HALF), used / 2 / 3, "after half an hour it counts half");
	is_int((long long)usage_share_used(&back, "ml/x", 1100 + 100 * USAGE_HALF), 0, "after days it counts nothing");
	is_int((long long)usage_share_used(&back, "ml/x", 900), used / 3, "a clock that was set back changes nothing");
	is_int((long long)usage_of(1, 1000, 900), 0, "  and makes no use");
	ok(usage_add(&back, "ml/x", 3, 1090, 1100), "what it holds now is added");
	is_int((long long)usage_share_used(&back, "ml/x", 1100), (used + (long long)usage_of(3, 1090, 1100)) / 3, "  and counts, too");
	for (i = 0; i < USAGE_TEAMS_MAX; i++) {
		snprintf(name, sizeof(name), "team%d/x", i);
		good += usage_add(&back, name, 1, 0, 1);
	}
	is_int(good, USAGE_TEAMS_MAX - 3, "so many teams are noted");
	ok(usage_is_share("ml=3") && usage_is_share("a=b=1") && !usage_is_share("ml=0") && !usage_is_share("=3") && !usage_is_share("ml") &&
	    !usage_is_share("ml=1001"), "shares are checked");
}

static int
team_of(const struct queued *w)
{
	int t;

	for (t = 0; strcmp(teams[t], w->pipeline) != 0; t++)
		;
	return t;
}

/* The waiters, whose burdens and order are found as the helper finds them. */
static size_t
next_of(struct queue *q, struct usage *u, const struct job *gpu, int64_t now)
{
	struct team_usage ended[TEAMS];
	uint64_t share_used[TEAMS];
	size_t i, g;
	int t;

	/* what still runs is added for this look only */
	memcpy(ended, u->v, sizeof(ended));
	for (g = 0; g < GPUS; g++)
		if (gpu[g].team >= 0)
			(void)usage_add(u, teams[gpu[g].team], 1, gpu[g].from, now);
	for (t = 0; t < TEAMS; t++)
		share_used[t] = usage_share_used(u, teams[t], now);
	memcpy(u->v, ended, sizeof(ended));
	for (i = 0; i < q->n; i++)
		q->v[i].share_used = share_used[team_of(&q->v[i])];
	queue_sort(q);
	return 0;
}

static void
add(struct queue *q, int team, int64_t now)
{
	static unsigned number;
	struct queued *w = &q->v[q->n++];

	*w = (struct queued){ .pipeline = (char *)(uintptr_t)teams[team], .priority = 5, .urgent_after = PATIENCE, .arrived = (uint64_t)now * 1000000000U + number };
	snprintf(w->key, sizeof(w->key), "%08u", number++);
}

/*
 * All teams always have work. In each hour, after the first, each team gets its part of the GPUs' time; nobody waits
 * for ever.
 */
static void
test_simulation(void)
{
	static struct queued room[TEAMS * CROWD + 1];
	struct queue q = { .dir = -1, .v = room };
	autousage struct usage u = { .n = 0 };
	struct job gpu[GPUS];
	double held[TEAMS] = { 0 }, sum, want, off, worst = 0, relative = 0, all[TEAMS] = { 0 };
	int64_t now = 0, hour = 0, longest = 0;
	unsigned done = 0, hours = 0;
	char share[32];
	size_t g, at;
	int t, i;

	for (t = 0; t < TEAMS; t++) {
		snprintf(share, sizeof(share), "%.*s=%u", (int)usage_team(teams[t]), teams[t], parts[t]);
		ok(strlist_add(&u.shares, share, SIZE_MAX) && usage_add(&u, teams[t], 0, 0, 0), "share %s", share);
		for (i = 0; i < CROWD; i++)
			add(&q, t, 0);
	}
	for (g = 0; g < GPUS; g++)
		gpu[g] = (struct job){ .team = -1 };
	for (; done < JOBS; now++) {
		for (g = 0; g < GPUS; g++) {
			if (gpu[g].team >= 0 && gpu[g].until > now)
				continue;
			if (gpu[g].team >= 0) {
				t = gpu[g].team;
				held[t] += (double)(now - (gpu[g].from > hour ? gpu[g].from : hour));
				usage_add(&u, teams[t], 1, gpu[g].from, now);
				gpu[g].team = -1;
				add(&q, t, now);
				done++;
			}
			at = next_of(&q, &u, gpu, now);
			t = team_of(&q.v[at]);
			if (now - (int64_t)(q.v[at].arrived / 1000000000) > longest)
				longest = now - (int64_t)(q.v[at].arrived / 1000000000);
			q.v[at] = q.v[--q.n];
			/* each team has jobs of another length; one job of the last team is 2 % of its share in an hour */
			gpu[g] = (struct job){ t, now, now + 5 + (int64_t)rnd(20 + 10 * (uint64_t)t) };
		}
		if (now - hour < 3600)
			continue;
		for (sum = 0, t = 0; t < TEAMS; t++) {
			for (g = 0; g < GPUS; g++)
				held[t] += gpu[g].team == t ? (double)(now - (gpu[g].from > hour ? gpu[g].from : hour)) : 0;
			sum += held[t];
		}
		for (t = 0; t < TEAMS; t++) {
			want = sum * parts[t] / 8;
			off = held[t] > want ? held[t] - want : want - held[t];
			if (hours > 0 && off / sum > worst)
				worst = off / sum;
			if (hours > 0 && off / want > relative)
				relative = off / want;
			all[t] += held[t];
			held[t] = 0;
		}
		hours++;
		hour = now;
	}
	ok(worst < 0.01, "%d jobs in %u hours: in each hour, no team has %.2f %% of the GPUs' time more or less than its share", JOBS, hours,
	    worst * 100);
	/* a team of one part in eight has 8 jobs at a time at most, of up to 65 s in its 3600 s */
	ok(relative < 0.08, "  that is at most %.2f %% of its share", relative * 100);
	for (sum = 0, t = 0; t < TEAMS; t++)
		sum += all[t];
	for (t = 0; t < TEAMS; t++) {
		off = all[t] / sum - parts[t] / 8.0;
		ok(off < 0.003 && off > -0.003, "  in all hours together, %s has %.2f %%", teams[t], all[t] / sum * 100);
	}
	/* a team of one part in eight has one GPU's time for 13 jobs of at most 65 s */
	ok(longest < 13 * 65, "the longest wait was %lld s", (long long)longest);
}

static void
test_order(void)
{
	struct queued v[5] = { { .key = "a", .priority = 5, .arrived = 5, .share_used = 9 }, { .key = "b", .priority = 5, .arrived = 6, .share_used = 3 },
		{ .key = "c", .priority = 7, .arrived = 7, .share_used = 99 }, { .key = "d", .priority = 0, .arrived = 8, .urgent = true, .share_used = 50 },
		{ .key = "e", .priority = 5, .arrived = 4, .share_used = 9 } };
	struct queue q = { .dir = -1, .v = v, .n = 5 };
	struct queued me = { .key = "x", .priority = 5, .share_used = 3 };

	queue_sort(&q);
	ok(v[0].key[0] == 'd' && v[1].key[0] == 'c' && v[2].key[0] == 'b' && v[3].key[0] == 'e' && v[4].key[0] == 'a',
	    "first the urgent, then by priority, burden, arrival: %s%s%s%s%s", v[0].key, v[1].key, v[2].key, v[3].key, v[4].key);
	is_int((long long)queue_before(&q, &me), 3, "a new request comes after its equals");
	me.share_used = 0;
	is_int((long long)queue_before(&q, &me), 2, "  and before those whose teams have used more");
	me.priority = 9;
	is_int((long long)queue_before(&q, &me), 1, "  and with the highest priority after the urgent");
	memcpy(me.key, "a", 2);
	is_int((long long)queue_before(&q, &me), 4, "one that is in the queue has its place there");
}

int
main(void)
{
	test_text();
	test_order();
	test_simulation();
	return done_testing();
}
