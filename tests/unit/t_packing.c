/*
 * gpu/pick.c: joined GPUs stay together. Hosts are made here: their GPUs are numbered, and
 * joined as a test says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/pick.h"
#include "gpu/pickgpus.h"
#include "policy/usage.h"
#include "rnd.h"
#include "root/lease/queue.h"
#include "tap.h"

#define GPUS 8

static uint64_t seed = 7;

/* A host of 8 GPUs. «joins» has a digit for each GPU and kind: GPUs with the same digit are joined; 0: not joined. */
struct host {
	struct gpu gpu[3 * GPUS];
	struct inventory inv;
};

static void
make_host(struct host *h, const char *const joins[GPU_JOINS])
{
	size_t i, k;

	memset(h, 0, sizeof(*h));
	h->inv = (struct inventory){ .gpu = h->gpu, .gpus = GPUS };
	for (i = 0; i < GPUS; i++) {
		snprintf(h->gpu[i].pci, sizeof(h->gpu[i].pci), "0000:%02zx:00.0", i);
		for (k = 0; k < GPU_JOINS; k++)
			h->gpu[i].joined[k] = joins[k] != NULL ? (uint32_t)(joins[k][i] - '0') : 0;
	}
}

static struct leased_gpu
unit(unsigned n, const char *part)
{
	struct leased_gpu g = { .vendor = GPU_NVIDIA, .exclusive = true };

	snprintf(g.pci, sizeof(g.pci), "0000:%02x:00.0", n);
	snprintf(g.part, sizeof(g.part), "%s", part);
	return g;
}

/* The GPUs that a container gets which wants «count» of those named in «may», where those in «held» are held. */
static const char *
picks_of(const struct host *h, const char *held, const char *may, unsigned count)
{
	static char out[GPUS + 1];
	struct leased_gpu of[GPUS], candidate[GPUS];
	struct holding holding = { .gpu = of };
	struct gpu_demand w = { .candidate = candidate, .count = count };
	struct pick picks[GPUS];
	size_t n, i;

	for (; *held != '\0'; held++)
		of[holding.gpus++] = unit((unsigned)(*held - '0'), "");
	for (; *may != '\0'; may++)
		candidate[w.candidates++] = unit((unsigned)(*may - '0'), "");
	if (!pick_gpus(&holding, 1, &h->inv, &w, 1, picks, GPUS, &n))
		return "none";
	for (i = 0; i < n; i++)
		out[i] = candidate[picks[i].candidate].pci[6];
	out[n] = '\0';
	return out;
}

static void
test_pairs(void)
{
	static const char *const links[GPU_JOINS] = { "11223344" };
	struct host h;

	make_host(&h, links);
	is_str(picks_of(&h, "", "01234567", 1), "0", "on a free host, one gets the first GPU");
	is_str(picks_of(&h, "4", "01234567", 1), "5", "one gets the rest of a pair, and no whole pair is broken");
	is_str(picks_of(&h, "05", "01234567", 1), "1", "of two broken pairs, the first");
	is_str(picks_of(&h, "0", "01234567", 2), "23", "two get a pair");
	is_str(picks_of(&h, "02", "01234567", 2), "45", "  behind two broken ones, too");
	is_str(picks_of(&h, "0246", "01234567", 2), "13", "two get what there is if no pair is whole");
	is_str(picks_of(&h, "02", "01234567", 3), "451", "three get a pair and the rest of a broken one");
	is_str(picks_of(&h, "0", "01234567", 4), "2345", "four get two pairs");
	is_str(picks_of(&h, "", "0246", 2), "02", "a policy that allows no pair gives what it allows");
	is_str(picks_of(&h, "", "02467", 2), "67", "  and one that allows a single pair gives that");
	is_str(picks_of(&h, "01234567", "01234567", 1), "none", "no GPU is free");
	h.gpu[1].unusable[0] = '!';
	is_str(picks_of(&h, "", "0234567", 1), "0", "a pair with an unusable GPU is no whole pair");
	is_str(picks_of(&h, "", "7654320", 1), "0", "  wherever it is in the order");
}

