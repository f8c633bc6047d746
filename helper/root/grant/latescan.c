/* See latescan.h. A helper grants once, so there is one look at most. */
#include "latescan.h"

#include <string.h>

#include "../self/slots.h"
#include "gpuopeners.h"

static struct {
	char key[LEASE_KEY_SIZE];	/* the lease's; "": there is nothing to look for */
	struct nodes_to_scan to_scan;
	bool alone;			/* looked, and nobody has them open */
	struct why why;			/* why not */
} late_scan;

bool
late_scan_may(const struct plan *p)
{
	const struct call *c = p->authz->call;

	return p->authz->decision.grant.gpus > 0 && !p->lease.gpus_by_task && c->peer->client.rootful &&
	    !c->request->spec.privileged && !c->request->spec.is_run && !c->request->retry.scan_first &&
	    slot_may_stay(c->peer->client.uid);
}

int
late_scan_keep(const struct plan *p, struct why *why)
{
	memcpy(late_scan.key, p->lease.key, sizeof(late_scan.key));
	return nodes_to_scan_of_picks(&p->lease, p->picks, &p->extra_nodes, &late_scan.to_scan, why);
}

bool
late_scan_now(void)
{
	autogpuopeners struct gpu_openers found = { 0 };
	char text[OPENER_TEXT];

	if (late_scan.key[0] == '\0')
		return false;
	late_scan.alone = gpu_openers_of_nodes(&late_scan.to_scan, &found, &late_scan.why) == 0 && found.n == 0;
	if (found.n > 0) {
		gpu_opener_tell(&found.v[0], text);
		refuse(&late_scan.why, WHY_AGAIN, "GPU %s", text);
	}
	return true;
}

int
late_scan_check(const struct lease *l, struct why *why)
{
	const bool ours = strcmp(l->key, late_scan.key) == 0;

	if (!l->unscanned || (ours && late_scan.alone))
		return 0;
	if (!ours || late_scan.why.code == WHY_NONE)
		return refuse(why, WHY_AGAIN, "container %s: its helper ended before it had looked who has the GPU open", l->id);
	*why = late_scan.why;
	return -1;
}
