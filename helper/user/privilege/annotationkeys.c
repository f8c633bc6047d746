/* See annotationkeys.h. Computes only. */
#include "annotationkeys.h"

#include <stddef.h>
#include <string.h>

struct order {
	const char *name;
	bool users_only;	/* harmless if an unprivileged user creates the container */
};

/* These order how the container's scope is stopped, started and shown (systemd.unit(5), systemd.scope(5)). */
static const struct order systemd[] = {
	{ "After", false }, { "Before", false }, { "CollectMode", false }, { "DefaultDependencies", false },
	{ "Description", false }, { "KillSignal", false }, { "TimeoutStopSec", false }, { "TimeoutStopUSec", false },
	{ NULL, false },
};

static const struct order crun[] = {
	{ "mount_context_type", false }, { "seccomp_fail_unknown_syscall", false },
	/* if root runs crun, the container would keep root's groups */
	{ "keep_original_groups", true }, { NULL, false },
};

static const struct {
	const char *prefix;
	const struct order *harmless;
} families[] = {
	{ "org.systemd.property.", systemd },	/* Slice, PIDs, DeviceAllow, … */
	{ "run.oci.", crun },			/* files that root writes, libraries that it loads, other cgroups */
	{ "org.criu.", NULL },			/* a file that makes criu run programs */
	{ "krun.", NULL },			/* a virtual machine instead of the container */
};

static bool
is_harmless(const struct order *o, const char *name, bool by_root)
{
	for (; o != NULL && o->name != NULL; o++)
		if (strcmp(o->name, name) == 0)
			return !o->users_only || !by_root;
	return false;
}

bool
annotation_is_allowed(const char *key, bool by_root)
{
	size_t i, len;

	/*
	 * «runc exec» reads config.json in the directory that «bundle» names; runc takes a key with «=» for another key
	 */
	if (strcmp(key, "bundle") == 0 || strchr(key, '=') != NULL)
		return false;
	for (i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		len = strlen(families[i].prefix);
		if (strncmp(key, families[i].prefix, len) == 0)
			return is_harmless(families[i].harmless, key + len, by_root);
	}
	return true;
}
