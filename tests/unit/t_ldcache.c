/* ctl/cdi/ldcache.c: reads the loader's cache in both formats, and this machine's own cache. */
#include <fcntl.h>

#include "base/cleanup.h"
#include "ctl/cdi/ldcache.h"
#include "host/file.h"
#include "tap.h"

static size_t
put(char *out, size_t at, const void *p, size_t len)
{
	memcpy(out + at, p, len);
	return at + len;
}

static size_t
put_u32(char *out, size_t at, uint32_t v)
{
	return put(out, at, &v, sizeof(v));
}

#define STRINGS "libcuda.so.1\0/usr/lib64/libcuda.so.1\0libfast.so.2\0/usr/lib64/hwcaps/libfast.so.2\0relative\0"
enum { NAME1 = 0, PATH1 = 13, NAME2 = 37, PATH2 = 50, RELATIVE = 81 };

/*
 * The entries: an ordinary one, one for certain processors, one of libc 5, one with a relative
 * path, and one that needs no libc.
 */
static const struct { uint32_t flags, key, value; uint64_t hwcap; } entries[] = {
	{ 0x0303, NAME1, PATH1, 0 }, { 0x0303, NAME2, PATH2, 1ULL << 62 }, { 0x0002, NAME1, PATH1, 0 },
	{ 0x0303, NAME1, RELATIVE, 0 }, { 0x0001, NAME1, PATH1, 0 },
};
#define ENTRIES (sizeof(entries) / sizeof(entries[0]))

static size_t
make_new(char *out, unsigned char order)
{
	const uint32_t strings = 48 + ENTRIES * 24;
	size_t at, i;

	memset(out, 0, 48);
	put(out, 0, "glibc-ld.so.cache1.1", 20);
	put_u32(out, 20, ENTRIES);
	put_u32(out, 24, sizeof(STRINGS));
	out[28] = (char)order;
	for (i = 0, at = 48; i < ENTRIES; i++) {
		at = put_u32(out, at, entries[i].flags);
		at = put_u32(out, at, strings + entries[i].key);
		at = put_u32(out, at, strings + entries[i].value);
		at = put_u32(out, at, 0);
		at = put(out, at, &entries[i].hwcap, 8);
	}
	return put(out, at, STRINGS, sizeof(STRINGS));
}

static size_t
make_old(char *out)
{
	size_t at, i;

	memset(out, 0, 16);
	put(out, 0, "ld.so-1.7.0", 11);
	put_u32(out, 12, ENTRIES);
	for (i = 0, at = 16; i < ENTRIES; i++) {
		at = put_u32(out, at, entries[i].flags);
		at = put_u32(out, at, entries[i].key);
		at = put_u32(out, at, entries[i].value);
	}
	return put(out, at, STRINGS, sizeof(STRINGS));
}

/* Parses a copy of exactly that size, so that a sanitizer notices reads beyond it. */
static int
parse(const char *bytes, size_t len, size_t *n, struct why *why)
{
	autofree char *copy = malloc(len > 0 ? len : 1);
	autoldcache struct ldcache c = { 0 };
	int ret;

	if (copy == NULL)
		abort();
	memcpy(copy, bytes, len);
	ret = ldcache_parse(&c, copy, len, why);
	*n = c.n;
	return ret;
}

