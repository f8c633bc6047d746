/* See furtherlook.h. Opens nothing: readlink(2). */
#include "furtherlook.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Gets the last «parts» components of a sysfs link's target; "" if there is no link or it does not fit. */
static void
read_place(const char *link, unsigned parts, char *out, size_t size)
{
	char target[PATH_MAX], *p;
	ssize_t len = readlink(link, target, sizeof(target) - 1);

	out[0] = '\0';
	if (len <= 0)
		return;
	target[len] = '\0';
	for (p = target + len; p > target && parts > 0; p--)
		parts -= p[-1] == '/';
	/* without a slash before them, these are not the last components of a longer path */
	if (parts == 0 && strlen(p + 1) < size)
		memcpy(out, p + 1, strlen(p + 1) + 1);
}

struct further_node
further_look(uint32_t major, uint32_t minor)
{
	struct further_node f = { .major = major, .minor = minor };
	char link[64], parent[32];

	snprintf(link, sizeof(link), "/sys/dev/char/%u:%u", major, minor);
	read_place(link, 2, f.place, sizeof(f.place));
	snprintf(link, sizeof(link), "/sys/dev/char/%u:%u/device", major, minor);
	read_place(link, 1, parent, sizeof(parent));
	if (!pci_address_normalise(parent, f.pci))
		f.pci[0] = '\0';
	return f;
}
