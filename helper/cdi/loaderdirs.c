/* See loaderdirs.h. */
#include "loaderdirs.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

static const struct {
	unsigned machine, bits;
	const char *dir[3];
} loaders[] = {
	{ EM_X86_64, 64, { "/usr/lib/x86_64-linux-gnu", "/usr/lib64", NULL } },
	{ EM_AARCH64, 64, { "/usr/lib/aarch64-linux-gnu", "/usr/lib64", NULL } },
	{ EM_386, 32, { "/usr/lib/i386-linux-gnu", "/usr/lib", NULL } },
	{ EM_ARM, 32, { "/usr/lib/arm-linux-gnueabihf", "/usr/lib", NULL } },
};

const char *const *
loader_dirs(unsigned machine, unsigned bits)
{
	size_t i;

	for (i = 0; i < sizeof(loaders) / sizeof(loaders[0]); i++)
		if (loaders[i].machine == machine && loaders[i].bits == bits)
			return loaders[i].dir;
	return NULL;
}

const char *const *
loader_dirs_here(void)
{
#if defined(__aarch64__)
	return loader_dirs(EM_AARCH64, 64);
#else
	return loader_dirs(EM_X86_64, 64);
#endif
}

bool
loader_looks_in(const char *path)
{
	const char *const *dir;
	size_t i;

	/* since the usrmerge /lib is /usr/lib, and packages name either */
	for (i = 0; i < sizeof(loaders) / sizeof(loaders[0]); i++)
		for (dir = loaders[i].dir; *dir != NULL; dir++)
			if (strcmp(path, *dir) == 0 || strcmp(path, *dir + strlen("/usr")) == 0)
				return true;
	return false;
}