static void
test_levels(void)
{
	static const char *const switches[GPU_JOINS] = { NULL, "11223344", "11112222" };
	static const char *const all[GPU_JOINS] = { "11111111", "11223344", "11112222" };
	static const char *const across[GPU_JOINS] = { "12341234", "11223344", NULL };
	struct host h;

	make_host(&h, switches);
	is_str(picks_of(&h, "0", "01234567", 2), "23", "two get GPUs of one switch, of the begun half of the host");
	is_str(picks_of(&h, "0", "01234567", 4), "4567", "four get those of one outer switch");
	is_str(picks_of(&h, "04", "01234567", 3), "231", "three get those of one outer switch");
	is_str(picks_of(&h, "0", "01234567", 5), "45671", "five get the most of one outer switch, and the rest together");
	is_str(picks_of(&h, "6", "01234567", 1), "7", "one gets the rest of a switch");
	make_host(&h, all);
	is_str(picks_of(&h, "6", "01234567", 1), "7", "where all GPUs are linked, switches count");
	is_str(picks_of(&h, "0", "01234567", 4), "4567", "  for several, too");
	make_host(&h, across);
	is_str(picks_of(&h, "", "01234567", 2), "04", "a link counts more than a switch");
}

static void
test_parts(void)
{
	struct leased_gpu held[3] = { unit(1, "2"), unit(1, "1"), unit(2, "0") };
	struct leased_gpu candidate[6] = { unit(0, "0"), unit(0, "1"), unit(1, "0"), unit(1, "3"), unit(2, "1"),
		unit(2, "2") };
	struct holding holding = { .gpu = held, .gpus = 3 };
	struct gpu_demand w = { .candidate = candidate, .candidates = 6, .count = 1 };
	static const char *const alone[GPU_JOINS] = { "00000000" };
	struct pick picks[GPUS];
	struct host h;
	size_t n;

	make_host(&h, alone);
	ok(pick_gpus(&holding, 1, &h.inv, &w, 1, picks, GPUS, &n) && picks[0].candidate == 2,
	    "a MIG instance is taken from the GPU that has the most in use");
	holding.gpus = 1;
	w.count = 3;
	ok(pick_gpus(&holding, 1, &h.inv, &w, 1, picks, GPUS, &n) && picks[0].candidate == 2 && picks[1].candidate == 3 &&
	    picks[2].candidate == 0, "several fill a begun GPU before another is begun");
	w.count = 4;
	ok(pick_gpus(&holding, 1, &h.inv, &w, 1, picks, GPUS, &n) && picks[2].candidate == 0 && picks[3].candidate == 1,
	    "  and then fill that one");
}

/*
 * Of all sets of two free GPUs, the one that is picked is joined if any is; and one GPU never breaks up a pair while
 * another has lost its partner. Everything is random.
 */
static void
test_model(void)
{
	static const char *const links[GPU_JOINS] = { "11223344" };
	const unsigned all = rounds(100000);
	unsigned round, bad = 0, pairs = 0, rests = 0, mask, may, i, whole, rest;
	char held[GPUS + 1], allowed[GPUS + 1];
	const char *got;
	struct host h;

	make_host(&h, links);
	for (round = 0; round < all; round++) {
		size_t n = 0, m = 0;

		mask = (unsigned)rnd(256);
		may = (unsigned)rnd(256);
		for (i = 0; i < GPUS; i++) {
			if (mask & 1U << i)
				held[n++] = (char)('0' + i);
			if (may & 1U << i)
				allowed[m++] = (char)('0' + i);
		}
		held[n] = allowed[m] = '\0';
		for (whole = rest = 0, i = 0; i < GPUS; i += 2) {
			whole += (may & ~mask & 3U << i) == 3U << i;
			rest += (mask & 3U << i) != 0 && (may & ~mask & 3U << i) != 0;
		}
		got = picks_of(&h, held, allowed, 2);
		if (whole > 0) {
			pairs++;
			bad += strlen(got) != 2 || (got[0] - '0') / 2 != (got[1] - '0') / 2;
		}
		got = picks_of(&h, held, allowed, 1);
		if (rest > 0) {
			rests++;
			bad += strlen(got) != 1 || (mask & 3U << (got[0] - '0') / 2 * 2) == 0;
		}
	}
	ok(pairs > all / 10 && rests > all / 10, "both happen: %u times a pair is free, %u times the rest of one", pairs, rests);
	is_int(bad, 0, "two get a pair if there is one, and one gets a rest if there is one");
}

#define HOSTS 8
#define TEAMS 5
#define JOBS 100000
#define CROWD 6			/* of each team that wait at each host */

