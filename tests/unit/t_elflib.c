/* ctl/cdi/elflib.c: reads a shared library's headers and dynamic section. */
#include <fcntl.h>
#include <unistd.h>

#include "ctl/cdi/elflib.h"
#include "elfmake.h"
#include "tap.h"

struct bytes {
	const unsigned char *p;
	size_t len;
	unsigned reads;
};

/* Reads a copy of exactly that size, so that a sanitizer notices reads beyond it. */
static bool
from_memory(void *ctx, uint64_t at, void *buf, size_t len)
{
	struct bytes *b = ctx;

	b->reads++;
	if (at > b->len || len > b->len - at)
		return false;
	memcpy(buf, b->p + at, len);
	return true;
}

static int
read_bytes(const unsigned char *p, size_t len, struct elf_library *out, struct why *why)
{
	unsigned char *copy = malloc(len > 0 ? len : 1);
	struct bytes b = { .p = copy, .len = len };
	struct elf_source src = { .read = from_memory, .ctx = &b };
	int ret;

	if (copy == NULL)
		abort();
	memcpy(copy, p, len);
	ret = elf_library_read(&src, out, why);
	free(copy);
	ok(b.reads < 1200, "the library is read in few reads: %u", b.reads);
	return ret;
}

static void
test_good(void)
{
	unsigned char raw[ELFMAKE_SIZE];
	struct elf_library e;
	struct why why;

	elfmake64(raw, EM_X86_64, "libcuda.so.1");
	ok(read_bytes(raw, sizeof(raw), &e, &why) == 0 && e.bits == 64 && e.machine == EM_X86_64,
	    "a library of 64 bits is read");
	is_str(e.soname, "libcuda.so.1", "the SONAME of 64 bits is read");
	elfmake32(raw, EM_386, "libcuda.so.1");
	ok(read_bytes(raw, sizeof(raw), &e, &why) == 0 && e.bits == 32 && e.machine == EM_386,
	    "a library of 32 bits is read");
	is_str(e.soname, "libcuda.so.1", "the SONAME of 32 bits is read");
	elfmake64(raw, EM_AARCH64, NULL);
	ok(read_bytes(raw, sizeof(raw), &e, &why) == 0 && e.machine == EM_AARCH64 &&
	    e.soname[0] == '\0',
	    "a library without a SONAME is read");
}

struct change {
	size_t at;
	unsigned char to;
	const char *what;
};

static void
test_bad(void)
{
	static const char *const names[] = { "a/b", "..", ".", "", "a b", "a\nb", "a\xc3\xa4" };
	static const struct change changes[] = {
		{ 0, 'x', "is no ELF file" }, { EI_CLASS, 3, "neither 32 nor 64" }, { EI_DATA, ELFDATA2MSB, "another byte order" },
		{ EI_VERSION, 2, "another byte order or version" }, { offsetof(Elf64_Ehdr, e_type), ET_EXEC, "no shared library" },
		{ offsetof(Elf64_Ehdr, e_phnum), 65, "segments" }, { offsetof(Elf64_Ehdr, e_phnum), 1, "no dynamic section" },
		{ offsetof(Elf64_Ehdr, e_phentsize), 55, "another size" }, { offsetof(Elf64_Ehdr, e_phoff) + 1, 2, "cut off" },
		{ offsetof(Elf64_Ehdr, e_phoff) + 7, 0xff, "cut off" },
		{ 64 + offsetof(Elf64_Phdr, p_offset) + 7, 0x80, "larger than a file" },
		{ 64 + offsetof(Elf64_Phdr, p_vaddr) + 7, 0xff, "larger than a file" },
		{ 64 + 56 + offsetof(Elf64_Phdr, p_offset) + 1, 2, "cut off" },
		{ 64 + 56 + offsetof(Elf64_Phdr, p_filesz), 48, "without an end" },
		{ 256 + 8 + 3, 0x80, "SONAME that is not in it" }, { 256 + 16 + 8, 1, "SONAME that is not in it" },
		{ 256 + 16 + 8, 7, "no name of a file" }, { 256 + 16, 0x7f, "SONAME that is not in it" },
		{ 256 + 32 + 8, 255, "SONAME that is not in it" },
	};
	unsigned char raw[ELFMAKE_SIZE];
	struct elf_library e;
	struct why why;
	size_t i;

	for (i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		elfmake64(raw, EM_X86_64, "libcuda.so.1");
		raw[changes[i].at] = changes[i].to;
		ok(read_bytes(raw, sizeof(raw), &e, &why) == -1 && why.code == WHY_DATA && strstr(why.text, changes[i].what) != NULL,
		    "%s", changes[i].what);
	}
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		elfmake64(raw, EM_X86_64, names[i]);
		ok(read_bytes(raw, sizeof(raw), &e, &why) == -1 && e.soname[0] == '\0',
		    "a SONAME that cannot be a file's name is refused: %zu", i);
	}
	elfmake64(raw, EM_X86_64, "x");
	memset(raw + 386, 'x', sizeof(raw) - 386);
	ok(read_bytes(raw, sizeof(raw), &e, &why) == -1, "a SONAME without an end is refused");
}

/* Truncates at each byte, and changes each byte: nothing beyond the end is read. */
static void
test_all(void)
{
	unsigned char raw[ELFMAKE_SIZE];
	struct elf_library e;
	struct why why;
	size_t i, k;

	for (k = 0; k < 2; k++) {
		for (i = 0; i < 385; i++) {
			k == 0 ? elfmake64(raw, EM_X86_64, "libcuda.so.1") : elfmake32(raw, EM_386, "libcuda.so.1");
			ok(read_bytes(raw, i, &e, &why) == -1,
			    "a library truncated to %zu bytes is refused", i);
		}
		for (i = 0; i < sizeof(raw); i++) {
			k == 0 ? elfmake64(raw, EM_X86_64, "libcuda.so.1") : elfmake32(raw, EM_386, "libcuda.so.1");
			raw[i] ^= 0xff;
			why = (struct why){ 0 };
			ok((read_bytes(raw, sizeof(raw), &e, &why) == -1) == (why.code == WHY_DATA),
			    "with byte %zu changed, the library is read or refused with a reason",
			    i);
		}
	}
}

static bool
from_file(void *ctx, uint64_t at, void *buf, size_t len)
{
	return pread(*(int *)ctx, buf, len, (off_t)at) == (ssize_t)len;
}

/* Reads this program itself, which this machine's linker made. */
static void
test_real(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct elf_source src = { .read = from_file, .ctx = &fd };
	struct elf_library e;
	struct why why;

	if (emulated())
		skip("this program is read as a library", "/proc/self/exe is the emulator");
	else
		ok(fd != -1 && elf_library_read(&src, &e, &why) == 0 && e.bits == sizeof(void *) * 8 && e.soname[0] == '\0',
		    "this program is read as a library");
	close(fd);
}

int
main(void)
{
	test_good();
	test_bad();
	test_all();
	test_real();
	return done_testing();
}
