/* See rootful.h. */
#include "rootful.h"

#include <linux/magic.h>
#include <stdio.h>
#include <sys/vfs.h>

#include "../../user/command/namespace.h"

bool
rootful_for(uint32_t uid, const struct settings *settings, char *text, size_t size)
{
	static const char held[] = "device cgroups limit the containers of root's runtimes to their GPUs";
	static const char alike[] = "no device cgroup limits this user's containers; the nodes' modes and ACLs do, but for "
	    "all of them alike (unenforced = \"allow\")";
	static const char refused[] = "no device cgroup limits this user's containers, so they get no exclusive GPUs";
	struct statfs fs;
	const char *version = statfs("/sys/fs/cgroup", &fs) == -1 ? "none mounted" : (long)fs.f_type == CGROUP2_SUPER_MAGIC ?
	    "v2" : "v1";
	const bool rootful = uid == 0 && !namespace_is_own();

	snprintf(text, size, "%s; %s", version, rootful ? held : settings->unenforced ? alike : refused);
	return rootful;
}
