/* See drained.h. */
#include "drained.h"

#include <stdlib.h>

#include "../base/text.h"

#define VERSION 1

static void
gpu_fields(struct lines *s, void *member)
{
	struct drained_gpu *g = member;

	leased_gpu_fields(s, &g->gpu);
	field_i64(s, &g->since);
	field_bool(s, &g->sick);
	field_text(s, g->why, sizeof(g->why));
	if (!g->gpu.exclusive)
		s->failed = true;
}

bool
drained_lines(struct lines *s, struct drained *d)
{
	uint32_t version = VERSION;

	lines_begin(s, "drained");
	field_u32(s, &version);
	if (version != VERSION)
		s->failed = true;
	lines_members(s, "gpu", (void **)&d->v, &d->n, DRAINED_MAX, sizeof(*d->v), gpu_fields);
	return lines_finish(s);
}

int
drained_decode(const char *text, size_t len, struct drained *d, struct why *why)
{
	struct lines s = { .at = text, .end = text + len };

	*d = (struct drained){ 0 };
	if (drained_lines(&s, d))
		return 0;
	drained_free(d);
	return s.nomem ? refuse_nomem(why) : refuse(why, WHY_CONFIG, "no list of drained GPUs of this version");
}

int
drained_refuse(const struct why *bad, struct why *why)
{
	if (bad->code == WHY_CONFIG)
		return refuse(why, WHY_CONFIG, DRAINED_LIST ": %s: gpuhelperctl undrain --all puts all GPUs back into service",
		    bad->text);
	*why = *bad;
	return -1;
}

void
drained_free(struct drained *d)
{
	free(d->v);
	*d = (struct drained){ 0 };
}
