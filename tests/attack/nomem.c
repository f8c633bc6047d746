/*
 * A library whose Nth allocation fails (NOMEM=N in the environment); with N+ all later ones fail, too.  It reports
 * this on descriptor 2, and also when the log is opened.  It counts from its constructor on, including the C
 * library's own allocations (fopen(3), opendir(3), strdup(3)).
 *
 * LD_PRELOAD loads it.  Setuid programs and static programs ignore LD_PRELOAD, so the tests preload it into a helper
 * that root starts and that is linked dynamically from the same objects.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* glibc's own names for the replaced functions */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t align, size_t size);

static unsigned long at, seen;
static int on;

static void
say(const char *text)
{
	(void)!write(2, text, strlen(text));
}

static int
fails(void)
{
	if (at == 0 || ++seen < at || (seen > at && !on))
		return 0;
	if (seen == at)
		say("nomem\n");
	errno = ENOMEM;
	return 1;
}

void *
malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *
calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

/* reallocarray(3) calls this. */
void *
realloc(void *p, size_t size)
{
	return fails() ? NULL : __libc_realloc(p, size);
}

void *
memalign(size_t align, size_t size)
{
	return fails() ? NULL : __libc_memalign(align, size);
}

void *
aligned_alloc(size_t align, size_t size)
{
	return memalign(align, size);
}

int
posix_memalign(void **out, size_t align, size_t size)
{
	void *p = memalign(align, size);

	if (p == NULL)
		return ENOMEM;
	*out = p;
	return 0;
}

int
openat(int dir, const char *path, int flags, ...)
{
	unsigned mode = 0;
	va_list ap;

	if (flags & O_CREAT) {
		va_start(ap, flags);
		mode = va_arg(ap, unsigned);
		va_end(ap);
	}
	if (strcmp(path, "audit.jsonl") == 0)
		say("audit\n");
	return (int)syscall(SYS_openat, dir, path, flags, mode);
}

static void __attribute__((constructor))
loaded(void)
{
	const char *text = getenv("NOMEM");
	char *end = NULL;

	if (text != NULL) {
		at = strtoul(text, &end, 10);
		on = *end == '+';
	}
}
