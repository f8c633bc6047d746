/*
 * See charlink.h.  Acts in /dev/char alone, and only where that is root's in every
 * component; must follow no link there, and remove or replace nothing.
 */
#include "charlink.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../host/file.h"
#include "../host/trust.h"
#include "../pure/text.h"

/* As udev words them. */
static void
link_one(int dir, const struct edit_node *n)
{
	char name[24], target[sizeof(n->path) + 3];

	snprintf(name, sizeof(name), "%u:%u", n->major, n->minor);
	snprintf(target, sizeof(target), "../%s", n->path + strlen("/dev/"));
	(void)!symlinkat(target, dir, name);
}

void
charlink_nodes(const struct edits *e)
{
	autoclose int dir = -1;
	struct why ignored;
	size_t i;

	/* udev makes the directory: where there is no udev, there is no systemd that would look there */
	if (trust_find_dir("/dev/char", true, &dir, &ignored) != TRUST_FOUND)
		return;
	/* drivers that have a class have their links from udev */
	for (i = 0; i < e->nodes; i++)
		if (text_starts(e->node[i].path, "/dev/nvidia"))
			link_one(dir, &e->node[i]);
}
