/* The text of a CDI spec, read and judged. */
#ifndef GPUHELPER_READ_CDISPEC_H
#define GPUHELPER_READ_CDISPEC_H

#include "../pure/cdi.h"

/*
 * Reads one spec.  False if it is invalid, with all that is wrong in *f, or if
 * memory ran short (f->starved).  True with f->unsafe not 0: it is CDI, but not
 * for a privileged helper.  cdi_free() in either case.
 */
bool cdi_parse(struct cdi_spec *s, enum cdi_format format, const char *text, size_t len, struct cdi_faults *f);

/* Adds to *f, as CDI_UNSAFE, what of the spec's additionalGids is among these groups. */
void cdi_judge_groups(const struct cdi_spec *s, const struct cdi_group *groups, size_t n, struct cdi_faults *f);

#endif
