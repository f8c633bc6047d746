/* lease/lookupset.c: gives the same answer for many paths at once as lookup.c, or lies_in() here, for each pair. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/path.h"
#include "lease/lookupset.h"
#include "rnd.h"
#include "tap.h"

#define LOOKUPS 12

/* Few names, so that many paths overlap: «/», «/a», «/a/b», «/ab/a», ... */
static void
draw_path(char out[64])
{
	static const char *const names[] = { "a", "b", "ab", "a b" };
	uint64_t depth = rnd(5);

	out[0] = '\0';
	while (depth-- > 0) {
		strcat(out, "/");
		strcat(out, names[rnd(4)]);
	}
	if (out[0] == '\0')
		strcpy(out, "/");
}

static void
draw_lookup(struct lookup *w)
{
	static const char *const fs[] = { "8:1", "8:11", "0:5" };
	char path[64], fs_path[80];
	uint64_t n = rnd(4);

	draw_path(path);
	*w = (struct lookup){ .path = strdup(path), .writable = rnd(2) == 0 };
	while (n-- > 0) {
		draw_path(path);
		snprintf(fs_path, sizeof(fs_path), "%s %s", fs[rnd(3)], path);
		(void)strlist_add(&w->at, fs_path, SIZE_MAX);
	}
}

/* Some of the lookup paths are neighbours in one directory, for which the set has a shortcut. */
static void
draw_lookups(struct lookup *v, size_t n)
{
	size_t i, k;

	for (i = 0; i < n; i++) {
		draw_lookup(&v[i]);
		if (i == 0 || rnd(2) == 0 || strcmp(v[i - 1].path, "/") == 0)
			continue;
		lookup_free(&v[i]);
		v[i] = (struct lookup){ .path = strdup(v[i - 1].path), .writable = rnd(2) == 0 };
		v[i].path[strlen(v[i].path) - 1] = "abc"[rnd(3)];
		for (k = 0; k < v[i - 1].at.n; k++)
			(void)strlist_add(&v[i].at, v[i - 1].at.v[k], SIZE_MAX);
	}
}

static bool
within(const char *fs_path, const char *dir)
{
	const size_t fs = strcspn(fs_path, " ");

	return fs == strcspn(dir, " ") && strncmp(fs_path, dir, fs) == 0 && path_is_beneath(fs_path + fs + 1, dir + fs + 1);
}

/* True if the folder's file system path is in the other folder. */
static bool
lies_in(const struct lookup *w, const struct lookup *other)
{
	return w->at.n > 0 && other->at.n > 0 && within(w->at.v[0], other->at.v[0]);
}

static bool
is_nested(const char *own, const char *other)
{
	struct lookup w = { .path = (char *)(uintptr_t)"/x", .writable = true }, o = { .path = (char *)(uintptr_t)"/y" };
	struct lookupset s;
	bool nested;

	if ((own != NULL && !strlist_add(&w.at, own, SIZE_MAX)) || (other != NULL && !strlist_add(&o.at, other, SIZE_MAX)) ||
	    !lookupset_make(&s, &w, 1))
		abort();
	nested = lookupset_nested(&s, &o) == &w;
	lookupset_free(&s);
	strlist_free(&w.at);
	strlist_free(&o.at);
	return nested;
}

static void
test_nested(void)
{
	static const struct {
		const char *one, *other;
		bool nested;
	} t[] = {
		{ "8:1 /srv/a/b", "8:1 /srv/a", true }, { "8:1 /srv/a", "8:1 /", true }, { "8:1 /srv/a", "8:1 /srv/a", false },
		{ "8:1 /srv/ab", "8:1 /srv/a", false }, { "8:2 /srv/a/b", "8:1 /srv/a", false }, { "8:1 /srv/a", NULL, false },
	};
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		ok(is_nested(t[i].one, t[i].other) == t[i].nested && is_nested(t[i].other, t[i].one) == t[i].nested,
		    "whether one of %s and %s lies in the other", t[i].one, t[i].other != NULL ? t[i].other : "nothing");
}

