/* CDI specs that gpuhelper-read has parsed, as lines (lines.h), like parsed.h. */
#ifndef GPUHELPER_ASK_PARSEDSPEC_H
#define GPUHELPER_ASK_PARSEDSPEC_H

#include "../base/lines.h"
#include "../cdi/cdi.h"

/*
 * The result of parsing a CDI spec. A usable spec has what a helper needs: no annotations, network devices or Intel RDT
 * classes. Of the faults, only the counts and the first fault are sent.
 */
void cdi_file_lines(struct lines *t, bool *usable, struct cdi_spec *s, struct cdi_faults *f);

#endif
