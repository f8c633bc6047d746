/* See settingsdefault.h: what holds where gpuhelper.conf says nothing. */
#include "settingsdefault.h"

/*
 * Where the usual engines keep root filesystems, and nothing else. An administrator whose engine uses another directory
 * names it in «volumes». containerd's root filesystems are in the bundle.
 */
static const char *const engines[] = {
	"/worker-state/volumes",		/* Concourse's official image */
	"/var/lib/containers/storage/overlay",	/* podman, CRI-O */
	"/var/lib/containers/storage/vfs/dir",
	"/var/lib/docker/overlay2",
	"/var/lib/docker/rootfs",
};

/* Concourse's, with containerd and with guardian */
static const char *const placeholders[] = { "/tmp/gdn-init", "/tmp/garden-init" };

bool
settings_default(struct settings *s)
{
	size_t i;

	*s = (struct settings){ .privileged = PRIVILEGED_DENY, .max_wait = 43200, .left_behind = 60 };
	for (i = 0; i < sizeof(placeholders) / sizeof(placeholders[0]); i++)
		if (!strlist_add(&s->placeholder_init, placeholders[i], SIZE_MAX))
			return false;
	for (i = 0; i < sizeof(engines) / sizeof(engines[0]); i++)
		if (!strlist_add(&s->volumes, engines[i], SIZE_MAX))
			return false;
	return strlist_add(&s->task_execs, "task", SIZE_MAX);	/* Concourse's */
}
