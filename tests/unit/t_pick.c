/*
 * gpu/pick.c: which GPUs a request gets, compared with a model that counts the holders one by one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/pick.h"
#include "gpu/pickgpus.h"
#include "tap.h"

#define GPUS 5
#define HOLDERS 12

/* a host without GPUs, so that none are joined */
static const struct inventory none;

static unsigned seed = 20261120;

static unsigned
draw(unsigned below)
{
	seed = seed * 1103515245U + 12345U;
	return (seed >> 16) % below;
}

static struct leased_gpu
gpu(unsigned n, bool exclusive, unsigned limit)
{
	struct leased_gpu g = { .vendor = GPU_NVIDIA, .exclusive = exclusive, .limit = limit };

	snprintf(g.pci, sizeof(g.pci), "0000:%02x:00.0", n & 0xff);
	return g;
}

/* The rule in another form: an exclusive holder is alone, and no limit of a holder is exceeded. */
static bool
state_is_sound(const struct holding *held, size_t n)
{
	size_t i, k, g;

	for (g = 0; g < GPUS; g++) {
		struct leased_gpu which = gpu((unsigned)g, false, 0);
		unsigned count = 0, least = 0;
		bool alone = false;

		for (i = 0; i < n; i++)
			for (k = 0; k < held[i].gpus; k++)
				if (leased_gpu_same(&held[i].gpu[k], &which)) {
					count++;
					alone = alone || held[i].gpu[k].exclusive;
					if (held[i].gpu[k].limit != 0 && (least == 0 || held[i].gpu[k].limit < least))
						least = held[i].gpu[k].limit;
				}
		if ((alone && count > 1) || (least != 0 && count > least))
			return false;
	}
	return true;
}

static size_t
with_room(const struct holding *held, size_t n, const struct gpu_demand *w)
{
	size_t i, room = 0;

	for (i = 0; i < w->candidates; i++)
		room += pick_has_room(held, n, &w->candidate[i]);
	return room;
}

/* Containers come and go at random. Each wants some GPUs. */
static void
test_crowd(void)
{
	static struct leased_gpu kept[HOLDERS][GPUS];
	struct holding held[HOLDERS] = { { 0 } };
	unsigned round, bad_state = 0, bad_grant = 0, bad_refusal = 0, granted = 0, refused = 0;

	for (round = 0; round < 20000; round++) {
		unsigned who = draw(HOLDERS), limit = draw(3) == 0 ? 1 + draw(3) : 0, i;
		bool exclusive = limit == 0 && draw(2) == 0;
		struct leased_gpu candidate[GPUS];
		struct gpu_demand w = { .candidate = candidate, .count = 1 + draw(3) };
		struct pick picks[GPUS];
		size_t n, k;

		held[who] = (struct holding){ 0 };
		for (i = 0; i < GPUS; i++)
			if (draw(3) != 0)
				candidate[w.candidates++] = gpu(i, exclusive, limit);
		if (pick_gpus(held, HOLDERS, &none, &w, 1, picks, GPUS, &n)) {
			granted++;
			bad_grant += n != w.count;
			for (k = 0; k < n; k++)
				kept[who][k] = candidate[picks[k].candidate];
			held[who] = (struct holding){ .gpu = kept[who], .gpus = n };
			for (k = 1; k < n; k++)
				bad_grant += leased_gpu_same(&kept[who][k], &kept[who][k - 1]);
		} else {
			refused++;
			bad_refusal += with_room(held, HOLDERS, &w) >= w.count || n != with_room(held, HOLDERS, &w);
		}
		bad_state += !state_is_sound(held, HOLDERS);
	}
	ok(granted > 1000 && refused > 1000,
	    "both outcomes come up: %u grants, %u refusals", granted, refused);
	is_int(bad_state, 0, "no GPU ever has one holder too many");
	is_int(bad_grant, 0, "a grant has the requested number of GPUs, none of them twice");
	is_int(bad_refusal, 0,
	    "a request is refused only for lack of room, and the refusal says how many GPUs are "
	    "available");
}

