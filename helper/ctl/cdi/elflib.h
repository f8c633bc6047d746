/*
 * Reads the machine and the SONAME of a shared library (System V ABI, «Object Files» and «Dynamic Linking»).
 * Reads only pieces of the file, and must never load or run it.
 */
#ifndef GPUHELPER_CTL_CDI_ELFLIB_H
#define GPUHELPER_CTL_CDI_ELFLIB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../base/why.h"

/* The source: reads len bytes from offset «at» into buf; false if not all of them exist. */
struct elf_source {
	bool (*read)(void *ctx, uint64_t at, void *buf, size_t len);
	void *ctx;
};

struct elf_library {
	unsigned bits;		/* 32 or 64 */
	unsigned machine;	/* EM_X86_64, … (elf.h) */
	char soname[256];	/* "" if it has none; a base name */
};

/*
 * Reads a little-endian shared library, as all of GPU drivers are. 0, or -1 with *why for another kind of
 * file, a truncated or contradictory one, or a SONAME that is no base name.
 */
int elf_library_read(const struct elf_source *src, struct elf_library *out, struct why *why);

#endif
