/*
 * gpuhelperctl drain, undrain: takes GPUs out of service until undrain, also across reboots.  Runs as root.  Atomically
 * replaces the list that gpuhelper-engine gets before it picks GPUs (host/gpu/drainedlist.h).  No container loses a
 * GPU: drain prints the containers that hold the drained one.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/quoted.h"
#include "../../gpu/gpufind.h"
#include "../../host/file.h"
#include "../../host/gpu/udev.h"
#include "../ctl.h"
#include "drainlist.h"
#include "gpustate.h"
#include "status.h"

struct draining {
	struct drain_list at;
	struct inventory inv;
};

static void
draining_free(struct draining *d)
{
	drain_list_close(&d->at);
	inventory_free(&d->inv);
}

/* Finds the GPU that the name means.  -1 with *why: the name fits no GPU, or several. */
static int
find_named_gpu(const struct inventory *inv, const char *name, struct leased_gpu *out, struct why *why)
{
	autobuf struct buf all = { 0 };
	const struct gpu *g;
	char shown[64];
	size_t i, n = 0;

	for (i = 0; i < inv->gpus; i++) {
		g = &inv->gpu[i];
		if (g->pci[0] == '\0' || !gpu_is_named(g, name, true))
			continue;
		*out = gpu_as_leased(inv, g);
		name_leased_gpu(out, shown);
		buf_printf(&all, "%s%s", n++ > 0 ? ", " : "", shown);
	}
	if (n == 0)
		return refuse(why, WHY_ABSENT, "this host has no GPU \"%.80s\": see gpuhelperctl devices", name);
	return n == 1 ? 0 : refuse(why, WHY_USAGE, "\"%.80s\" may be any of %s: name one by its address or UUID", name,
	    all.p != NULL ? all.p : "several");
}

/*
 * The helper's status waits for the lock on the leases, so a container that got the GPU just before the drain is
 * listed.
 */
static void
say_holders(const struct draining *d, const struct leased_gpu *g)
{
	struct why why;
	json_t *status = helper_status(&why);
	const struct gpu_view v = { json_object_get(status, "leases"), NULL, &d->inv, NULL, true };
	size_t i, k;

	if (status == NULL)
		say("    its holders are unknown: %s", why.text);
	for (i = 0; status != NULL && i < d->inv.gpus; i++) {
		const struct leased_gpu h = gpu_as_leased(&d->inv, &d->inv.gpu[i]);
		json_t *holders = leased_gpus_overlap(&h, g) ? gpu_holders(&v, &d->inv.gpu[i]) : json_array(), *l;

		json_array_foreach(holders, k, l)
			say("    held by %s (%s) since %s, until its container ends: gpuhelperctl end %s",
			    quoted(get_text(l, "container")), *get_text(l, "pipeline") != '\0' ?
			    quoted(get_text(l, "pipeline")) : "no pipeline", get_text(l, "since"),
			    quoted(get_text(l, "container")));
		json_decref(holders);
	}
	json_decref(status);
}

/* A sick GPU becomes a drained one: unlike sickness, a drain outlasts the next reboot. */
static int
add_gpu(struct draining *d, const struct leased_gpu *g, const char *reason, struct why *why)
{
	struct drained_gpu *entry = drain_list_find(&d->at, g);

	if (entry == NULL && (entry = drain_list_add(&d->at, g, why)) == NULL)
		return -1;
	entry->sick = false;
	if (reason != NULL)
		snprintf(entry->why, sizeof(entry->why), "%s", reason);
	return drain_list_write(&d->at, why);
}

static bool
is_reason(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	while (*p >= ' ' && *p != 0x7f)
		p++;
	return *p == '\0' && strlen(text) < DRAINED_WHY;
}

int
ctl_drain(const struct options *o)
{
	struct draining d = { .at.dir = -1 };
	struct leased_gpu g;
	struct why why;
	char name[64];
	int ret;

	if (o->reason != NULL && !is_reason(o->reason))
		return misuse(o, "drain: --why must be one line of at most %d bytes", DRAINED_WHY - 1);
	if ((ret = drain_list_open(&d.at, false, &why)) == 0 && (ret = gpus_of_host(GPUS_ALL, &d.inv, &why)) == 0 &&
	    (ret = find_named_gpu(&d.inv, o->arg[0], &g, &why)) == 0 && (ret = add_gpu(&d, &g, o->reason, &why)) == 0) {
		name_leased_gpu(&g, name);
		say("%s: drained: no further container gets it until gpuhelperctl undrain %s%s%s", name, g.pci,
		    g.part[0] != '\0' ? ":" : "", g.part);
		say_holders(&d, &g);
	}
	draining_free(&d);
	return ret == -1 ? give_up(o, &why) : 0;
}

/* True if the name means this entry.  A GPU that is gone from the host can still be named by its address. */
static bool
is_meant(const struct draining *d, const struct leased_gpu *entry, const char *name)
{
	struct leased_gpu h;
	char pci[16];
	size_t i;

	if (pci_address_normalise(name, pci) && strcmp(pci, entry->pci) == 0)
		return true;
	for (i = 0; i < d->inv.gpus; i++) {
		h = gpu_as_leased(&d->inv, &d->inv.gpu[i]);
		if (leased_gpu_same(&h, entry) && gpu_is_named(&d->inv.gpu[i], name, true))
			return true;
	}
	return false;
}

/* Removes the GPU with this name from the list; NULL removes all. */
static int
take_out(struct draining *d, const char *name, struct why *why)
{
	autobuf struct buf said = { 0 };
	size_t i, left = 0;
	char shown[64];

	for (i = 0; i < d->at.list.n; i++)
		if (name != NULL && !is_meant(d, &d->at.list.v[i].gpu, name))
			d->at.list.v[left++] = d->at.list.v[i];
		else {
			name_leased_gpu(&d->at.list.v[i].gpu, shown);
			buf_printf(&said, "%s: in service again\n", shown);
		}
	if (name != NULL && left == d->at.list.n)
		return refuse(why, WHY_ABSENT, "no GPU \"%.80s\" is drained: see gpuhelperctl status", name);
	d->at.list.n = left;
	if (drain_list_write(&d->at, why) == -1)
		return -1;
	fputs(said.p != NULL && !said.failed ? said.p : "", stdout);
	return 0;
}

/* Containers that wait sleep until a lease or the queue changes (user/ask/watch.h): a file that goes wakes them. */
static void
wake_waiters(void)
{
	static const char wake[] = GPUHELPER_RUNDIR "/queue/.wake";
	autoclose int fd = open(wake, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd != -1)
		(void)unlink(wake);
}

int
ctl_undrain(const struct options *o)
{
	struct draining d = { .at.dir = -1 };
	struct why why, ignored;
	int ret;

	if ((o->args == 1) == o->all)
		return misuse(o, "undrain: name a GPU, or give --all");
	/* --all also repairs a broken list, and works without any GPU */
	ret = drain_list_open(&d.at, o->all, &why);
	if (ret == 0 && gpus_of_host(GPUS_ALL, &d.inv, &ignored) == -1 && !o->all)
		(void)complain(ignored.code, "%s", ignored.text);
	if (ret == 0)
		ret = take_out(&d, o->all ? NULL : o->arg[0], &why);
	draining_free(&d);
	if (ret == 0)
		wake_waiters();
	return ret == -1 ? give_up(o, &why) : 0;
}