static void
test_order(void)
{
	struct leased_gpu all[3] = { gpu(0, false, 0), gpu(1, false, 0), gpu(2, false, 0) };
	struct leased_gpu busy[] = { gpu(0, false, 0), gpu(1, false, 0), gpu(1, false, 0) };
	struct holding held[] = { { busy, 2 }, { busy + 2, 1 } };
	struct leased_gpu only[1] = { gpu(2, false, 0) };
	struct gpu_demand w = { all, 3, 1 }, both[2] = { { all, 3, 2 }, { only, 1, 1 } };
	struct pick picks[4];
	size_t n;

	ok(pick_gpus(NULL, 0, &none, &w, 1, picks, 4, &n) && n == 1 && picks[0].candidate == 0,
	    "if all GPUs are free, the first one is picked");
	ok(pick_gpus(held, 2, &none, &w, 1, picks, 4, &n) && picks[0].candidate == 2,
	    "the GPU with the fewest holders is picked");
	w.count = 3;
	ok(pick_gpus(held, 2, &none, &w, 1, picks, 4, &n) && picks[0].candidate == 2 && picks[1].candidate == 0 &&
	    picks[2].candidate == 1, "GPUs are picked by their number of holders, then by address");
	ok(pick_gpus(held, 2, &none, both, 2, picks, 4, &n) && n == 3 && picks[0].demand == 1 &&
	    picks[0].candidate == 0, "a want without a choice is served first");
	both[1].count = 2;
	ok(!pick_gpus(NULL, 0, &none, both, 2, picks, 4, &n) && n == 3,
	    "a want for more GPUs than exist is refused, with the number available");
	w.count = 3;
	ok(!pick_gpus(NULL, 0, &none, &w, 1, picks, 2, &n) && n == 2,
	    "no more GPUs are picked than the result has room for");
	ok(pick_gpus(NULL, 0, &none, NULL, 0, picks, 4, &n) && n == 0, "no want gets no GPU");
}

static void
test_rules(void)
{
	struct leased_gpu alone = gpu(0, true, 0), three = gpu(0, false, 3), two = gpu(0, false, 2), any = gpu(0, false, 0);
	struct holding by_alone = { &alone, 1 }, by_three[3] = { { &three, 1 }, { &three, 1 }, { &three, 1 } };
	struct leased_gpu other = any;

	ok(!pick_has_room(&by_alone, 1, &any) && !pick_has_room(&by_alone, 1, &alone),
	    "a GPU that is held exclusively has no room");
	ok(!pick_has_room(by_three, 1, &alone),
	    "a GPU with a holder has no room for an exclusive one");
	ok(pick_has_room(by_three, 2, &any) && !pick_has_room(by_three, 3, &any),
	    "the holders' limit applies to a new holder");
	ok(pick_has_room(by_three, 1, &two) && !pick_has_room(by_three, 2, &two),
	    "the new holder's own limit applies");
	other.vendor = GPU_AMD;
	ok(pick_has_room(&by_alone, 1, &other),
	    "a GPU of another vendor at the same address is another GPU");
}

/*
 * The parts of a GPU as sets of disjoint pieces, so that the model does not depend on the parts'
 * names.
 */
static const struct {
	const char *part;
	unsigned pieces;
} parts[] = {
	{ "", 0x3ff }, { "0", 0x003 }, { "0:0", 0x001 }, { "3", 0x01c }, { "3:0", 0x004 }, { "3:1", 0x008 },
	{ "3:10", 0x010 }, { "30", 0x0e0 }, { "30:0", 0x020 }, { "4", 0x100 },
};

#define PARTS (sizeof(parts) / sizeof(*parts))
/* two GPUs, and one of another vendor at the address of one of them */
#define UNITS (3 * (unsigned)PARTS)

static struct leased_gpu
unit(unsigned n, bool exclusive, unsigned limit)
{
	struct leased_gpu g = gpu(n / PARTS % 2, exclusive, limit);

	g.vendor = n / PARTS == 2 ? GPU_AMD : GPU_NVIDIA;
	strcpy(g.part, parts[n % PARTS].part);
	return g;
}

