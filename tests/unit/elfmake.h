/*
 * Makes shared libraries of a few hundred bytes, for 32 and 64 bits. This machine's compiler may
 * not be able to make those.
 */
#ifndef GPUHELPER_TESTS_ELFMAKE_H
#define GPUHELPER_TESTS_ELFMAKE_H

#include <elf.h>
#include <stdint.h>
#include <string.h>

#define ELFMAKE_SIZE 512
#define ELFMAKE_ADDRESS 0x10000	/* the address at which the library would be loaded */

/*
 * One segment with everything, a dynamic section at 256, and strings at 384. soname NULL: the
 * library has none.
 */
#define ELFMAKE(bits) \
static inline size_t \
elfmake##bits(unsigned char out[ELFMAKE_SIZE], uint16_t machine, const char *soname) \
{ \
	Elf##bits##_Ehdr e = { .e_type = ET_DYN, .e_machine = machine, .e_version = EV_CURRENT, .e_phoff = sizeof(e), \
		.e_ehsize = sizeof(e), .e_phentsize = sizeof(Elf##bits##_Phdr), .e_phnum = 2 }; \
	Elf##bits##_Phdr p[2] = { { .p_type = PT_LOAD, .p_vaddr = ELFMAKE_ADDRESS, .p_filesz = ELFMAKE_SIZE }, \
		{ .p_type = PT_DYNAMIC, .p_offset = 256, .p_vaddr = ELFMAKE_ADDRESS + 256, .p_filesz = 4 * sizeof(Elf##bits##_Dyn) } }; \
	Elf##bits##_Dyn d[4] = { { .d_tag = DT_STRTAB, .d_un.d_val = ELFMAKE_ADDRESS + 384 }, \
		{ .d_tag = DT_STRSZ, .d_un.d_val = 128 }, { .d_tag = DT_SONAME, .d_un.d_val = 1 }, { .d_tag = DT_NULL } }; \
	memset(out, 0, ELFMAKE_SIZE); \
	memcpy(e.e_ident, ELFMAG, SELFMAG); \
	e.e_ident[EI_CLASS] = ELFCLASS##bits; \
	e.e_ident[EI_DATA] = ELFDATA2LSB; \
	e.e_ident[EI_VERSION] = EV_CURRENT; \
	if (soname == NULL) \
		d[2] = d[3]; \
	else \
		memcpy(out + 385, soname, strlen(soname) < 127 ? strlen(soname) : 127); \
	memcpy(out, &e, sizeof(e)); \
	memcpy(out + sizeof(e), p, sizeof(p)); \
	memcpy(out + 256, d, sizeof(d)); \
	return ELFMAKE_SIZE; \
}
ELFMAKE(32)
ELFMAKE(64)

#endif
