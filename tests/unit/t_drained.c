/* gpu/drained.c: the list of drained GPUs is read back as it was written, or not at all. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "gpu/drained.h"
#include "tap.h"

static struct drained_gpu two[] = {
	{ .gpu = { .vendor = GPU_NVIDIA, .pci = "0000:3b:00.0", .exclusive = true }, .since = 1790000000, .why = "fan, to be replaced" },
	{ .gpu = { .vendor = GPU_AMD, .pci = "0000:05:00.0", .part = "1", .exclusive = true }, .since = 0, .sick = true },
};

static void
test_round_trip(void)
{
	const struct drained d = { two, 2 };
	autofree char *text = drained_encode(&d);
	autodrained struct drained back = { 0 };
	struct leased_gpu g = two[0].gpu;
	struct why why;

	ok(text != NULL && drained_decode(text, strlen(text), &back, &why) == 0 && back.n == 2, "two GPUs are read back");
	ok(back.n == 2 && leased_gpu_same(&back.v[0].gpu, &g) && back.v[0].since == 1790000000 &&
	    strcmp(back.v[0].why, two[0].why) == 0 && strcmp(back.v[1].why, "") == 0 &&
	    !back.v[0].sick && back.v[1].sick,
	    "the two GPUs are the same as before");
	g.exclusive = false;
	ok(drained_find(&back, &g) == &back.v[0], "a drained GPU is found");
	snprintf(g.part, sizeof(g.part), "3:0");
	ok(drained_find(&back, &g) == &back.v[0], "a part of a drained GPU is found");
	snprintf(g.pci, sizeof(g.pci), "0000:3c:00.0");
	ok(drained_find(&back, &g) == NULL, "a GPU that is not drained is not found");
}

static void
test_bad(void)
{
	static const char *const bad[] = {
		"", "drained 2\nend\n", "drained 1\n", "drained 1\nend\nend\n", "drained 1\ngpu nvidia 0000:3b:00.0 - yes 0 5 no\nend\n",
		"drained 1\ngpu nvidia 3b:00.0 - yes 0 5 no -\nend\n", "drained 1\ngpu nvidia 0000:3b:00.0 - no 0 5 no -\nend\n",
		"drained 1\ngpu nvidia 0000:3b:00.0 - yes 0 -5 no -\nend\n", "drained 1\ngpu nvidia 0000:3b:00.0 x yes 0 5 no -\nend\n",
	};
	static const char good[] = "drained 1\ngpu nvidia 0000:3b:00.0 - yes 0 5 no -\nend\n";
	struct drained d;
	struct why why;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(drained_decode(bad[i], strlen(bad[i]), &d, &why) == -1 && why.code == WHY_CONFIG && d.n == 0 && d.v == NULL,
		    "a malformed list is refused: %zu", i);
	ok(drained_decode(good, strlen(good), &d, &why) == 0 && d.n == 1,
	    "a well-formed list is accepted");
	drained_free(&d);
}

/* A truncated list is refused. */
static void
test_cut(void)
{
	const struct drained d = { two, 2 };
	autofree char *text = drained_encode(&d);
	const size_t len = text != NULL ? strlen(text) : 0;
	struct drained back;
	struct why why;
	size_t i, taken = 0;

	for (i = 0; i < len; i++) {
		taken += drained_decode(text, i, &back, &why) == 0;
		drained_free(&back);
	}
	ok(len > 0 && taken == 0, "no truncated list is accepted");
}

int
main(void)
{
	test_round_trip();
	test_bad();
	test_cut();
	return done_testing();
}
