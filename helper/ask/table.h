/*
 * What gpuhelper-read has parsed, as lines (lines.h): settings, policies and CDI specs. Each function writes
 * or reads a value; a value that was read must be freed in any case. tablecheck.h checks whether the contents
 * are allowed.
 */
#ifndef GPUHELPER_ASK_TABLE_H
#define GPUHELPER_ASK_TABLE_H

#include "../base/lines.h"
#include "../cdi/cdi.h"
#include "../policy/policyset.h"
#include "../policy/settings.h"

void settings_lines(struct lines *t, struct settings *s);
/* The words of one issuer, and further lines. */
void issuer_lines(struct lines *t, struct issuer_setting *i);
void policy_set_lines(struct lines *t, struct policy_set *s);

/*
 * The result of parsing a CDI spec. A usable spec has what a helper needs: no annotations, network devices or Intel RDT
 * classes. Of the faults, only the counts and the first fault are sent.
 */
void cdi_file_lines(struct lines *t, bool *usable, struct cdi_spec *s, struct cdi_faults *f);

#endif
