/* gpuhelperctl cdi: what its parts share. */
#ifndef GPUHELPER_CTL_CDI_H
#define GPUHELPER_CTL_CDI_H

#include <stdio.h>

#include "../host/cdidirs.h"
#include "ctl.h"

/* «file:line:column: ...» */
void cdi_say_fault(FILE *out, const char *file, const struct cdi_fault *v);
json_t *cdi_fault_json(const char *file, const struct cdi_fault *v);

/* The directories by their real names, those that there are; the caller frees.  NULL with *why. */
char *cdi_spec_dirs(const char *given, struct why *why);

/* On stderr, what is wrong with any of it; returns whether anything was.  Unsafe specs only where asked for. */
bool cdi_say_problems(const struct cdi_registry *r, bool unsafe);

#endif
