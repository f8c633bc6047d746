/* See adaptgrant.h. Runs with the caller's rights. Knows runtimes by their names, and asks them what they support. */
#include "adaptgrant.h"

#include <errno.h>
#include <linux/mount.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../command/namespace.h"
#include "../command/runtime.h"

/*
 * Recursive read-only mounts need a runtime and a kernel that support them. Otherwise, submounts would stay
 * writable.
 */
static int
check_submounts(const char *runtime, const struct edits *e, struct why *why)
{
	size_t i;

	for (i = 0; i < e->mounts && !strlist_has(&e->mount[i].options, "rnodev"); i++)
		;
	if (i == e->mounts)
		return 0;
	if (syscall(SYS_mount_setattr, -1, "", 0, NULL, 0) == -1 && errno == ENOSYS)
		return refuse(why, WHY_DENIED, "folder %s is granted with its submounts, which this kernel can't make "
		    "read-only: it needs Linux 5.12", e->mount[i].source);
	if (!runtime_has_mount_option(runtime, "rro") || !runtime_has_mount_option(runtime, "rnodev"))
		return refuse(why, WHY_DENIED, "folder %s is granted with its submounts, and %s does not say that it can make "
		    "them read-only (runc features): runc 1.1 can", e->mount[i].source, runtime);
	return 0;
}

static bool
is_crun(const char *runtime)
{
	autofree char *real = realpath(runtime, NULL);

	return real != NULL && strcmp(strrchr(real, '/') + 1, "crun") == 0;
}

/*
 * crun 1.8 reads «rprivate» as if the bind mount itself were recursive. So it includes the mounts beneath,
 * writable. It also ignores nosuid and nodev of a writable bind mount. «private» and the recursive forms work, and
 * mean the same if nothing is mounted beneath.
 */
static int
adapt_to_crun(struct edits *e, struct why *why)
{
	struct strlist *options;
	size_t i, k;

	for (i = 0; i < e->mounts; i++) {
		options = &e->mount[i].options;
		if (strlist_has(options, "rbind"))
			continue;
		for (k = 0; k < options->n; k++)
			if (strcmp(options->v[k], "rprivate") == 0)
				memmove(options->v[k], "private", sizeof("private"));
		/*
		 * the recursive forms are for directories, and crun keeps nosuid and nodev of a read-only
		 * mount
		 */
		if (!strlist_has(options, "rw"))
			continue;
		if (!strlist_add(options, "rnosuid", SIZE_MAX) || !strlist_add(options, "rnodev", SIZE_MAX))
			return refuse_nomem(why);
	}
	return 0;
}

/*
 * Only the host's root can make nodes. For nodes in linux.devices, runc without root binds the host's, but
 * crun 1.8 fails («unshare CLONE_NEWNS»). Both bind nodes that are listed as mounts.
 */
static int
bind_nodes(struct edits *e, struct why *why)
{
	static const char *const options[] = { "bind", "rprivate", "rw", "nosuid", "noexec", NULL };
	size_t i;

	e->nodes_bound = true;
	for (i = 0; i < e->nodes; i++)
		if (!edits_add_mount(e, e->node[i].path, e->node[i].path, options))
			return refuse_nomem(why);
	return 0;
}

int
adapt_grant(const char *runtime, const struct spec *s, struct edits *e, struct why *why)
{
	const bool crun = is_crun(runtime);

	if (check_submounts(runtime, e, why) == -1 || (crun && adapt_to_crun(e, why) == -1))
		return -1;
	/*
	 * in a user namespace, crun 1.8 binds nodes that it made elsewhere, and their label denies the container
	 * access
	 */
	if (namespace_has_device_cgroup() && !(crun && e->label != NULL && s->user_namespace))
		return 0;
	return bind_nodes(e, why);
}
