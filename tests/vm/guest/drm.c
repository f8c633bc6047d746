/* Prints what host/gpu/udev.c finds by libudev, a line each: the machine's own DRM devices of any vendor. */
#include <stdio.h>

#include "host/gpu/udev.h"

int
main(void)
{
	autonodes struct drm_nodes nodes = { 0 };
	struct why why;
	size_t i;

	if (udev_drm.list(true, true, &nodes, &why) == -1) {
		printf("%s\n", why.text);
		return 1;
	}
	for (i = 0; i < nodes.n; i++)
		printf("%s %u:%u pci %s vendor %04x driver %s\n", nodes.v[i].path, nodes.v[i].major, nodes.v[i].minor, nodes.v[i].pci,
		    nodes.v[i].vendor, nodes.v[i].driver);
	return 0;
}