static const char *const teams[TEAMS] = { "ml/x", "web/x", "ops/x", "qa/x", "doc/x" };
static const unsigned parts[TEAMS] = { 3, 1, 2, 1, 1 };

struct job {
	int team;
	unsigned count;
	int64_t from, until;		/* until: 0 if the job does not run */
	struct leased_gpu gpu[4];
};

/* A host, what its GPUs run, and who waits there. Each waiter's job has the number that is its key. */
struct site {
	struct host host;
	struct usage usage;
	struct job job[TEAMS * CROWD + GPUS];
	struct queued room[TEAMS * CROWD + GPUS];
	struct queue queue;
};

/* What a run of the simulation comes to. */
struct figures {
	unsigned done, pairs, joined, fours, two_pairs;
	double held[TEAMS], worst;
	int64_t longest;
};

static void
queue_job(struct site *s, size_t job, int64_t now)
{
	struct queued *w = &s->queue.v[s->queue.n++];
	const uint64_t kind = rnd(10);

	s->job[job].count = kind < 5 ? 1 : kind < 8 ? 2 : 4;
	*w = (struct queued){ .pipeline = (char *)(uintptr_t)teams[s->job[job].team], .priority = 5, .urgent_after = 1000000,
		.arrived = (uint64_t)now * 1000 + rnd(1000) };
	snprintf(w->key, sizeof(w->key), "%zu", job);
}

static struct job *
job_of(struct site *s, const struct queued *w)
{
	return &s->job[strtoul(w->key, NULL, 10)];
}

static void
sort_waiters(struct site *s, int64_t now)
{
	struct team_usage ended[TEAMS];
	const struct job *j;
	size_t i;

	/* what still runs is added for this look only */
	memcpy(ended, s->usage.v, sizeof(ended));
	for (j = s->job; j < s->job + sizeof(s->job) / sizeof(*s->job); j++)
		if (j->until != 0)
			(void)usage_add(&s->usage, teams[j->team], j->count, j->from, now);
	for (i = 0; i < s->queue.n; i++)
		s->queue.v[i].share_used = usage_share_used(&s->usage, s->queue.v[i].pipeline, now);
	memcpy(s->usage.v, ended, sizeof(ended));
	queue_sort(&s->queue);
}

static bool
are_linked(const struct host *h, const struct leased_gpu *a, const struct leased_gpu *b)
{
	return h->gpu[a->pci[6] - '0'].joined[1] == h->gpu[b->pci[6] - '0'].joined[1];
}

static void
note_links(const struct site *s, const struct job *j, struct figures *f)
{
	const struct leased_gpu *g = j->gpu;
	unsigned i, k, links = 0;

	for (i = 0; i < j->count; i++)
		for (k = 0; k < i; k++)
			links += are_linked(&s->host, &g[i], &g[k]);
	f->pairs += j->count == 2;
	f->joined += j->count == 2 && links == 1;
	f->fours += j->count == 4;
	f->two_pairs += j->count == 4 && links == 2;
}

/* Starts the first waiter's job. False if its GPUs are not free: then those behind it wait, too. */
static bool
start_first(struct site *s, const struct inventory *inv, int64_t now, struct figures *f)
{
	struct holding held[GPUS];
	struct leased_gpu candidate[GPUS];
	struct gpu_demand w = { .candidate = candidate, .candidates = GPUS };
	struct queued *first = &s->queue.v[0];
	struct job *j = job_of(s, first);
	struct pick picks[GPUS];
	size_t i, n = 0, picked;

	for (i = 0; i < GPUS; i++)
		candidate[i] = unit((unsigned)i, "");
	for (i = 0; i < sizeof(s->job) / sizeof(*s->job); i++)
		if (s->job[i].until != 0)
			held[n++] = (struct holding){ s->job[i].gpu, s->job[i].count };
	w.count = j->count;
	if (!pick_gpus(held, n, inv, &w, 1, picks, GPUS, &picked))
		return false;
	for (i = 0; i < picked; i++)
		j->gpu[i] = candidate[picks[i].candidate];
	note_links(s, j, f);
	j->from = now;
	j->until = now + 5 + (int64_t)rnd(20 + 10 * (uint64_t)j->team);
	if (now - (int64_t)(first->arrived / 1000) > f->longest)
		f->longest = now - (int64_t)(first->arrived / 1000);
	memmove(first, first + 1, --s->queue.n * sizeof(*first));
	return true;
}