static void
test_formats(void)
{
	char raw[1024], both[2048];
	struct ldcache c;
	struct why why;
	size_t len, old;

	len = make_new(raw, 2);
	ok(ldcache_parse(&c, raw, len, &why) == 0, "a cache in the newer format is read");
	is_int(c.n, 3, "the three usable entries of the newer format are found");
	is_str(c.v[0].name, "libcuda.so.1", "an entry has its name");
	is_str(c.v[0].path, "/usr/lib64/libcuda.so.1", "an entry has its path");
	ok(!c.v[0].hwcap && c.v[1].hwcap && strcmp(c.v[1].name, "libfast.so.2") == 0,
	    "an entry for certain processors is marked");
	ldcache_free(&c);
	len = make_new(raw, 0);
	ok(ldcache_parse(&c, raw, len, &why) == 0 && c.n == 3,
	    "a cache without a byte order is read");
	ldcache_free(&c);
	old = make_old(raw);
	ok(ldcache_parse(&c, raw, old, &why) == 0, "a cache in the older format is read");
	is_int(c.n, 3, "the three usable entries of the older format are found");
	is_str(c.v[0].path, "/usr/lib64/libcuda.so.1", "an entry has its path");
	ldcache_free(&c);
	/*
	 * both formats in one file, as glibc 2.2 to 2.31 wrote them: the older format uses the
	 * strings of the newer one
	 */
	memset(both, 0, sizeof(both));
	memcpy(both, raw, 16 + ENTRIES * 12);
	len = (16 + ENTRIES * 12 + 7) / 8 * 8;
	len += make_new(both + len, 2);
	ok(ldcache_parse(&c, both, len, &why) == 0 && c.n == 3 && c.v[1].hwcap,
	    "of both formats in one file, the newer one is read");
	ldcache_free(&c);
}

static void
test_bad(void)
{
	char raw[1024];
	struct why why;
	size_t i, k, n, len, sound = 0;

	ok(parse("", 0, &n, &why) == -1 && why.code == WHY_DATA, "an empty file is refused");
	ok(parse("ld.so-1.8.0\0\0\0\0\0", 16, &n, &why) == -1, "another format is refused");
	len = make_new(raw, 3);
	ok(parse(raw, len, &n, &why) == -1 && strstr(why.text, "byte order") != NULL,
	    "another byte order is refused");
	len = make_new(raw, 1);
	ok(parse(raw, len, &n, &why) == -1, "an unknown byte order is refused");
	len = make_new(raw, 2);
	put_u32(raw, 20, UINT32_MAX);
	ok(parse(raw, len, &n, &why) == -1 && strstr(why.text, "cut off") != NULL,
	    "an impossible number of entries is refused");
	len = make_old(raw);
	put_u32(raw, 12, UINT32_MAX);
	ok(parse(raw, len, &n, &why) == -1,
	    "an impossible number of entries is refused in the older format");
	for (k = 0; k < 2; k++) {
		len = k == 0 ? make_new(raw, 2) : make_old(raw);
		for (i = 0; i < len - 1; i++)
			ok(parse(raw, i, &n, &why) == -1,
			    "a cache truncated to %zu bytes is refused", i);
		for (i = 0; i < len; i++) {
			len = k == 0 ? make_new(raw, 2) : make_old(raw);
			raw[i] = (char)(raw[i] ^ 0xff);
			why = (struct why){ 0 };
			ok((parse(raw, len, &n, &why) == -1) == (why.code == WHY_DATA),
			    "with byte %zu changed, the cache is read or refused with a reason", i);
			sound += why.code == 0;
		}
	}
	ok(sound > 0, "some changed caches are read");
}

static void
test_own(void)
{
	size_t i, len, libc = 0;
	autofree char *bytes = file_read_at(AT_FDCWD, "/etc/ld.so.cache", LDCACHE_MAX, &len);
	autoldcache struct ldcache c = { 0 };
	struct why why = { 0 };
	int fd;

	if (bytes == NULL && (fd = open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC)) != -1) {
		bytes = file_read_fd(fd, LDCACHE_MAX, &len);
		close(fd);
	}
	if (bytes == NULL) {
		skip("this machine's cache", "this machine has no cache");
		return;
	}
	ok(ldcache_parse(&c, bytes, len, &why) == 0, "this machine's cache is read: %s", why.text);
	for (i = 0; i < c.n; i++)
		libc += strcmp(c.v[i].name, "libc.so.6") == 0;
	ok(libc > 0, "the C library is among its %zu entries", c.n);
}

int
main(void)
{
	test_formats();
	test_bad();
	test_own();
	return done_testing();
}
