/*
 * Why something was refused: one line for a person and one exit status.
 *
 * Every function that can refuse takes a struct why, fills it once, at the
 * place that knows the reason, and returns -1; callers pass it up unchanged.
 * The text is one line, lower case, names the object and says what to do; the
 * same text goes into the build log and the audit record.
 */
#ifndef GPUHELPER_PURE_WHY_H
#define GPUHELPER_PURE_WHY_H

#include <stddef.h>

/* Exit statuses of gpuhelper and gpuhelperctl; the numbers are sysexits(3)'s. */
enum why_code {
	WHY_NONE = 0,
	WHY_USAGE = 64,		/* wrong command line */
	WHY_DATA = 65,		/* bad request, bundle, token or spec file */
	WHY_ABSENT = 69,	/* no such device, module or runtime */
	WHY_BUG = 70,		/* memory, or a state that can't be */
	WHY_IO = 74,		/* the host did not let us read or write */
	WHY_AGAIN = 75,		/* busy or short of a resource: try again */
	WHY_DENIED = 77,	/* policy or identity says no */
	WHY_CONFIG = 78,	/* /etc/gpuhelper is wrong or not to be trusted */
};

struct why {
	enum why_code code;
	char text[512];		/* one line, no newline, always terminated */
};

/*
 * Fills *w with a code and a printf-style line (cut at the size of the field,
 * control bytes made harmless) and returns -1, so that a caller can write
 * «return refuse(w, WHY_DATA, "...")».
 */
int refuse(struct why *w, enum why_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* refuse() for memory that could not be had. */
int refuse_nomem(struct why *w);

/* Puts «prefix» and ": " before the line that *w already holds; returns -1. */
int refuse_within(struct why *w, const char *prefix);

#endif
