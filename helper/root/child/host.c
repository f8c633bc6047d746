/* See host.h. The judge may lie: host_check() refuses wrong reports, and every node that is not a GPU's. */
#include "host.h"

#include "../../ask/hostcheck.h"
#include "../../host/gpu/drivers.h"
#include "engine.h"
#include "judge.h"

static struct host host;

static int
find_gpus(unsigned vendors, struct inventory *inv, struct why *why)
{
	struct why unread;
	/* gpuhelper-engine reads the specs while the judge looks */
	const int told = vendors != 0 ? engine_send_specs(&unread) : 0;

	if (judge_ask_host(vendors, inv, why) == -1)
		return -1;
	if (vendors == 0)
		return 0;
	if (drivers_read(inv, why) == -1 || host_check(inv, why) == -1)
		return -1;
	inventory_rank(inv);
	if (told == -1) {
		*why = unread;
		return -1;
	}
	return engine_ask_names(inv, why);
}

void
host_ask_gpus(unsigned vendors)
{
	struct why why;

	if (host.was_asked)
		return;
	host.was_asked = true;
	host.vendors = vendors;
	if (find_gpus(vendors, &host.inventory, &why) == 0)
		return;
	/* without vendors, no GPU is granted, whatever the judge decides */
	host.why = why;
	host.vendors = 0;
	inventory_free(&host.inventory);
}

const struct host *
host_found(void)
{
	return &host;
}
