/* Reads and checks the text of a CDI spec. */
#ifndef GPUHELPER_READ_CDI_CDISPEC_H
#define GPUHELPER_READ_CDI_CDISPEC_H

#include "../../cdi/cdi.h"

/*
 * Reads one spec. Returns false if it is invalid, with all faults in *f, or if memory was short (f->starved). Of an
 * invalid spec, only s->empty and cdi_kind_of() may be used.
 * Returns true with f->unsafe greater than 0 for a valid spec that is unsafe for a helper that runs as root.
 * The caller calls cdi_free() in any case.
 */
bool cdi_parse(struct cdi_spec *s, enum cdi_format format, const char *text, size_t len, struct cdi_faults *f);

/* Adds a CDI_UNSAFE fault to *f for each of the spec's additionalGids that is among these groups. */
void cdi_check_groups(const struct cdi_spec *s, const struct cdi_group *groups, size_t n, struct cdi_faults *f);

#endif
