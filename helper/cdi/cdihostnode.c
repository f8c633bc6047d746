/* See cdi.h: the device nodes that a spec must not grant. The helper calls only cdihostpath.c. */
#include <string.h>

#include "../base/text.h"
#include "cdi.h"

/*
 * As cdi_host_device(), but by the node's name, for a spec that leaves the numbers to the host. Works for a
 * directory of such nodes, too.
 */
const char *
cdi_host_node(const char *path)
{
	static const char *const names[] = { "mem", "kmem", "port", "kmsg", "oldmem", "console", "nvram", "snapshot", "uinput",
		"tpm0", "tpmrm0", NULL };
	static const char *const prefixes[] = { "sd", "sg", "nvme", "vd", "xvd", "mmcblk", "dm-", "mapper/", "loop", "md",
		"nbd", "raw/", "disk/", "cpu/", "mtd", "vcs", "block/", "bsg/", "input/", "pmem", "dax", "zd", "zram", "rbd",
		"drbd", "bcache", "dasd", "ublk", "cciss/", NULL };
	size_t i, n;

	if (!text_starts(path, "/dev/"))
		return NULL;
	path += 5;
	if (text_among(path, names))
		return "the host's memory, log or console";
	for (i = 0; prefixes[i] != NULL; i++) {
		n = strlen(prefixes[i]);
		if (text_starts(path, prefixes[i]) || (prefixes[i][n - 1] == '/' && strlen(path) == n - 1 &&
		    strncmp(path, prefixes[i], n - 1) == 0))
			return "a disk, a console or the processor's registers";
	}
	return NULL;
}

/* The last «rw» or «ro» counts, as for runtimes. */
bool
cdi_mount_writable(const struct cdi_mount *m)
{
	bool writable = false;
	size_t i;

	for (i = 0; i < m->options.n; i++)
		if (strcmp(m->options.v[i], "rw") == 0 || strcmp(m->options.v[i], "ro") == 0)
			writable = m->options.v[i][1] == 'w';
	return writable;
}