static struct leased_gpu
part(const char *name, bool exclusive, unsigned limit)
{
	struct leased_gpu g = gpu(0, exclusive, limit);

	strcpy(g.part, name);
	return g;
}

static unsigned
pieces(const struct leased_gpu *g)
{
	size_t i;

	for (i = 0; strcmp(parts[i].part, g->part) != 0; i++)
		;
	return parts[i].pieces;
}

static bool
apart(const struct leased_gpu *a, const struct leased_gpu *b)
{
	return a->vendor != b->vendor || strcmp(a->pci, b->pci) != 0 || (pieces(a) & pieces(b)) == 0;
}

/* The rule again: all holders of a piece hold the same part, share it, and no limit is exceeded. */
static bool
may_hold(const struct holding *held, size_t n, const struct leased_gpu *as)
{
	unsigned together = 1, least = as->limit;
	const struct leased_gpu *h;
	size_t i, k;

	for (i = 0; i < n; i++)
		for (k = 0; k < held[i].gpus; k++) {
			h = &held[i].gpu[k];
			if (apart(h, as))
				continue;
			if (pieces(h) != pieces(as) || h->exclusive || as->exclusive)
				return false;
			together++;
			if (h->limit != 0 && (least == 0 || h->limit < least))
				least = h->limit;
		}
	return least == 0 || together <= least;
}

static struct leased_gpu
draw_unit(void)
{
	unsigned limit = draw(2) == 0 ? 1 + draw(3) : 0;

	return unit(draw(UNITS), limit == 0 && draw(3) == 0, limit);
}

static void
test_part_overlap(void)
{
	unsigned i, k, bad = 0;

	for (i = 0; i < UNITS; i++)
		for (k = 0; k < UNITS; k++) {
			struct leased_gpu a = unit(i, draw(2) == 0, draw(3)), b = unit(k, draw(2) == 0, draw(3));

			if (leased_gpu_same(&a, &b) != (i == k) || leased_gpus_overlap(&a, &b) == apart(&a, &b)) {
				bad++;
				printf("# \"%s\" and \"%s\": %u, %u\n", a.part, b.part, i, k);
			}
		}
	is_int(bad, 0,
	    "two parts overlap if they have a piece in common, and each part equals only itself");
}

static void
test_part_rules(void)
{
	static const struct {
		const char *one, *other;
		bool room;
	} pair[] = {
		{ "", "3", false }, { "", "3:0", false }, { "3", "3:0", false }, { "3:1", "3:10", true },
		{ "3", "30", true }, { "3", "4", true }, { "3:0", "30", true }, { "3:0", "3:1", true },
		{ "3:0", "30:0", true }, { "3:0", "0", true },
	};
	struct leased_gpu a, b;
	struct holding held = { &a, 1 };
	unsigned how, i;
	bool sound;

	for (i = 0; i < sizeof(pair) / sizeof(*pair); i++)
		for (how = 0; how < 4; how++) {
			a = part(pair[i].one, (how & 1) != 0, 0);
			b = part(pair[i].other, (how & 2) != 0, 0);
			sound = pick_has_room(&held, 1, &b) == pair[i].room;
			a = part(pair[i].other, (how & 1) != 0, (how & 1) != 0 ? 0 : 8);
			b = part(pair[i].one, (how & 2) != 0, (how & 2) != 0 ? 0 : 8);
			ok(sound && pick_has_room(&held, 1, &b) == pair[i].room,
			    "\"%s\" %s, \"%s\" %s: %s, in either order",
			    pair[i].one, how & 1 ? "exclusive" : "shared",
			    pair[i].other,
			    how & 2 ? "exclusive" :
			    "shared", pair[i].room ? "both are available" : "no room");
		}
}

