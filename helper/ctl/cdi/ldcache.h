/*
 * The cache of ldconfig(8), /etc/ld.so.cache, as bytes (glibc, sysdeps/generic/dl-cache.h): a struct
 * cache_file alone (before glibc 2.2), followed by a struct cache_file_new, or the latter alone (since 2.32).
 */
#ifndef GPUHELPER_CTL_CDI_LDCACHE_H
#define GPUHELPER_CTL_CDI_LDCACHE_H

#include <stdbool.h>
#include <stddef.h>

#include "../../base/why.h"

#define LDCACHE_MAX (16 * 1024 * 1024)	/* bytes; a desktop's has 200 kB */

struct ldcache_entry {
	const char *name;	/* what programs ask for: "libc.so.6" */
	const char *path;	/* absolute */
	bool hwcap;		/* for some processors only */
};

struct ldcache {
	struct ldcache_entry *v;	/* in the cache's order; the loader takes the first that fits */
	size_t n;
};

/*
 * Parses len bytes, which must outlive *c, because it points into them. Skips entries of libc 5, entries that
 * are no ELF libraries, and entries without an absolute path. Returns 0, or -1 with *why for another byte
 * order, a truncated file, or a string outside of it.
 */
int ldcache_parse(struct ldcache *c, const char *bytes, size_t len, struct why *why);
void ldcache_free(struct ldcache *c);
#define autoldcache __attribute__((cleanup(ldcache_free)))

#endif
