/* See hostgpus.h. The judge may lie: host_check() refuses wrong reports, and every node that is not a GPU's. */
#include "hostgpus.h"

#include <stdlib.h>
#include <string.h>

#include "../ask/enginequery.h"
#include "../ask/enginequeryread.h"
#include "../ask/hostcheck.h"
#include "../gpu/gpufind.h"
#include "../host/driver/cdigpus.h"
#include "../host/gpu/drivers.h"
#include "../host/own/exchange.h"
#include "../host/own/exchangeread.h"
#include "tojudge.h"

/* What the host has, while it is asked for. */
struct looking {
	struct host *host;
	struct why unread;		/* why the specs can't be read; WHY_NONE: they are */
};

/* Makes files of the list. Those that gpuhelper-read's answer has get an empty text. */
static int
take_list(struct engine_specs *s, struct spec_files *out, struct why *why)
{
	size_t i;

	*out = (struct spec_files){ .v = calloc(s->n + 1, sizeof(*out->v)), .problems = s->problems };
	s->problems = (struct strlist){ .n = 0 };
	if (out->v == NULL)
		return refuse_nomem(why);
	out->n = s->n;
	for (i = 0; i < s->n; i++) {
		out->v[i] = (struct spec_file){ .path = s->v[i].path, .dir = s->v[i].dir, .problems = s->v[i].problems };
		s->v[i] = (struct engine_spec){ .path = NULL, .read = s->v[i].read };
		if (s->v[i].read && (out->v[i].text = strdup("")) == NULL)
			return refuse_nomem(why);
	}
	return 0;
}

static int
read_answer(struct host *h, bool kept, const char *answer, size_t len, struct why *why)
{
	bool malformed = false;
	int ret;

	if (h->specs.files == 0)
		return 0;
	ret = exchange_read_specs(answer, len, &h->specs, &malformed, why);
	h->read = malformed ? ANSWER_MALFORMED : ret == 0 ? ANSWER_FIT : ANSWER_UNREAD;
	return malformed && kept ? refuse(why, WHY_AGAIN, GPUHELPER_RUNDIR "/read/" EXCHANGE_SPECS " was malformed, and is "
	    "removed now: try again") : ret;
}

static int
load_specs(struct host *h, const char *message, size_t size, struct why *why)
{
	autospecfiles struct spec_files files = { 0 };
	struct engine_specs list = { .n = 0 };
	const char *answer;
	struct lines t;
	size_t len;
	int ret = -1;

	if (!unpack_with(message, size, &t, &answer, &len))
		return refuse(why, WHY_BUG, "gpuhelper-engine can't read the list of CDI specs");
	engine_specs_lines(&t, &list);
	if (!lines_finish(&t))
		refuse(why, WHY_BUG, "gpuhelper-engine can't read the list of CDI specs");
	else if (take_list(&list, &files, why) == 0 && cdi_registry_adopt(&h->specs, &files, why) == 0 &&
	    read_answer(h, list.cached, answer, len, why) == 0)
		ret = cdi_registry_finish(&h->specs, true, why);
	engine_specs_free(&list);
	return ret;
}

/* Called while the judge looks. */
static void
take_specs_meanwhile(void *ctx, const char *specs, size_t len, const struct why *unread)
{
	struct looking *l = ctx;

	if (specs == NULL)
		l->unread = *unread;
	else if (load_specs(l->host, specs, len, &l->unread) == 0)
		l->unread = (struct why){ 0 };
}

static int
find_gpus(struct host *h, struct why *why)
{
	struct looking l = { .host = h };
	struct inventory *inv = &h->inventory;

	if (tojudge_host(h->vendors, take_specs_meanwhile, &l, inv, why) == -1)
		return -1;
	if (h->vendors == 0)
		return 0;
	if (drivers_read(inv, why) == -1 || host_check(inv, why) == -1)
		return -1;
	inventory_rank(inv);
	if (l.unread.code != WHY_NONE) {
		*why = l.unread;
		return -1;
	}
	return cdigpus_name(&h->specs, inv, why);
}

void
host_ask_gpus(struct host *h, unsigned vendors)
{
	struct why why;

	if (h->was_asked)
		return;
	h->was_asked = true;
	h->vendors = vendors;
	if (find_gpus(h, &why) == 0)
		return;
	/* without vendors, no GPU is granted, whatever the judge decides */
	h->why = why;
	h->vendors = 0;
	inventory_free(&h->inventory);
}

const struct gpu *
host_gpu_at(const struct inventory *inv, uint32_t place)
{
	size_t i;

	for (i = 0; i < inv->gpus; i++)
		if (inv->gpu[i].place == place)
			return &inv->gpu[i];
	return NULL;
}
