/*
 * What a shared library says of itself: for which machine it is, and its SONAME
 * (System V ABI, «Object Files» and «Dynamic Linking»).  Reads a few pieces of
 * the file, never the whole; nothing is loaded or run.
 */
#ifndef GPUHELPER_PURE_ELFLIB_H
#define GPUHELPER_PURE_ELFLIB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "why.h"

/* Where it is read from: len bytes from offset «at» into buf; false if they are not all there. */
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
 * Little-endian shared libraries only, as are all that GPU drivers have.  -1 with
 * *why: another file, one that is cut off or contradicts itself, or a SONAME that
 * is no base name.
 */
int elf_library_read(const struct elf_source *src, struct elf_library *out, struct why *why);

#endif
