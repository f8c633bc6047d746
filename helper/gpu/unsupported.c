/* See unsupported.h. The names are those of Microsoft's dxgkrnl and of NVIDIA's drivers for Tegra (L4T). */
#include "unsupported.h"

#include <stddef.h>
#include <string.h>

#include "../base/path.h"
#include "../base/text.h"

const char *
node_unsupported(const char *path)
{
	static const char *const tegra[] = { "/dev/nvhost-", "/dev/nvmap", "/dev/nvgpu", "/dev/nvsciipc",
		"/dev/host1x-fence" };
	size_t i;

	if (strcmp(path, "/dev/dxg") == 0)
		return "WSL2";
	for (i = 0; i < sizeof(tegra) / sizeof(tegra[0]); i++)
		if (text_starts(path, tegra[i]))
			return "Tegra";
	return NULL;
}
