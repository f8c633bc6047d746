/*
 * The faults of a CDI spec, each with its place in the text.
 * CDI_INVALID: no reader of CDI should accept it. CDI_UNSAFE: specification and reference library accept it,
 * but a program with more rights than the container's user must not act on it. CDI_UNSAFE_HOOK: the same of a hook,
 * which does not matter where hooks do not run. CDI_WARNING: acceptable, but an administrator should look at it first.
 */
#ifndef GPUHELPER_CDI_CDIFAULT_H
#define GPUHELPER_CDI_CDIFAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/why.h"

#define CDI_FAULTS_MAX 200	/* kept for one file; further ones are only counted */
#define CDI_PATH_MAX 400	/* room for a path with the longest key of an annotation */

enum cdi_layer { CDI_INVALID, CDI_UNSAFE, CDI_UNSAFE_HOOK, CDI_WARNING };

struct cdi_fault {
	enum cdi_layer layer;
	uint32_t line, column;	/* from 1; line 0: the whole file */
	char path[CDI_PATH_MAX];	/* "devices[0].containerEdits.env[1]"; "": the whole spec */
	char text[400];
};

struct cdi_faults {
	struct cdi_fault *v;
	size_t n;			/* kept in v */
	size_t invalid, unsafe, warnings;	/* all, kept or not */
	size_t unsafe_hooks;		/* those of «unsafe» that are CDI_UNSAFE_HOOK */
	bool starved;			/* memory ran short, so that the result can't be trusted */
};

void cdi_fault(struct cdi_faults *f, enum cdi_layer layer, uint32_t line, uint32_t column, const char *path,
    const char *fmt, ...) __attribute__((format(printf, 6, 7)));
/* The first fault that keeps the spec from being used where hooks do not run; else the first one, or NULL. */
const struct cdi_fault *cdi_first_fault(const struct cdi_faults *f);
/* Makes warnings of all CDI_UNSAFE_HOOK: for a host where hooks do not run. */
void cdi_faults_excuse_hooks(struct cdi_faults *f);
/* Sorts by place; faults of one place stay in the order in which they were found. */
void cdi_faults_sort(struct cdi_faults *f);
/* "invalid", "unsafe", "warning" */
const char *cdi_layer_name(enum cdi_layer layer);
/* Makes the text «line:column: unsafe: path: text» without the parts that are empty. */
void cdi_fault_line(const struct cdi_fault *v, char *out, size_t size);
void cdi_faults_free(struct cdi_faults *f);
#define autocdifaults __attribute__((cleanup(cdi_faults_free)))

#endif
