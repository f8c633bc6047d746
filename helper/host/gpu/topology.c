/*
 * See topology.h. Sources: /proc/driver/nvidia-nvswitch (open-gpu-kernel-modules, procfs_nvswitch.c) and the link
 * /sys/bus/pci/devices/ADDRESS, which names all bridges above a device:
 * "../../../devices/pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:08.0/0000:03:00.0". Follows no link.
 */
#include "topology.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "gputext.h"

/* The bridges above a device, from the root port on, with a slash behind each. */
struct route {
	char bridges[512];
};

/* No bridges: the device is on the root bus, or its link can't be read. */
static struct route
route_of(int root, const char *pci)
{
	struct route r = { "" };
	char path[64], link[PATH_MAX], *begin = NULL, *p, *end;
	ssize_t n;

	snprintf(path, sizeof(path), "sys/bus/pci/devices/%s", pci);
	if ((n = readlinkat(root, path, link, sizeof(link) - 1)) == -1)
		return r;
	link[n] = '\0';
	/* a volume management device has a root bus of its own beneath it */
	for (p = link; (p = strstr(p, "/pci")) != NULL; p++)
		begin = p;
	end = strrchr(link, '/');
	if (begin != NULL && (begin = strchr(begin + 1, '/')) != NULL && begin < end &&
	    (size_t)(end - begin) < sizeof(r.bridges))
		memcpy(r.bridges, begin + 1, (size_t)(end - begin));
	return r;
}

/* The length of the route's part that both have. */
static size_t
common(const struct route *a, const struct route *b)
{
	size_t i, whole = 0;

	for (i = 0; a->bridges[i] != '\0' && a->bridges[i] == b->bridges[i]; i++)
		if (a->bridges[i] == '/')
			whole = i + 1;
	return whole;
}

/* The length of the route to the nearest bridge that the device shares with another GPU; 0: there is none. */
static size_t
nearest_shared(const struct inventory *inv, const struct route *r, size_t of)
{
	size_t i, len, most = 0;

	for (i = 0; r[of].bridges[0] != '\0' && i < inv->gpus; i++)
		if (strcmp(inv->gpu[i].pci, inv->gpu[of].pci) != 0 && (len = common(&r[i], &r[of])) > most)
			most = len;
	return most;
}

/* Gives each GPU beneath a shared switch the number of the first GPU beneath the same one, counted from 1. */
static void
number_switches(struct inventory *inv, const struct route *r)
{
	size_t i, k;

	for (i = 0; i < inv->gpus; i++) {
		const size_t near = nearest_shared(inv, r, i);
		uint32_t *joined = inv->gpu[i].joined;

		for (k = 0; near > 0 && k <= i; k++) {
			if (joined[GPU_JOIN_OUTER] == 0 && common(&r[i], &r[k]) > 0)
				joined[GPU_JOIN_OUTER] = (uint32_t)k + 1;
			if (joined[GPU_JOIN_SWITCH] == 0 && common(&r[i], &r[k]) >= near && nearest_shared(inv, r, k) == near)
				joined[GPU_JOIN_SWITCH] = (uint32_t)k + 1;
		}
	}
}

/* NVSwitches join all NVIDIA GPUs of the host. */
static void
find_nvswitches(int root, struct inventory *inv)
{
	autostrlist struct strlist names = { 0 };
	struct why ignored;
	size_t i;

	if (gpus_list(root, "proc/driver/nvidia-nvswitch/devices", &names, &ignored) != 0 || names.n == 0)
		return;
	for (i = 0; i < inv->gpus; i++)
		if (inv->gpu[i].vendor == GPU_NVIDIA)
			inv->gpu[i].joined[GPU_JOIN_LINK] = 1;
}

/* Gives each linked GPU the number of the first GPU with the same link, counted from 1. */
static void
number_links(struct inventory *inv)
{
	const struct gpu *g = inv->gpu;
	size_t i, k;

	for (i = inv->gpus; i-- > 0;) {
		for (k = 0; g[k].vendor != g[i].vendor || g[k].joined[GPU_JOIN_LINK] != g[i].joined[GPU_JOIN_LINK]; k++)
			;
		if (g[i].joined[GPU_JOIN_LINK] != 0)
			inv->gpu[i].joined[GPU_JOIN_LINK] = (uint32_t)k + 1;
	}
}

void
topology_find(int root, struct inventory *inv)
{
	autofree struct route *r = calloc(inv->gpus + 1, sizeof(*r));
	size_t i;

	number_links(inv);
	if (r == NULL || inv->gpus < 2)
		return;
	find_nvswitches(root, inv);
	/* a GPU's parts have its address, and follow the GPU */
	for (i = 0; i < inv->gpus; i++)
		r[i] = i > 0 && strcmp(inv->gpu[i].pci, inv->gpu[i - 1].pci) == 0 ? r[i - 1] : route_of(root, inv->gpu[i].pci);
	number_switches(inv, r);
}
