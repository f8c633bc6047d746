/*
 * See setup.h: the bundle of setup's own container.  The container has the host's /usr mounted read-only, runs true(1),
 * and requests nothing.  So it tests the wrapper, gpuhelper.conf and the runtime, but no policy.
 */
#include "setup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/text.h"
#include "../../host/file.h"

/* Directories at the top of a host, or links into /usr. */
static const char *const tops[] = { "usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32" };
#define TOPS (sizeof(tops) / sizeof(tops[0]))

/* Mount points of the other mounts. */
static const char *const others[] = { "proc", "dev" };
#define OTHERS (sizeof(others) / sizeof(others[0]))

/* Mounts a directory of the host.  For a link into /usr it mounts the target, because the root filesystem is empty. */
static int
add_top(const char *name, json_t *mounts)
{
	autofree char *source = NULL;
	char path[16];

	snprintf(path, sizeof(path), "/%s", name);
	if ((source = realpath(path, NULL)) == NULL)
		return 0;
	return json_array_append_new(mounts, json_pack("{s:s, s:s, s:s, s:[s, s, s, s]}", "destination", path, "type", "bind",
	    "source", source, "options", "rbind", "ro", "nosuid", "nodev"));
}

/*
 * config.json (OCI runtime specification 1.0).  The settings may refuse privileged containers
 * (user/privilege/kernelwrites.h).
 */
static json_t *
config_of(json_t *mounts)
{
	return json_pack("{s:s, s:{s:b, s:{s:i, s:i}, s:[s], s:[s], s:s, s:b}, s:{s:s, s:b}, s:s, s:o, "
	    "s:{s:[{s:s}, {s:s}, {s:s}, {s:s}, {s:s}], s:[s, s, s, s, s], s:[s, s]}}",
	    "ociVersion", "1.0.2", "process", "terminal", 0, "user", "uid", 0, "gid", 0, "args", "/usr/bin/true",
	    "env", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "cwd", "/", "noNewPrivileges", 1,
	    "root", "path", "rootfs", "readonly", 1, "hostname", "gpuhelper-setup", "mounts", mounts,
	    "linux", "namespaces", "type", "pid", "type", "mount", "type", "ipc", "type", "uts", "type", "network",
	    "readonlyPaths", "/proc/sys", "/proc/sysrq-trigger", "/proc/bus", "/proc/fs", "/proc/irq",
	    "maskedPaths", "/proc/kcore", "/proc/keys");
}

int
setup_bundle(int dir, struct why *why)
{
	json_t *mounts = json_array(), *config;
	autofree char *text = NULL;
	size_t i;
	int ret = 0;

	if (mkdirat(dir, "rootfs", 0755) == -1 || json_array_append_new(mounts,
	    json_pack("{s:s, s:s, s:s}", "destination", "/proc", "type", "proc", "source", "proc")) == -1 ||
	    json_array_append_new(mounts, json_pack("{s:s, s:s, s:s, s:[s, s]}", "destination", "/dev", "type", "tmpfs",
	    "source", "tmpfs", "options", "nosuid", "mode=755")) == -1)
		ret = -1;
	for (i = 0; ret == 0 && i < TOPS; i++)
		ret = add_top(tops[i], mounts);
	if (ret == -1) {
		json_decref(mounts);
		return refuse(why, WHY_IO, "the bundle of the trial container can't be made: %s", strerror(errno));
	}
	config = config_of(mounts);
	text = config != NULL ? json_dumps(config, JSON_INDENT(2)) : NULL;
	json_decref(config);
	return text == NULL ? refuse_nomem(why) :
	    ctl_write_file(dir, "config.json", "config.json", text, strlen(text), NULL, why);
}

void
setup_bundle_remove(int dir)
{
	int root = openat(dir, "rootfs", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t i;

	for (i = 0; root != -1 && i < TOPS; i++)
		(void)unlinkat(root, tops[i], AT_REMOVEDIR);
	for (i = 0; root != -1 && i < OTHERS; i++)
		(void)unlinkat(root, others[i], AT_REMOVEDIR);
	if (root != -1)
		close(root);
	(void)unlinkat(dir, "rootfs", AT_REMOVEDIR);
	(void)unlinkat(dir, "config.json", 0);
	(void)unlinkat(dir, "state", AT_REMOVEDIR);
}
