/*
 * Makes memory run out: a test program's own malloc(), calloc() and realloc().  From now on the call number fail_at
 * fails; with fail_all, all calls after it fail, too; -1: none.
 *
 * A sanitizer brings its own allocator.  With one, this file defines nothing, and the test says so with skip().
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
 * Calls fn over and over: its nth allocation fails, and then, the second time, all
 * after it, until it makes fewer than n.  Each time it gives what it gave with
 * memory enough, or NULL.
 */
static inline void
starve(const char *what, char *(*fn)(void))
{
	char *right = fn(), *got = NULL;
	unsigned wrong = 0;
	long n = 0;
	int all = 0;

	if (!ok(right != NULL, "%s: with memory enough", what))
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
	is_int(wrong, 0, "%s: whichever of %ld allocations fails, it is right or it is none", what, n - 1);
}

#endif

#endif
