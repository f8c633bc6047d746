/* Resources that free themselves at the end of their block. */
#ifndef GPUHELPER_BASE_CLEANUP_H
#define GPUHELPER_BASE_CLEANUP_H

#include <stdlib.h>

static inline void
cleanup_free_ptr(void *p)
{
	free(*(void **)p);
}

/* «autofree char *s = ...;»: freed when s goes out of scope. */
#define autofree __attribute__((cleanup(cleanup_free_ptr)))

#endif