static void
test_part_limit(void)
{
	struct leased_gpu two[2] = { part("3", false, 2), part("3", false, 0) }, three = part("3", false, 3);
	struct leased_gpu other = part("4", false, 1), alone = part("3", true, 0), whole = part("", false, 0);
	struct holding held[] = { { two, 1 }, { two + 1, 1 }, { &other, 1 } };

	ok(pick_has_room(held, 1, &three) && !pick_has_room(held, 2, &three),
	    "a part's limit counts the part's holders");
	ok(pick_has_room(held, 2, &other) && !pick_has_room(held, 3, &other),
	    "a part's limit does not count another part's holders");
	ok(!pick_has_room(held, 1, &alone), "a shared part has no room for an exclusive holder");
	ok(!pick_has_room(held + 2, 1, &whole),
	    "a held part excludes the whole GPU, whatever the limits");
}

/* GPUs that the container has just picked count as held. */
static void
test_part_own(void)
{
	struct leased_gpu whole[2] = { part("", false, 0), gpu(1, false, 0) };
	struct leased_gpu some[4] = { part("3", false, 0), part("3:0", false, 0), part("4", false, 0),
		part("30", false, 0) };
	struct gpu_demand both[2] = { { whole, 1, 1 }, { some, 1, 1 } }, w = { some, 4, 3 };
	struct pick picks[4];
	size_t n;

	ok(!pick_gpus(NULL, 0, &none, both, 2, picks, 4, &n) && n == 1 && picks[0].demand == 0,
	    "a container does not get the whole GPU and a part of it");
	both[0] = (struct gpu_demand){ some, 1, 1 };
	both[1] = (struct gpu_demand){ whole, 1, 1 };
	ok(!pick_gpus(NULL, 0, &none, both, 2, picks, 4, &n) && n == 1 && picks[0].demand == 0,
	    "a container does not get a part and then the whole GPU");
	both[1].candidates = 2;
	ok(pick_gpus(NULL, 0, &none, both, 2, picks, 4, &n) && n == 2 && picks[1].candidate == 1,
	    "a container gets a part and another GPU");
	ok(pick_gpus(NULL, 0, &none, &w, 1, picks, 4, &n) && n == 3 && picks[0].candidate == 0 && picks[1].candidate == 2 &&
	    picks[2].candidate == 3, "a container gets parts that do not overlap");
	w.count = 4;
	ok(!pick_gpus(NULL, 0, &none, &w, 1, picks, 4, &n) && n == 3,
	    "a container does not get more parts than do not overlap");
}

static void
test_part_order(void)
{
	struct leased_gpu all[5] = { part("0", false, 0), part("3", false, 0), part("4", false, 0), gpu(1, false, 0),
		gpu(1, false, 0) };
	struct leased_gpu busy[6];
	struct holding held[2] = { { busy, 4 }, { busy + 4, 2 } };
	struct gpu_demand w = { all, 5, 4 };
	struct pick picks[5];
	size_t n;

	strcpy(all[3].part, "0");
	strcpy(all[4].part, "1");
	busy[0] = busy[1] = busy[4] = all[0];
	busy[2] = busy[5] = all[3];
	busy[3] = all[4];
	ok(pick_gpus(held, 2, &none, &w, 1, picks, 5, &n) && n == 4 && picks[0].candidate == 1 && picks[1].candidate == 2 &&
	    picks[2].candidate == 4 && picks[3].candidate == 3,
	    "the part with the fewest holders is picked, whatever its GPU's other parts have");
}

/* Random holdings, even impossible ones. */
static void
test_part_model(void)
{
	struct leased_gpu v[6], as;
	struct holding held[3];
	unsigned round, bad = 0, room = 0, i, n;

	for (round = 0; round < 100000; round++) {
		n = draw(7);
		for (i = 0; i < n; i++)
			v[i] = draw_unit();
		i = draw(n + 1);
		held[0] = (struct holding){ v, i };
		held[1] = (struct holding){ v + i, 0 };
		held[2] = (struct holding){ v + i, n - i };
		as = draw_unit();
		room += may_hold(held, 3, &as);
		bad += pick_has_room(held, 3, &as) != may_hold(held, 3, &as);
	}
	ok(room > 10000 && room < 90000, "both answers come up: room in %u of %u", room, round);
	is_int(bad, 0, "a part has room exactly if the rule says so");
}

