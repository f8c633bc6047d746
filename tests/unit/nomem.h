/*
 * Makes memory run out, with the test program's own malloc(), calloc() and realloc(). The call with
 * the number fail_at, counted from now, fails; with fail_all, all calls after it fail, too. With -1
 * none fails.
 *
 * A sanitizer has its own allocator. With a sanitizer, this file defines nothing, and the test
 * calls skip().
 */
#ifndef GPUHELPER_TESTS_NOMEM_H
#define GPUHELPER_TESTS_NOMEM_H

#if !defined(__SANITIZE_ADDRESS__)
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

static long fail_at = -1;
static bool fail_all;

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void *malloc(size_t n);
void *calloc(size_t n, size_t size);
void *realloc(void *p, size_t n);

static bool
fails(void)
{
	if (fail_at < 0 || !(fail_at == 0 ? fail_all : fail_at-- == 1))
		return false;
	errno = ENOMEM;
	return true;
}

void *
malloc(size_t n)
{
	return fails() ? NULL : __libc_malloc(n);
}

void *
calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

void *
realloc(void *p, size_t n)
{
	return fails() ? NULL : __libc_realloc(p, n);
}

/*
 * Calls fn again and again. The first time, its nth allocation fails, and the second time all after
 * it fail, too; n grows until fn makes fewer allocations. Each result must be the same as with
 * enough memory, or NULL.
 */
static inline void
starve(const char *what, char *(*fn)(void))
{
	char *right = fn(), *got = NULL;
	unsigned wrong = 0;
	long n = 0;
	int all = 0;

	if (!ok(right != NULL, "%s: with enough memory there is a result", what))
		return;
	do {
		n += !all;
		free(got);
		fail_all = all != 0;
		fail_at = n;
		got = fn();
		if (fail_at <= 0 && got != NULL && strcmp(got, right) != 0 && wrong++ < 3)
			ok(false, "%s: allocation %ld fails%s: %s", what, n, all ? ", and all after it" : "", got);
		all = fail_at > 0 ? 2 : !all;
	} while (all < 2);
	fail_at = -1;
	free(got);
	free(right);
	is_int(wrong, 0,
	    "%s: whichever of %ld allocations fails, the result is right or NULL", what, n - 1);
}

#endif

#endif
