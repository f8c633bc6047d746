/* See nogpu.h. Looks at nodes, opens none, and follows no link beneath root. */
#include "nogpu.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "../../base/cleanup.h"
#include "../file.h"
#include "gputext.h"

static bool
exists(int root, const char *path)
{
	struct stat st;

	return fstatat(root, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* True if the kernel is Microsoft's for WSL2: "5.15.167.4-microsoft-standard-WSL2". */
static bool
is_wsl(int root)
{
	autofree char *release = gpus_read(root, "proc/sys/kernel/osrelease");

	return exists(root, "dev/dxg") || (release != NULL && strcasestr(release, "microsoft") != NULL);
}

/* True if the device tree names a Tegra. Its «compatible» is a list of strings, each of which ends with a NUL. */
static bool
is_tegra(int root)
{
	static const char name[] = "nvidia,tegra";
	size_t len = 0;
	autofree char *compatible = file_read_at(root, "sys/firmware/devicetree/base/compatible", 4096, &len);

	return (compatible != NULL && memmem(compatible, len, name, sizeof(name) - 1) != NULL) ||
	    exists(root, "dev/nvhost-gpu") || exists(root, "dev/nvgpu");
}

const char *
host_unsupported(int root)
{
	if (is_wsl(root))
		return "this host is WSL2, where /dev/dxg stands for all GPUs at once: gpuhelper can't give one";
	if (is_tegra(root))
		return "this host is a Tegra, whose own GPU has no node for it alone: gpuhelper can't give it";
	return NULL;
}
