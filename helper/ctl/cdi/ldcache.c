/*
 * See ldcache.h. Numbers have byte order and alignment of the machine that wrote the file, which is this one.
 * They are copied out because the bytes may be anywhere in memory.
 */
#include "ldcache.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC_OLD "ld.so-1.7.0"			/* without its NUL: 11 bytes, and one for alignment */
#define MAGIC_NEW "glibc-ld.so.cache1.1"	/* magic and version, 20 bytes */

/* struct cache_file: magic, nlibs; then entries of flags, key, value */
enum { OLD_HEADER = 16, OLD_NLIBS = 12, OLD_ENTRY = 12 };
/* struct cache_file_new: magic, nlibs, len_strings, flags, ...; then entries of flags, key, value, osversion, hwcap */
enum { NEW_HEADER = 48, NEW_NLIBS = 20, NEW_FLAGS = 28, NEW_ENTRY = 24, NEW_HWCAP = 16, NEW_ALIGN = 8 };
enum { KEY = 4, VALUE = 8 };

/* Flags of an entry. */
#define TYPE_MASK 0x00ffU
#define TYPE_ELF 0x0001U	/* an ELF library that needs no libc */
#define TYPE_ELF_LIBC6 0x0003U

/* The header's byte order, if it has one. */
enum { ENDIAN_MASK = 3, ENDIAN_UNSET = 0, ENDIAN_LITTLE = 2, ENDIAN_BIG = 3 };

static uint32_t
u32_at(const char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint64_t
u64_at(const char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* The string at «offset»; NULL if it does not end within len bytes. */
static const char *
string_at(const char *bytes, size_t len, uint32_t offset)
{
	if (offset >= len || memchr(bytes + offset, '\0', len - offset) == NULL)
		return NULL;
	return bytes + offset;
}

/* Reads n entries of «size» bytes. Offsets of strings count from «strings», which has len bytes. */
static int
read_entries(struct ldcache *c, const char *entries, uint32_t n, size_t size, const char *strings, size_t len,
    struct why *why)
{
	const char *e = entries, *name, *path;
	uint32_t i, type;

	if ((c->v = calloc(n > 0 ? n : 1, sizeof(*c->v))) == NULL)
		return refuse_nomem(why);
	for (i = 0; i < n; i++, e += size) {
		name = string_at(strings, len, u32_at(e + KEY));
		path = string_at(strings, len, u32_at(e + VALUE));
		if (name == NULL || path == NULL)
			return refuse(why, WHY_DATA, "entry %u has a string that is not in the file: run ldconfig", i);
		type = u32_at(e) & TYPE_MASK;
		if ((type != TYPE_ELF && type != TYPE_ELF_LIBC6) || *path != '/')
			continue;
		c->v[c->n++] = (struct ldcache_entry){ .name = name, .path = path,
			.hwcap = size == NEW_ENTRY && u64_at(e + NEW_HWCAP) != 0 };
	}
	return 0;
}

static int
read_new(struct ldcache *c, const char *p, size_t len, struct why *why)
{
	const uint16_t one = 1;
	const int own = *(const unsigned char *)&one == 1 ? ENDIAN_LITTLE : ENDIAN_BIG;
	uint32_t n;
	int order;

	if (len < NEW_HEADER)
		return refuse(why, WHY_DATA, "is cut off: run ldconfig");
	order = p[NEW_FLAGS] & ENDIAN_MASK;
	if (order != ENDIAN_UNSET && order != own)
		return refuse(why, WHY_DATA, "is of another byte order than this machine");
	if ((n = u32_at(p + NEW_NLIBS)) > (len - NEW_HEADER) / NEW_ENTRY)
		return refuse(why, WHY_DATA, "is cut off: %u entries do not fit into it: run ldconfig", n);
	return read_entries(c, p + NEW_HEADER, n, NEW_ENTRY, p, len, why);
}

static int
read_old(struct ldcache *c, const char *p, size_t len, struct why *why)
{
	uint32_t n;
	size_t end;

	if (len < OLD_HEADER || (n = u32_at(p + OLD_NLIBS)) > (len - OLD_HEADER) / OLD_ENTRY)
		return refuse(why, WHY_DATA, "is cut off: run ldconfig");
	end = OLD_HEADER + (size_t)n * OLD_ENTRY;
	/* prefer the newer part: it has the same libraries, and more about them */
	if (len - end >= NEW_ALIGN + sizeof(MAGIC_NEW)) {
		const size_t at = (end + NEW_ALIGN - 1) / NEW_ALIGN * NEW_ALIGN;

		if (memcmp(p + at, MAGIC_NEW, sizeof(MAGIC_NEW) - 1) == 0)
			return read_new(c, p + at, len - at, why);
	}
	return read_entries(c, p + OLD_HEADER, n, OLD_ENTRY, p + end, len - end, why);
}

int
ldcache_parse(struct ldcache *c, const char *bytes, size_t len, struct why *why)
{
	int ret;

	*c = (struct ldcache){ 0 };
	if (len >= sizeof(MAGIC_NEW) - 1 && memcmp(bytes, MAGIC_NEW, sizeof(MAGIC_NEW) - 1) == 0)
		ret = read_new(c, bytes, len, why);
	else if (len >= sizeof(MAGIC_OLD) - 1 && memcmp(bytes, MAGIC_OLD, sizeof(MAGIC_OLD) - 1) == 0)
		ret = read_old(c, bytes, len, why);
	else
		ret = refuse(why, WHY_DATA, "is no cache of glibc's ldconfig");
	if (ret == -1)
		ldcache_free(c);
	return ret;
}

void
ldcache_free(struct ldcache *c)
{
	free(c->v);
	*c = (struct ldcache){ 0 };
}
