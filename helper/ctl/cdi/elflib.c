/* See elflib.h. Checks every number of the file before using it. */
#include "elflib.h"

#include <elf.h>
#include <string.h>

#define SEGMENTS_MAX 64		/* libraries have about ten */
#define DYNAMIC_MAX 1024	/* entries; about thirty */

/* A segment of either class, 32 or 64 bits. */
struct segment {
	uint32_t type;
	uint64_t offset, address, size;
};

struct library {
	const struct elf_source *src;
	unsigned bits;
	struct segment v[SEGMENTS_MAX];
	size_t n;
};

/* Reads a little-endian number of len bytes. */
static uint64_t
little_endian(const unsigned char *p, size_t len)
{
	uint64_t v = 0;

	while (len > 0)
		v = v << 8 | p[--len];
	return v;
}

/* The member of a 32-bit or 64-bit structure at «raw». */
#define FIELD(raw, bits, type, member) ((bits) == 64 ? \
	little_endian((raw) + offsetof(Elf64_##type, member), sizeof(((Elf64_##type *)0)->member)) : \
	little_endian((raw) + offsetof(Elf32_##type, member), sizeof(((Elf32_##type *)0)->member)))

static int
cut_off(struct why *why)
{
	return refuse(why, WHY_DATA, "is cut off");
}

static int
read_header(struct library *l, struct elf_library *out, uint64_t *phoff, struct why *why)
{
	unsigned char raw[sizeof(Elf64_Ehdr)];

	if (!l->src->read(l->src->ctx, 0, raw, sizeof(Elf32_Ehdr)) || memcmp(raw, ELFMAG, SELFMAG) != 0)
		return refuse(why, WHY_DATA, "is no ELF file");
	if (raw[EI_CLASS] != ELFCLASS32 && raw[EI_CLASS] != ELFCLASS64)
		return refuse(why, WHY_DATA, "is an ELF file of neither 32 nor 64 bits");
	l->bits = out->bits = raw[EI_CLASS] == ELFCLASS64 ? 64 : 32;
	if (raw[EI_DATA] != ELFDATA2LSB || raw[EI_VERSION] != EV_CURRENT)
		return refuse(why, WHY_DATA, "is an ELF file of another byte order or version");
	if (l->bits == 64 && !l->src->read(l->src->ctx, 0, raw, sizeof(raw)))
		return cut_off(why);
	if (FIELD(raw, l->bits, Ehdr, e_type) != ET_DYN)
		return refuse(why, WHY_DATA, "is an ELF file, but no shared library");
	if (FIELD(raw, l->bits, Ehdr, e_phentsize) != (l->bits == 64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)))
		return refuse(why, WHY_DATA, "has segment headers of another size than ELF's");
	out->machine = (unsigned)FIELD(raw, l->bits, Ehdr, e_machine);
	*phoff = FIELD(raw, l->bits, Ehdr, e_phoff);
	if ((l->n = (size_t)FIELD(raw, l->bits, Ehdr, e_phnum)) > SEGMENTS_MAX)
		return refuse(why, WHY_DATA, "has %zu segments: more than %d", l->n, SEGMENTS_MAX);
	return 0;
}

/* Adds two numbers of the file. False on overflow. */
static bool
add_checked(uint64_t a, uint64_t b, uint64_t *sum)
{
	return !__builtin_add_overflow(a, b, sum) && *sum <= INT64_MAX;
}

static int
read_segments(struct library *l, uint64_t phoff, struct why *why)
{
	const size_t size = l->bits == 64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	unsigned char raw[sizeof(Elf64_Phdr)];
	uint64_t at, end;
	size_t i;

	for (i = 0; i < l->n; i++) {
		if (!add_checked(phoff, i * size, &at) || !l->src->read(l->src->ctx, at, raw, size))
			return cut_off(why);
		l->v[i].type = (uint32_t)FIELD(raw, l->bits, Phdr, p_type);
		l->v[i].offset = FIELD(raw, l->bits, Phdr, p_offset);
		l->v[i].address = FIELD(raw, l->bits, Phdr, p_vaddr);
		l->v[i].size = FIELD(raw, l->bits, Phdr, p_filesz);
		if (!add_checked(l->v[i].offset, l->v[i].size, &end) || !add_checked(l->v[i].address, l->v[i].size, &end))
			return refuse(why, WHY_DATA, "has a segment that is larger than a file can be");
	}
	return 0;
}

/*
 * Finds the file offset of the byte at this address, and how many bytes of its segment follow. False if there
 * is none.
 */
static bool
find_address(const struct library *l, uint64_t address, uint64_t *offset, uint64_t *left)
{
	const struct segment *s;

	for (s = l->v; s < l->v + l->n; s++)
		if (s->type == PT_LOAD && address >= s->address && address - s->address < s->size) {
			*offset = s->offset + (address - s->address);
			*left = s->size - (address - s->address);
			return true;
		}
	return false;
}

/* The entries of the dynamic section that are needed; «found» has a bit for each. */
struct dynamic {
	uint64_t soname, strtab, strsz;
	unsigned found;
};
enum { SONAME = 1, STRTAB = 2, STRSZ = 4 };

static int
read_dynamic(const struct library *l, const struct segment *s, struct dynamic *d, struct why *why)
{
	const size_t size = l->bits == 64 ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn);
	unsigned char raw[sizeof(Elf64_Dyn)];
	uint64_t tag, value;
	size_t i;

	for (i = 0; i < DYNAMIC_MAX && (i + 1) * size <= s->size; i++) {
		if (!l->src->read(l->src->ctx, s->offset + i * size, raw, size))
			return cut_off(why);
		tag = FIELD(raw, l->bits, Dyn, d_tag);
		value = FIELD(raw, l->bits, Dyn, d_un.d_val);
		if (tag == DT_NULL)
			return 0;
		if (tag == DT_SONAME) {
			d->soname = value;
			d->found |= SONAME;
		} else if (tag == DT_STRTAB) {
			d->strtab = value;
			d->found |= STRTAB;
		} else if (tag == DT_STRSZ) {
			d->strsz = value;
			d->found |= STRSZ;
		}
	}
	return refuse(why, WHY_DATA, "has a dynamic section without an end");
}

/* True for a base name of characters that are safe on terminals and in lists of names. */
static bool
is_safe_name(const char *s)
{
	if (*s == '\0' || strcmp(s, ".") == 0 || strcmp(s, "..") == 0)
		return false;
	for (; *s != '\0'; s++)
		if (*s <= ' ' || *s == '/' || *s > '~')
			return false;
	return true;
}

static int
read_soname(const struct library *l, const struct dynamic *d, struct elf_library *out, struct why *why)
{
	uint64_t offset, left, len;

	if ((d->found & SONAME) == 0)
		return 0;
	if (d->found != (SONAME | STRTAB | STRSZ) || d->soname >= d->strsz || !find_address(l, d->strtab, &offset, &left) ||
	    d->soname >= left)
		return refuse(why, WHY_DATA, "has a SONAME that is not in it");
	len = d->strsz - d->soname < left - d->soname ? d->strsz - d->soname : left - d->soname;
	if (len > sizeof(out->soname))
		len = sizeof(out->soname);
	if (!l->src->read(l->src->ctx, offset + d->soname, out->soname, (size_t)len))
		return cut_off(why);
	if (memchr(out->soname, '\0', (size_t)len) == NULL || !is_safe_name(out->soname)) {
		out->soname[0] = '\0';
		return refuse(why, WHY_DATA, "has a SONAME that is no name of a file");
	}
	return 0;
}

int
elf_library_read(const struct elf_source *src, struct elf_library *out, struct why *why)
{
	struct library l = { .src = src };
	struct dynamic d = { 0 };
	const struct segment *s;
	uint64_t phoff = 0;

	*out = (struct elf_library){ 0 };
	if (read_header(&l, out, &phoff, why) == -1 || read_segments(&l, phoff, why) == -1)
		return -1;
	for (s = l.v; s < l.v + l.n; s++)
		if (s->type == PT_DYNAMIC)
			return read_dynamic(&l, s, &d, why) == -1 ? -1 : read_soname(&l, &d, out, why);
	return refuse(why, WHY_DATA, "has no dynamic section");
}
