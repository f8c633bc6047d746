/*
 * gpuhelperctl drain, undrain: takes GPUs out of service, beyond a reboot, and puts them back.  As root; writes the
 * list that the helper reads before it picks GPUs (host/drainedlist.h), whole and at once.  No container loses
 * anything: who holds a drained GPU is named.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../host/drainedlist.h"
#include "../host/file.h"
#include "../host/gpus.h"
#include "../host/trust.h"
#include "../pure/cleanup.h"
#include "ctl.h"
#include "gpustate.h"

/* What is changed, while nobody else changes it: its directory is locked until it is closed. */
struct draining {
	int dir;
	struct drained list;
	struct inventory inv;
};

static void
draining_free(struct draining *d)
{
	if (d->dir != -1)
		close(d->dir);
	drained_free(&d->list);
	inventory_free(&d->inv);
}

static int
lock_state(int *dir, struct why *why)
{
	if (geteuid() != 0)
		return refuse(why, WHY_DENIED, "only root takes GPUs out of service: run it as root");
	if (mkdir(GPUHELPER_STATEDIR, 0700) == -1 && errno != EEXIST)
		return refuse(why, WHY_IO, GPUHELPER_STATEDIR ": %s", strerror(errno));
	if ((*dir = trust_open_dir(GPUHELPER_STATEDIR, true, why)) == -1)
		return -1;
	return flock(*dir, LOCK_EX) == 0 ? 0 : refuse(why, WHY_IO, GPUHELPER_STATEDIR ": %s", strerror(errno));
}

static int
write_list(const struct draining *d, struct why *why)
{
	autofree char *text = drained_encode(&d->list);

	return text == NULL ? refuse_nomem(why) :
	    ctl_write_file(d->dir, DRAINED_NAME, DRAINED_LIST, text, strlen(text), NULL, why);
}

static void
name_gpu(const struct held_gpu *g, char out[64])
{
	snprintf(out, 64, "%s %s%s%s", gpu_vendor_name(g->vendor), g->pci, g->part[0] != '\0' ? " part " : "", g->part);
}

/* The one GPU that is meant.  -1 with *why: none, or several. */
static int
find_gpu(const struct inventory *inv, const char *name, struct held_gpu *out, struct why *why)
{
	autobuf struct buf all = { 0 };
	const struct gpu *g;
	char shown[64];
	size_t i, n = 0;

	for (i = 0; i < inv->gpus; i++) {
		g = &inv->gpu[i];
		if (g->pci[0] == '\0' || !gpu_is_named(g, name, true))
			continue;
		*out = gpu_as_held(inv, g);
		name_gpu(out, shown);
		buf_printf(&all, "%s%s", n++ > 0 ? ", " : "", shown);
	}
	if (n == 0)
		return refuse(why, WHY_ABSENT, "no GPU of this host is called \"%.80s\": gpuhelperctl devices names them", name);
	return n == 1 ? 0 : refuse(why, WHY_USAGE, "\"%.80s\" may be any of %s: name one by its address or UUID", name,
	    all.p != NULL ? all.p : "several");
}

/* By the lock of the leases: a container that was given the GPU before it was drained is among them. */
static void
say_holders(const struct draining *d, const struct held_gpu *g)
{
	struct why why;
	json_t *status = helper_status(&why);
	const struct gpu_view v = { json_object_get(status, "leases"), NULL, &d->inv, NULL };
	size_t i, k;

	if (status == NULL)
		say("    who holds it can't be seen: %s", why.text);
	for (i = 0; status != NULL && i < d->inv.gpus; i++) {
		const struct held_gpu h = gpu_as_held(&d->inv, &d->inv.gpu[i]);
		json_t *holders = held_overlaps(&h, g) ? gpu_holders(&v, &d->inv.gpu[i]) : json_array(), *l;

		json_array_foreach(holders, k, l)
			say("    held by %s (%s) since %s, until its container ends: gpuhelperctl end %s", get_text(l, "container"),
			    *get_text(l, "pipeline") != '\0' ? get_text(l, "pipeline") : "no pipeline", get_text(l, "since"),
			    get_text(l, "container"));
		json_decref(holders);
	}
	json_decref(status);
}

