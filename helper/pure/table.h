/*
 * What gpuhelper-read has read, as lines (lines.h): the settings, the policies, CDI specs.  Each function writes a
 * value, or reads it back; the value is then to be freed, whatever became of it.  Whether what it says may be said is
 * for others to see (tablecheck.h).
 */
#ifndef GPUHELPER_PURE_TABLE_H
#define GPUHELPER_PURE_TABLE_H

#include "cdi.h"
#include "lines.h"
#include "policyset.h"
#include "settings.h"

void settings_lines(struct lines *t, struct settings *s);
void policy_set_lines(struct lines *t, struct policy_set *s);

/*
 * What was found in the text of a CDI spec.  Of a spec that is usable what a helper needs: no annotations, network
 * devices and classes of Intel RDT.  Of faults how many there are, and the first.
 */
void cdi_file_lines(struct lines *t, bool *usable, struct cdi_spec *s, struct cdi_faults *f);

#endif
