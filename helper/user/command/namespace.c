/* See namespace.h. Reads the kernel's view of this process. Must decide no permission. */
#include "namespace.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/text.h"
#include "../../host/file.h"
#include "../../host/trust.h"
#include "../../kernel/idmap.h"

#define OVERFLOW_UID 65534	/* the default of /proc/sys/kernel/overflowuid; no known host changes it */

static bool false_root, begun, own;

static char *
read_id_map(pid_t pid, const char *kind)
{
	const int root = file_root();
	char name[40];

	snprintf(name, sizeof(name), "proc/%d/%s", pid, kind);
	return root != -1 ? file_read_at(root, name, 16384, NULL) : NULL;
}

static bool
maps_not_all(void)
{
	autofree char *map = read_id_map(getpid(), "uid_map");
	unsigned inside, outside, count;

	return map == NULL || sscanf(map, "%u %u %u", &inside, &outside, &count) != 3 || inside != 0 || outside != 0 ||
	    count != UINT32_MAX;
}

bool
namespace_is_own(void)
{
	/* the result stays valid, because a uid_map can be written only once */
	if (!begun)
		own = maps_not_all();
	begun = true;
	return own;
}

bool
namespace_has_device_cgroup(void)
{
	return geteuid() == 0 && !namespace_is_own();
}

static bool
has_zero(pid_t pid, const char *kind)
{
	autofree char *text = read_id_map(pid, kind);
	struct idmap map = { 0 };
	uint32_t inside;

	return text == NULL || !idmap_parse(text, &map) || idmap_in(&map, 0, &inside);
}

bool
namespace_has_our_root(pid_t pid)
{
	return has_zero(pid, "uid_map") || has_zero(pid, "gid_map");
}

void
namespace_begin(void)
{
	struct stat st;

	false_root = namespace_is_own() && stat("/proc/self/exe", &st) == 0 && st.st_uid == OVERFLOW_UID;
	if (false_root)
		trust_in_namespace(OVERFLOW_UID, geteuid());
}

bool
namespace_has_false_root(void)
{
	return false_root;
}

bool
namespace_is_hosts_root(void)
{
	return geteuid() == 0 && !false_root;
}

uint32_t
namespace_outer_uid(void)
{
	autofree char *text = read_id_map(getpid(), "uid_map");
	struct idmap map = { 0 };
	uint32_t outer;

	return text != NULL && idmap_parse(text, &map) && idmap_out(&map, getuid(), &outer) ? outer : getuid();
}

char *
namespace_path(const char *path)
{
	return false_root ? realpath(path, NULL) : strdup(path);
}