static int
add_gpu(struct draining *d, const struct held_gpu *g, const char *reason, struct why *why)
{
	struct drained_gpu *v;
	size_t i;

	for (i = 0; i < d->list.n && !held_same(&d->list.v[i].gpu, g); i++)
		;
	if (i == DRAINED_MAX)
		return refuse(why, WHY_USAGE, "%d GPUs are drained already, and that is the most", DRAINED_MAX);
	if (i == d->list.n) {
		if ((v = reallocarray(d->list.v, d->list.n + 1, sizeof(*v))) == NULL)
			return refuse_nomem(why);
		d->list.v = v;
		d->list.v[d->list.n++] = (struct drained_gpu){ .gpu = *g, .since = time(NULL) };
	}
	if (reason != NULL)
		snprintf(d->list.v[i].why, sizeof(d->list.v[i].why), "%s", reason);
	return 0;
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
	struct draining d = { .dir = -1 };
	struct held_gpu g;
	struct why why;
	char name[64];
	int ret;

	if (o->reason != NULL && !is_reason(o->reason))
		return misuse(o, "drain: --why must be one line of at most %d bytes", DRAINED_WHY - 1);
	if ((ret = lock_state(&d.dir, &why)) == 0 && (ret = drained_list(&d.list, &why)) == 0 &&
	    (ret = gpus_of_host(GPUS_ALL, &d.inv, &why)) == 0 && (ret = find_gpu(&d.inv, o->arg[0], &g, &why)) == 0 &&
	    (ret = add_gpu(&d, &g, o->reason, &why)) == 0 && (ret = write_list(&d, &why)) == 0) {
		name_gpu(&g, name);
		say("%s: drained: no further container gets it until gpuhelperctl undrain %s%s%s", name, g.pci,
		    g.part[0] != '\0' ? ":" : "", g.part);
		say_holders(&d, &g);
	}
	draining_free(&d);
	return ret == -1 ? give_up(o, &why) : 0;
}

/* Is the entry the GPU that is meant?  One that is not here any more has its address still. */
static bool
is_meant(const struct draining *d, const struct held_gpu *entry, const char *name)
{
	struct held_gpu h;
	char pci[16];
	size_t i;

	if (pci_address_normalise(name, pci) && strcmp(pci, entry->pci) == 0)
		return true;
	for (i = 0; i < d->inv.gpus; i++) {
		h = gpu_as_held(&d->inv, &d->inv.gpu[i]);
		if (held_same(&h, entry) && gpu_is_named(&d->inv.gpu[i], name, true))
			return true;
	}
	return false;
}

/* NULL: all. */
static int
take_out(struct draining *d, const char *name, struct why *why)
{
	autobuf struct buf said = { 0 };
	size_t i, left = 0;
	char shown[64];

	for (i = 0; i < d->list.n; i++)
		if (name != NULL && !is_meant(d, &d->list.v[i].gpu, name))
			d->list.v[left++] = d->list.v[i];
		else {
			name_gpu(&d->list.v[i].gpu, shown);
			buf_printf(&said, "%s: in service again\n", shown);
		}
	if (name != NULL && left == d->list.n)
		return refuse(why, WHY_ABSENT, "no drained GPU is called \"%.80s\": gpuhelperctl status names them", name);
	d->list.n = left;
	if (write_list(d, why) == -1)
		return -1;
	fputs(said.p != NULL && !said.failed ? said.p : "", stdout);
	return 0;
}

int
ctl_undrain(const struct options *o)
{
	struct draining d = { .dir = -1 };
	struct why why, ignored;
	int ret;

	if ((o->args == 1) == o->all)
		return misuse(o, "undrain: name a GPU, or say --all");
	/* --all mends a list that can't be read, and needs no GPU to be there */
	if ((ret = lock_state(&d.dir, &why)) == 0 && drained_list(&d.list, &why) == -1 && !o->all)
		ret = -1;
	if (ret == 0 && gpus_of_host(GPUS_ALL, &d.inv, &ignored) == -1 && !o->all)
		(void)complain(ignored.code, "%s", ignored.text);
	if (ret == 0)
		ret = take_out(&d, o->all ? NULL : o->arg[0], &why);
	draining_free(&d);
	return ret == -1 ? give_up(o, &why) : 0;
}
