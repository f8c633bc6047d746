/* See extraword.h: the words of policies, and the names of drivers. The helper does not link this file. */
#include "extraword.h"

#include <string.h>

#define COUNT(t) (sizeof(t) / sizeof((t)[0]))

static const struct { const char *name; unsigned bit; const char *kind; } words[] = {
	{ "gdrdrv", EXTRA_GDRDRV, "nvidia.com/gdrcopy" }, { "nvidia-fs", EXTRA_NVIDIA_FS, "nvidia.com/gds" },
	{ "imex", EXTRA_IMEX, "nvidia.com/imex-channel" }, { "infiniband", EXTRA_INFINIBAND, "nvidia.com/mofed" },
	{ "nvswitch", EXTRA_NVSWITCH, "nvidia.com/nvswitch" },
};

bool
extra_word_parse(const char *name, unsigned *bit, uint32_t *channel)
{
	size_t i;

	if (text_starts(name, "imex=") && text_u32(name + strlen("imex="), 0, IMEX_CHANNEL_MAX, channel)) {
		*bit = EXTRA_IMEX;
		return true;
	}
	for (i = 0; i < COUNT(words); i++)
		if (strcmp(words[i].name, name) == 0) {
			*bit = words[i].bit;
			return true;
		}
	return false;
}

const char *
extra_word_name(unsigned bit)
{
	size_t i;

	for (i = 0; i < COUNT(words); i++)
		if (words[i].bit == bit)
			return words[i].name;
	return "";
}

const char *
extra_word_kind(unsigned bit)
{
	size_t i;

	for (i = 0; i < COUNT(words); i++)
		if (words[i].bit == bit)
			return words[i].kind;
	return "";
}

unsigned
extra_kind_word(const char *kind)
{
	size_t i;

	for (i = 0; i < COUNT(words); i++)
		if (strcmp(words[i].kind, kind) == 0)
			return words[i].bit;
	return 0;
}

const char *
extra_driver(const struct devmajors *m, uint32_t major)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		if (m->v[i].type == 'c' && m->v[i].major == major)
			return m->v[i].name;
	return "";
}
