/* See beside.h. A helper grants once, so there is one look at most. */
#include "beside.h"

#include <string.h>

#include "../self/slots.h"
#include "unleased.h"
#include "waitrefusal.h"

static struct {
	char key[LEASE_KEY_SIZE];	/* the lease's; "": there is nothing to look for */
	struct sought sought;
	bool alone;			/* looked, and nobody has them open */
	struct why why;			/* why not */
} beside;

bool
beside_may(const struct plan *p)
{
	const struct call *c = p->authz->call;

	return p->authz->decision.grant.gpus > 0 && !p->lease.placeholder && c->peer->client.rootful &&
	    !c->request->spec.privileged && !c->request->spec.at_once && !c->request->again.find_unleased &&
	    slot_may_stay(c->peer->client.uid);
}

int
beside_keep(const struct plan *p, struct why *why)
{
	memcpy(beside.key, p->lease.key, sizeof(beside.key));
	return sought_of_picks(&p->lease, p->picks, &p->extra, &beside.sought, why);
}

bool
beside_look(void)
{
	autounleased struct unleased found = { 0 };
	char text[UNLEASED_TEXT];

	if (beside.key[0] == '\0')
		return false;
	beside.alone = unleased_of_sought(&beside.sought, &found, &beside.why) == 0 && found.n == 0;
	if (found.n > 0) {
		wait_tell_unleased(&found.v[0], text);
		refuse(&beside.why, WHY_AGAIN, "GPU %s", text);
	}
	return true;
}

int
beside_check(const struct lease *l, struct why *why)
{
	const bool ours = strcmp(l->key, beside.key) == 0;

	if (!l->unlooked || (ours && beside.alone))
		return 0;
	if (!ours || beside.why.code == WHY_NONE)
		return refuse(why, WHY_AGAIN, "container %s: its helper ended before it had looked who has the GPU open", l->id);
	*why = beside.why;
	return -1;
}
