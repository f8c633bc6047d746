/*
 * Why something was refused: one line for a person, and an exit status.
 *
 * A function that can refuse takes a struct why, fills it once, at the place that knows the reason, and
 * returns -1; its callers pass it up unchanged. The text is one line, lower case, names the object and says
 * what to do. Build log and audit record have the same text.
 */
#ifndef GPUHELPER_BASE_WHY_H
#define GPUHELPER_BASE_WHY_H

#include <stddef.h>

/* Exit statuses of gpuhelper and gpuhelperctl; the numbers are sysexits(3)'s. */
enum why_code {
	WHY_NONE = 0,
	WHY_USAGE = 64,		/* wrong command line */
	WHY_DATA = 65,		/* bad request, bundle, token or spec file */
	WHY_UNSIGNED = 67,	/* no key of this host has signed the token: newer keys may have */
	WHY_ABSENT = 69,	/* no such device, module or runtime */
	WHY_BUG = 70,		/* memory is short, or a state that should be impossible */
	WHY_IO = 74,		/* the host did not allow a read or write */
	WHY_AGAIN = 75,		/* busy, or short of a resource: try again */
	WHY_DENIED = 77,	/* policy or identity do not allow it */
	WHY_CONFIG = 78,	/* /etc/gpuhelper is wrong, or others than root can change it */
};

struct why {
	enum why_code code;
	char text[512];		/* one line, no newline, always terminated */
};

/*
 * Fills *w with a code and a printf-like line, cut to fit and with control bytes replaced. Returns -1, so
 * that callers can write «return refuse(w, WHY_DATA, "...")».
 */
int refuse(struct why *w, enum why_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* refuse() for failed allocations. */
int refuse_nomem(struct why *w);

/* Puts «prefix» and ": " before the line that *w already holds; returns -1. */
int refuse_within(struct why *w, const char *prefix);

#endif
