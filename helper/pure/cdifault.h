/*
 * What is wrong with a CDI spec: all of it, each with its place in the text.
 *
 * Three kinds are told apart.  CDI_INVALID: no reader of CDI should take it.
 * CDI_UNSAFE: the specification and its reference library take it, but who acts
 * on it with more rights than the container's user must not.  CDI_WARNING: all may
 * take it, and a person should look at it first.
 */
#ifndef GPUHELPER_PURE_CDIFAULT_H
#define GPUHELPER_PURE_CDIFAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "why.h"

#define CDI_FAULTS_MAX 200	/* of one file; more are only counted */

enum cdi_layer { CDI_INVALID, CDI_UNSAFE, CDI_WARNING };

struct cdi_fault {
	enum cdi_layer layer;
	uint32_t line, column;	/* from 1; line 0: the file as a whole */
	char path[128];		/* "devices[0].containerEdits.env[1]"; "" for the whole of it */
	char text[256];
};

struct cdi_faults {
	struct cdi_fault *v;
	size_t n;			/* of those in v */
	size_t invalid, unsafe, warnings;	/* of all */
	size_t unsafe_hooks;		/* of the unsafe ones, those about hooks: who runs none need not mind */
	bool starved;			/* memory ran short: what was read can't be believed */
};

void cdi_fault(struct cdi_faults *f, enum cdi_layer layer, uint32_t line, uint32_t column, const char *path,
    const char *fmt, ...) __attribute__((format(printf, 6, 7)));
/* In the order of their places; those of one place as they were found. */
void cdi_faults_sort(struct cdi_faults *f);
/* "invalid", "unsafe", "warning" */
const char *cdi_layer_name(enum cdi_layer layer);
/* «line:column: unsafe: path: text», what there is of it. */
void cdi_fault_line(const struct cdi_fault *v, char *out, size_t size);
void cdi_faults_free(struct cdi_faults *f);
#define autocdifaults __attribute__((cleanup(cdi_faults_free)))

#endif
