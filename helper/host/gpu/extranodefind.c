/* See extranodefind.h. Opens no device: readlink(2), and the class of the PCI device. */
#include "extranodefind.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/text.h"
#include "../file.h"

/* Gets the last «parts» components of a sysfs link's target; "" if there is no link or it does not fit. */
static void
read_sysname(const char *link, unsigned parts, char *out, size_t size)
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

/*
 * True if the PCI device is a display controller or an accelerator by its class code (PCI Code and ID Assignment
 * Specification, base classes 03h and 12h). Every other device has an address, too: a disk, for one.
 */
static bool
is_gpu_by_class(const char *device)
{
	autofree char *text = NULL;
	autoclose int fd = -1;
	char name[80];

	snprintf(name, sizeof(name), "%s/class", device);
	if ((fd = open(name, O_RDONLY | O_CLOEXEC)) == -1 || (text = file_read_fd(fd, 64, NULL)) == NULL)
		return false;
	return text_starts(text, "0x03") || text_starts(text, "0x12");
}

struct extra_node
extra_node_find(uint32_t major, uint32_t minor)
{
	struct extra_node f = { .major = major, .minor = minor };
	char link[64], parent[32];

	snprintf(link, sizeof(link), "/sys/dev/char/%u:%u", major, minor);
	read_sysname(link, 2, f.sysname, sizeof(f.sysname));
	snprintf(link, sizeof(link), "/sys/dev/char/%u:%u/device", major, minor);
	read_sysname(link, 1, parent, sizeof(parent));
	if (!pci_address_normalise(parent, f.pci) || !is_gpu_by_class(link))
		f.pci[0] = '\0';
	return f;
}
