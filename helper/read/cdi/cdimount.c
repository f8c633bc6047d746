/*
 * Finds faults in the mounts of a CDI spec by their text: the source, the target and the options. Engines
 * make the mounts as root, and each engine understands options of its own, so only options that are known to
 * be harmless pass.
 */
#include <stdio.h>
#include <string.h>

#include "../../base/path.h"
#include "../../gpu/extranode.h"
#include "cdiread.h"

/* True for tmpfs options, which only set up another empty directory. */
static bool
is_of_tmpfs(const char *option)
{
	/* a comma would begin another option */
	return strchr(option, ',') == NULL &&
	    (text_starts(option, "mode=") || text_starts(option, "size=") || text_starts(option, "nr_inodes="));
}

static void
check_source(struct cdi_reading *r, uint32_t n, const struct cdi_mount *m)
{
	const char *what;

	if (!cdi_mount_is_bind(m)) {
		/* tmpfs is empty; the contents of any other file system come from an unknown place */
		if (strcmp(m->type, "tmpfs") != 0)
			cdi_unsafe(r, n, "type", "a file system of type %.40s: only bind mounts and tmpfs", m->type);
		return;
	}
	if (m->host_path == NULL || m->host_path[0] == '\0' || !cdi_path_ok(r, n, "hostPath", m->host_path))
		return;
	if (strcmp(m->host_path, "/") == 0)
		cdi_unsafe(r, n, "hostPath", "is all of the host's files");
	else if ((what = cdi_host_control(m->host_path)) != NULL)
		cdi_unsafe(r, n, "hostPath", "%s can't be given out, nor what is above and beneath it", what);
	else if (strcmp(m->host_path, "/dev") == 0)
		cdi_unsafe(r, n, "hostPath", "all devices of the host");
	else if ((what = cdi_host_node(m->host_path)) != NULL)
		cdi_unsafe(r, n, "hostPath", "is %s", what);
	else if (cdi_mount_writable(m) && (what = cdi_host_own(m->host_path)) != NULL)
		cdi_unsafe(r, n, "hostPath", "%s is the host's own: nothing above and beneath it can be given out to write", what);
}

static void
check_type(struct cdi_reading *r, uint32_t n, const struct cdi_mount *m)
{
	size_t i;

	for (i = 0; cdi_mount_is_bind(m) && i < m->options.n; i++)
		if (is_of_tmpfs(m->options.v[i]))
			cdi_unsafe(r, n, "options", "option \"%.40s\" is for tmpfs, and this is a bind mount", m->options.v[i]);
}

void
cdi_check_mount(struct cdi_reading *r, uint32_t n, const struct cdi_mount *m)
{
	const char *target = m->container_path, *wrong;

	check_source(r, n, m);
	check_type(r, n, m);
	if (target != NULL && target[0] != '\0' && cdi_path_ok(r, n, "containerPath", target) &&
	    (wrong = cdi_target_wrong(m)) != NULL)
		cdi_unsafe(r, n, "containerPath", "%s", wrong);
}

/* A container should be able to read and run what is mounted, and nothing more. */
void
cdi_check_option(struct cdi_reading *r, uint32_t n, const char *s)
{
	if (!cdi_option_known(s) && !is_of_tmpfs(s))
		cdi_unsafe(r, n, NULL, "option \"%.40s\" is not one that a driver needs: bind, ro, rw, nosuid, nodev, noexec, "
		    "rprivate", s);
}