static void
test_same_answers(void)
{
	unsigned long rounds = 40000, r, wrong = 0, some[3] = { 0 };
	struct lookup own[LOOKUPS], other[LOOKUPS];
	size_t i, k;

	for (r = 0; r < rounds; r++) {
		const size_t n = rnd(LOOKUPS + 1), m = rnd(LOOKUPS + 1);
		const struct lookup *w, *passing = NULL;
		bool passed = false;
		struct lookupset s;

		draw_lookups(own, n);
		draw_lookups(other, m);
		if (!lookupset_make(&s, own, n))
			abort();
		for (i = 0; i < m; i++) {
			bool through = false, nested = false;

			for (k = 0; k < n; k++) {
				through = through || lookup_passes(&own[k], &other[i]);
				passed = passed || (own[k].writable && lookup_passes(&other[i], &own[k]));
				nested = nested || (own[k].writable && (lies_in(&own[k], &other[i]) ||
				    lies_in(&other[i], &own[k])));
			}
			w = lookupset_through(&s, &other[i]);
			wrong += (w != NULL) != through || (w != NULL && !lookup_passes(w, &other[i]));
			some[0] += through;
			w = lookupset_nested(&s, &other[i]);
			wrong += (w != NULL) != nested || (w != NULL && (!w->writable || !(lies_in(w, &other[i]) ||
			    lies_in(&other[i], w))));
			some[1] += nested;
		}
		w = lookupset_crossed(&s, other, m, &passing);
		wrong += (w != NULL) != passed || (w != NULL && (!w->writable || !lookup_passes(passing, w)));
		some[2] += passed;
		lookupset_free(&s);
		for (i = 0; i < n; i++)
			lookup_free(&own[i]);
		for (i = 0; i < m; i++)
			lookup_free(&other[i]);
	}
	is_int((long)wrong, 0,
	    "the answers for %lu pairs of leases are the same as lookup.c's", rounds);
	ok(some[0] > rounds && some[1] > rounds / 10 && some[2] > rounds / 4,
	    "many answers of each kind come up: %lu, %lu, %lu", some[0], some[1],
	    some[2]);
}

/* A container with a thousand folders of one tree, beside five hundred leases with as many. */
static void
test_time(void)
{
	static struct lookup own[1000], other[1000];
	const struct lookup *passing;
	struct timespec begin, end;
	struct lookupset s;
	char text[120];
	long ms;
	size_t i, r;
	int met = 0;

	for (i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text), "/srv/tree/of/mine/%zu/data", i);
		own[i] = (struct lookup){ .path = strdup(text), .writable = true };
		snprintf(text, sizeof(text), "8:1 /tree/of/mine/%zu/data", i);
		(void)strlist_add(&own[i].at, text, SIZE_MAX);
		(void)strlist_add(&own[i].at, "8:1 /tree", SIZE_MAX);
		(void)strlist_add(&own[i].at, "8:2 /", SIZE_MAX);
		snprintf(text, sizeof(text), "/srv/tree/of/others/%zu/data", i);
		other[i] = (struct lookup){ .path = strdup(text), .writable = true };
		snprintf(text, sizeof(text), "8:1 /tree/of/others/%zu/data", i);
		(void)strlist_add(&other[i].at, text, SIZE_MAX);
		(void)strlist_add(&other[i].at, "8:1 /other", SIZE_MAX);
		(void)strlist_add(&other[i].at, "8:2 /", SIZE_MAX);
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	ok(lookupset_make(&s, own, 1000), "a set of a thousand ways is made");
	for (r = 0; r < 500; r++) {
		for (i = 0; i < 1000; i++)
			met += lookupset_through(&s, &other[i]) != NULL || lookupset_nested(&s, &other[i]) != NULL;
		met += lookupset_crossed(&s, other, 1000, &passing) != NULL;
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	ms = (end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1000000;
	is_int(met, 0, "the set meets none of five hundred times a thousand other ways");
#if defined(__SANITIZE_ADDRESS__)
	printf("# %ld ms\n", ms);
	skip("how long these answers take", "a sanitizer takes longer");
#else
	if (emulated())
		skip("how long these answers take", "an emulator takes longer");
	else
		ok(ms < 5000,
		    "these answers take %ld ms (10 ms for each lease would be too long under the "
		    "lock)", ms);
#endif
	lookupset_free(&s);
	for (i = 0; i < 1000; i++) {
		lookup_free(&own[i]);
		lookup_free(&other[i]);
	}
}

int
main(void)
{
	test_nested();
	test_same_answers();
	test_time();
	return done_testing();
}