/*
 * Counts errors: all picks must be possible together; if they are too few, no other one may be
 * possible.
 */
static unsigned
badly_picked(const struct holding *held, const struct gpu_demand *w, const struct pick *picks, size_t n, bool all)
{
	struct leased_gpu own[GPUS];
	struct holding with[HOLDERS + 1];
	unsigned bad = all != (n == w->count);
	size_t i, k;

	memcpy(with, held, HOLDERS * sizeof(*held));
	for (i = 0; i < n; i++) {
		own[i] = w->candidate[picks[i].candidate];
		with[HOLDERS] = (struct holding){ own, i };
		bad += !may_hold(with, HOLDERS + 1, &own[i]);
		for (k = 0; k < i; k++)
			bad += !apart(&own[k], &own[i]);
	}
	for (i = 0; !all && i < w->candidates; i++) {
		for (k = 0; k < n && apart(&own[k], &w->candidate[i]); k++)
			;
		bad += k == n && may_hold(held, HOLDERS, &w->candidate[i]);
	}
	return bad;
}

/* Containers come and go as in test_crowd(). Each wants parts. */
static void
test_part_crowd(void)
{
	static struct leased_gpu kept[HOLDERS][GPUS];
	struct holding held[HOLDERS] = { { 0 } };
	unsigned round, bad = 0, granted = 0, refused = 0;

	for (round = 0; round < 50000; round++) {
		unsigned who = draw(HOLDERS), limit = draw(3) == 0 ? 1 + draw(3) : 0, i;
		bool exclusive = limit == 0 && draw(2) == 0, all;
		struct leased_gpu candidate[UNITS];
		struct gpu_demand w = { .candidate = candidate, .count = 1 + draw(3) };
		struct pick picks[GPUS];
		size_t n, k;

		held[who] = (struct holding){ 0 };
		for (i = 0; i < UNITS; i++)
			if (draw(6) == 0)
				candidate[w.candidates++] = unit(i, exclusive, limit);
		all = pick_gpus(held, HOLDERS, &none, &w, 1, picks, GPUS, &n);
		bad += badly_picked(held, &w, picks, n, all);
		granted += all;
		refused += !all;
		for (k = 0; all && k < n; k++)
			kept[who][k] = candidate[picks[k].candidate];
		if (all)
			held[who] = (struct holding){ .gpu = kept[who], .gpus = n };
	}
	ok(granted > 5000 && refused > 5000,
	    "both outcomes come up: %u grants, %u refusals", granted, refused);
	is_int(bad, 0, "parts are granted by the rule, and refused only if the rule says so");
}

static char *
written(struct leased_gpu *g)
{
	struct buf b = { 0 };
	struct lines s = { .out = &b };

	lines_begin(&s, "gpu");
	leased_gpu_fields(&s, g);
	return buf_take(&b);
}

static bool
is_read(const char *text, struct leased_gpu *g)
{
	struct lines s = { .at = text, .end = text + strlen(text) };

	*g = (struct leased_gpu){ 0 };
	lines_begin(&s, "gpu");
	leased_gpu_fields(&s, g);
	return !s.failed && s.at == s.end;
}

