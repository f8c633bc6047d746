/* The faults of a file in /etc/gpuhelper, each with its line. */
#ifndef GPUHELPER_POLICY_CONFFAULT_H
#define GPUHELPER_POLICY_CONFFAULT_H

#include <stdbool.h>
#include <stddef.h>

#include "../base/why.h"

#define CONF_MAX (256 * 1024)	/* bytes in one file */

/* All that is wrong with a file, in the order in which it was found. */
struct fault {
	unsigned line;		/* 0: the whole file */
	bool warning;
	char text[512];
};
struct faults {
	struct fault *v;
	size_t n, errors;	/* errors: without warnings */
};
void fault_add(struct faults *f, unsigned line, bool warning, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void faults_free(struct faults *f);
#define autofaults __attribute__((cleanup(faults_free)))

#endif
