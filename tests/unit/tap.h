/*
 * All tools of a test program. The program makes checks, which print TAP, and ends with «return
 * done_testing();», which is not 0 if a check failed or none was made.
 *
 *	ok(n > 0, "there are %zu GPUs", n);
 *	is_int(n, 2, "two GPUs are found");
 *	is_str(gpu.pci, "0000:3b:00.0", "the GPU has its address");
 *
 * A description without arguments is plain text; with arguments (at most seven) it is a printf
 * format. Each check returns whether it held. skip_all() is for a program that cannot run on this
 * machine, skip() for one check. emulated(): qemu-user runs this program, which was built for
 * another architecture (tests/arm64.sh).
 */
#ifndef GPUHELPER_TESTS_TAP_H
#define GPUHELPER_TESTS_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ok(cond, ...) \
	tap_check(__FILE__, __LINE__, (cond) ? true : false, TAP_FORMAT(__VA_ARGS__))
#define is_int(got, want, ...) \
	tap_int(__FILE__, __LINE__, (intmax_t)(got), (intmax_t)(want), TAP_FORMAT(__VA_ARGS__))
#define is_str(got, want, ...) \
	tap_str(__FILE__, __LINE__, (got), (want), TAP_FORMAT(__VA_ARGS__))

/* one argument x becomes "%s", x, because a name from a file is not a format */
#define TAP_FORMAT(...) \
	TAP_EIGHTH(__VA_ARGS__, TAP_MANY, TAP_MANY, TAP_MANY, TAP_MANY, TAP_MANY, TAP_MANY, \
	    TAP_MANY, TAP_ONE, 0)(__VA_ARGS__)
#define TAP_EIGHTH(a, b, c, d, e, f, g, h, i, ...) i
#define TAP_ONE(x) "%s", x
#define TAP_MANY(...) __VA_ARGS__

static unsigned tap_run, tap_failed;

static inline bool __attribute__((format(printf, 4, 0)))
tap_vcheck(const char *file, int line, bool held, const char *fmt, va_list ap)
{
	char text[512];
	size_t i;

	vsnprintf(text, sizeof(text), fmt, ap);
	for (i = 0; text[i] != '\0'; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == '#')
			text[i] = '?';	/* a newline or a directive would break the protocol */
	printf("%sok %u - %s\n", held ? "" : "not ", ++tap_run, text);
	if (!held) {
		tap_failed++;
		printf("# failed at %s:%d\n", file, line);
	}
	fflush(stdout);
	return held;
}

static inline bool __attribute__((format(printf, 4, 5)))
tap_check(const char *file, int line, bool held, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	held = tap_vcheck(file, line, held, fmt, ap);
	va_end(ap);
	return held;
}

static inline bool __attribute__((format(printf, 5, 6)))
tap_int(const char *file, int line, intmax_t got, intmax_t want, const char *fmt, ...)
{
	bool held = got == want;
	va_list ap;

	va_start(ap, fmt);
	tap_vcheck(file, line, held, fmt, ap);
	va_end(ap);
	if (!held)
		printf("#   got: %jd\n#  want: %jd\n", got, want);
	return held;
}

/* NULL is a value of its own: it equals only NULL. */
static inline bool __attribute__((format(printf, 5, 6)))
tap_str(const char *file, int line, const char *got, const char *want, const char *fmt, ...)
{
	bool held = got == NULL || want == NULL ? got == want : strcmp(got, want) == 0;
	va_list ap;

	va_start(ap, fmt);
	tap_vcheck(file, line, held, fmt, ap);
	va_end(ap);
	if (!held)
		printf("#   got: %s\n#  want: %s\n", got ? got : "(null)", want ? want : "(null)");
	return held;
}

static inline bool
emulated(void)
{
	return getenv("TESTS_EMULATED") != NULL;
}

/* Rounds of a test with random input: fewer where each takes many times longer. The native program does «all». */
static inline unsigned
rounds(unsigned all)
{
#if defined(__SANITIZE_ADDRESS__)
	all /= 4;
#endif
	return emulated() ? all / 10 : all;
}

static inline void
skip(const char *what, const char *reason)
{
	printf("ok %u - %s # SKIP %s\n", ++tap_run, what, reason);
}

static inline void
skip_all(const char *reason)
{
	printf("1..0 # SKIP %s\n", reason);
	exit(0);
}

static inline int
done_testing(void)
{
	printf("1..%u\n", tap_run);
	if (tap_failed > 0)
		printf("# %u of %u failed\n", tap_failed, tap_run);
	fflush(stdout);		/* a sanitizer that ends the program does not flush */
	return tap_failed > 0 || tap_run == 0;
}

/* The directory tests/: $TESTS_DIR, the first argument, or "tests". */
static inline const char *
tests_dir(int argc, char **argv)
{
	const char *dir = getenv("TESTS_DIR");

	return dir != NULL ? dir : argc > 1 ? argv[1] : "tests";
}

#endif