static void
test_written_down(void)
{
	static const char *const part[] = { "", "0", "3", "7", "30", "4294967295", "3:0", "0:0", "10:11",
		"123456789012345" };
	static const char *const bad[] = { "gpu", "gpu nvidia nonsense - yes 0", "gpu nvidia - - yes 0", "gpu nvidia 0000:07:00.0 - yes",
		"gpu nvidia 07:00.0 - yes 0", "gpu nvidia 0000:3B:00.0 - yes 0", "gpu voodoo 0000:07:00.0 - yes 0",
		"gpu nvidia 0000:07:00.0 - true 0", "gpu nvidia 0000:07:00.0 - yes -1", "gpu nvidia 0000:07:00.0 - yes 0 0" };
	struct leased_gpu g, back;
	char *text;
	size_t i;

	for (i = 0; i < sizeof(part) / sizeof(*part); i++) {
		g = gpu(7, i % 2 == 0, i % 2 == 0 ? 0 : 3);
		strcpy(g.part, part[i]);
		text = written(&g);
		ok(is_read(text, &back) && leased_gpu_same(&g, &back) && strcmp(back.part, part[i]) == 0 &&
		    back.exclusive == g.exclusive && back.limit == g.limit,
		    "the part \"%s\" is read back as it was written", part[i]);
		free(text);
	}
	for (i = 0; i < GPU_VENDORS; i++) {
		g.vendor = (enum gpu_vendor)i;
		text = written(&g);
		ok(strncmp(text + 4, gpu_vendor_name(g.vendor), strlen(gpu_vendor_name(g.vendor))) == 0 && is_read(text, &back) &&
		    back.vendor == g.vendor,
		    "the vendor %s is read back as it was written", gpu_vendor_name(g.vendor));
		free(text);
	}
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ok(!is_read(bad[i], &back), "«%s» is refused", bad[i]);
}

static void
test_written_badly(void)
{
	static const char *const bad[] = { ":", "3:", ":0", "3::0", "3:0:0", "3:0:", "03", "00", "3:00", "3:01", "-1",
		"+1", " 3", "3 ", "3\n", "3: 0", "a", "3a", "0x3", "3,0", "3.0", "\xd9\xa3" };
	struct leased_gpu g = gpu(7, true, 0), back;
	char *text;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		snprintf(g.part, sizeof(g.part), "%s", bad[i]);
		text = written(&g);
		ok(!is_read(text, &back), "the part \"%s\" is refused", bad[i]);
		free(text);
	}
	ok(!is_read("gpu nvidia 0000:07:00.0 1234567890123456 yes 0", &back),
	    "a part whose name is too long is refused");
	ok(!is_read("gpu nvidia 0000:07:00.0 123456789012:345 yes 0", &back),
	    "a part of a part whose name is too long is refused");
}

static void
test_wants_any(void)
{
	struct leased_gpu one = { .vendor = GPU_NVIDIA, .pci = "0000:01:00.0" }, part = one, other = one;
	struct leased_gpu candidates[2] = { { .vendor = GPU_NVIDIA, .pci = "0000:02:00.0" } };
	struct gpu_demand wants[2] = { { candidates, 1, 1 }, { candidates + 1, 1, 1 } };
	struct leased_gpu held[2];

	snprintf(part.part, sizeof(part.part), "3");
	snprintf(other.pci, sizeof(other.pci), "0000:03:00.0");
	candidates[1] = one;
	held[0] = other;
	held[1] = part;
	ok(gpu_demands_any(wants, 2, &one, 1), "a candidate of the second want is wanted");
	ok(gpu_demands_any(wants, 2, held, 2),
	    "a part of a candidate is wanted, although another GPU comes first");
	ok(!gpu_demands_any(wants, 2, &other, 1), "another GPU is not wanted");
	ok(!gpu_demands_any(wants, 1, held, 2),
	    "a candidate of the second want alone is not wanted by the first");
	ok(!gpu_demands_any(wants, 2, NULL, 0) && !gpu_demands_any(NULL, 0, &one, 1),
	    "no GPU is not wanted, and no want wants a GPU");
	candidates[1] = part;
	ok(gpu_demands_any(wants, 2, &one, 1), "a GPU is wanted if a part of it is a candidate");
}

int
main(void)
{
	test_rules();
	test_order();
	test_crowd();
	test_part_overlap();
	test_part_rules();
	test_part_limit();
	test_part_own();
	test_part_order();
	test_part_model();
	test_part_crowd();
	test_written_down();
	test_written_badly();
	test_wants_any();
	return done_testing();
}
