/*
 * The cache of ldconfig(8), /etc/ld.so.cache, as bytes (glibc,
 * sysdeps/generic/dl-cache.h: struct cache_file, of before glibc 2.2 and alone
 * then, or with a struct cache_file_new behind it, which stands alone since 2.32).
 */
#ifndef GPUHELPER_PURE_LDCACHE_H
#define GPUHELPER_PURE_LDCACHE_H

#include <stdbool.h>
#include <stddef.h>

#include "why.h"

#define LDCACHE_MAX (16 * 1024 * 1024)	/* bytes; a desktop's has 200 kB */

struct ldcache_entry {
	const char *name;	/* what programs ask for: "libc.so.6" */
	const char *path;	/* absolute */
	bool hwcap;		/* for some processors only */
};

struct ldcache {
	struct ldcache_entry *v;	/* in the cache's order, in which the loader takes the first that fits */
	size_t n;
};

/*
 * Reads len bytes, which must outlive *c: the strings are in there.  Of another
 * byte order than this machine's, cut off, or with strings that are outside of it
 * or do not end in it: -1 with *why.  Entries that are of libc 5 or no ELF
 * libraries, or have a path that is not absolute, are left out.
 */
int ldcache_parse(struct ldcache *c, const char *bytes, size_t len, struct why *why);
void ldcache_free(struct ldcache *c);
#define autoldcache __attribute__((cleanup(ldcache_free)))

#endif
