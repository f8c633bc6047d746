/*
 * See devchar.h. Works in /dev/char alone, and only if that and all directories above it are root's. Must follow no
 * link there, and remove or replace nothing.
 */
#include "devchar.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../base/text.h"
#include "../../host/file.h"
#include "../../host/trust.h"

/* Makes the link as udev does. */
static void
link_one(int dir, const struct edit_node *n)
{
	char name[24], target[sizeof(n->path) + 3];

	snprintf(name, sizeof(name), "%u:%u", n->major, n->minor);
	snprintf(target, sizeof(target), "../%s", n->path + strlen("/dev/"));
	(void)!symlinkat(target, dir, name);
}

void
devchar_link(const struct edits *e)
{
	autoclose int dir = -1;
	struct why ignored;
	size_t i;

	/* udev makes the directory: without udev, there is no systemd that would look there */
	if (trust_find_dir("/dev/char", true, &dir, &ignored) != TRUST_FOUND)
		return;
	/* udev makes the links for drivers that have a class */
	for (i = 0; i < e->nodes; i++)
		if (text_starts(e->node[i].path, "/dev/nvidia"))
			link_one(dir, &e->node[i]);
}
