/* See doctor.h: checks the links in /dev/char, by which systemd finds a node from its number.  Opens no device. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "../../gpu/gpu.h"
#include "../../user/command/namespace.h"
#include "doctor.h"

/* The missing links, and the commands that make them. */
struct links {
	struct buf missing, fix;
	size_t there;
};

/* A node that does not exist needs no link: the program that creates the node makes the link too. */
static void
look_at_link(const struct gpu_node *n, struct links *out)
{
	char link[48];
	struct stat st;

	if (!text_starts(n->path, "/dev/nvidia") || stat(n->path, &st) == -1 || st.st_rdev != makedev(n->major, n->minor))
		return;
	snprintf(link, sizeof(link), "/dev/char/%u:%u", n->major, n->minor);
	if (stat(link, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(n->major, n->minor)) {
		out->there++;
		return;
	}
	buf_printf(&out->missing, "%s%s", out->missing.len > 0 ? ", " : "", link);
	buf_printf(&out->fix, "%sln -sfn ../%s %s", out->fix.len > 0 ? " && " : "", n->path + strlen("/dev/"), link);
}

static void
say_links(struct doctor *d, const struct links *l)
{
	if (l->missing.failed || l->fix.failed)
		doctor_say(d, FINDING_WARN, "links", NULL, "out of memory");
	else if (l->missing.len > 0)
		doctor_say(d, FINDING_WARN, "links", l->fix.p, "%s missing: with runc --systemd-cgroup, a container loses "
		    "such a node at systemctl daemon-reload, unless a grant made the link before; to make the links at boot, "
		    "install 71-gpuhelper-links.rules.example; to make them now, run", l->missing.p);
	else
		doctor_say(d, FINDING_OK, "links", NULL, "/dev/char has the links of %zu NVIDIA nodes", l->there);
}

void
doctor_links(struct doctor *d, const struct inventory *inv)
{
	struct links l = { .there = 0 };
	size_t i, k;

	/* a user's own systemd manages no device cgroups */
	if (!systemd_runs() || d->uid != 0 || namespace_is_own()) {
		doctor_say(d, FINDING_OK, "links", NULL, "none needed in /dev/char: %s", d->uid != 0 || namespace_is_own() ?
		    "systemd limits no containers of this user by device cgroup" : "systemd does not run here");
		return;
	}
	for (i = 0; i < inv->gpus; i++)
		for (k = 0; k < inv->gpu[i].nodes; k++)
			look_at_link(&inv->gpu[i].node[k], &l);
	for (k = 0; k < inv->commons[GPU_NVIDIA]; k++)
		look_at_link(&inv->common[GPU_NVIDIA][k], &l);
	say_links(d, &l);
	buf_free(&l.missing);
	buf_free(&l.fix);
}