/* Ends the jobs that are over, and begins others. */
static void
step(struct site *s, const struct inventory *inv, int64_t now, struct figures *f)
{
	struct job *j;
	size_t i;

	for (i = 0; i < sizeof(s->job) / sizeof(*s->job); i++) {
		j = &s->job[i];
		if (j->until == 0 || j->until > now)
			continue;
		usage_add(&s->usage, teams[j->team], j->count, j->from, now);
		f->held[j->team] += (double)(now - j->from) * j->count;
		f->done++;
		j->until = 0;
		queue_job(s, i, now);
	}
	do
		sort_waiters(s, now);
	while (start_first(s, inv, now, f));
}

static void
open_site(struct site *s, const char *const joins[GPU_JOINS])
{
	char share[32];
	size_t n = 0;
	int t, i;

	memset(s, 0, sizeof(*s));
	make_host(&s->host, joins);
	s->queue = (struct queue){ .dir = -1, .v = s->room };
	for (t = 0; t < TEAMS; t++) {
		snprintf(share, sizeof(share), "%.*s=%u", (int)usage_team(teams[t]), teams[t], parts[t]);
		(void)strlist_add(&s->usage.shares, share, SIZE_MAX);
		(void)usage_add(&s->usage, teams[t], 0, 0, 0);
		for (i = 0; i < CROWD; i++, n++) {
			s->job[n].team = t;
			queue_job(s, n, 0);
		}
	}
}

/* Eight hosts of four pairs each, where all teams always have work. «told»: the helper knows which GPUs are joined. */
static struct figures
simulate(bool told, unsigned jobs)
{
	static const char *const pairs[GPU_JOINS] = { "11223344", "11223344" };
	static struct site site[HOSTS];
	struct figures f = { 0 };
	double before[TEAMS] = { 0 }, sum, off;
	int64_t now;
	size_t h, i;
	int t;

	seed = 11;
	for (h = 0; h < HOSTS; h++) {
		open_site(&site[h], pairs);
		for (i = 0; i < GPUS; i++)
			site[h].host.gpu[i].joined[0] = told ? site[h].host.gpu[i].joined[1] : 0;
	}
	for (now = 0; f.done < jobs; now++) {
		for (h = 0; h < HOSTS; h++) {
			struct inventory inv = site[h].host.inv;
			struct gpu bare[GPUS];

			memcpy(bare, site[h].host.gpu, sizeof(bare));
			for (i = 0; i < GPUS; i++)
				bare[i].joined[1] = 0;
			inv.gpu = bare;
			step(&site[h], &inv, now, &f);
		}
		if (now % 3600 != 0 || now == 0)
			continue;
		for (sum = 0, t = 0; t < TEAMS; t++)
			sum += f.held[t] - before[t];
		for (t = 0; t < TEAMS; t++) {
			off = (f.held[t] - before[t]) / sum - parts[t] / 8.0;
			if (now > 3600 && (off > 0 ? off : -off) > f.worst)
				f.worst = off > 0 ? off : -off;
			before[t] = f.held[t];
		}
	}
	for (h = 0; h < HOSTS; h++)
		usage_free(&site[h].usage);
	return f;
}

static double
percent(unsigned some, unsigned all)
{
	return 100.0 * some / all;
}

static void
test_simulation(void)
{
	const struct figures told = simulate(true, JOBS), blind = simulate(false, JOBS / 4);

	ok(told.pairs > 10000 && percent(told.joined, told.pairs) > percent(blind.joined, blind.pairs) + 20,
	    "%u jobs on %d hosts of 4 pairs: %.1f %% of those for two GPUs get a pair; by address alone %.1f %%", told.done, HOSTS,
	    percent(told.joined, told.pairs), percent(blind.joined, blind.pairs));
	ok(percent(told.two_pairs, told.fours) > percent(blind.two_pairs, blind.fours) + 20,
	    "  of those for four, %.1f %% get two pairs; by address alone %.1f %%", percent(told.two_pairs, told.fours),
	    percent(blind.two_pairs, blind.fours));
	ok(told.worst < 0.05, "  in each hour, no team has %.2f %% of the GPUs' time more or less than its share", told.worst * 100);
	ok(told.longest < 1800, "  the longest wait was %lld s (by address alone %lld s)", (long long)told.longest,
	    (long long)blind.longest);
}

int
main(void)
{
	test_pairs();
	test_levels();
	test_parts();
	test_model();
	test_simulation();
	return done_testing();
}
