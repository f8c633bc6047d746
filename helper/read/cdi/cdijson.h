/* Reads the text of a CDI spec in JSON (RFC 8259) into a tree (cditree.h). */
#ifndef GPUHELPER_READ_CDI_CDIJSON_H
#define GPUHELPER_READ_CDI_CDIJSON_H

#include "cditree.h"

/* False with at least one fault, or with f->starved. The caller calls cdit_free() in any case. */
bool cdit_json(struct cdit *t, const char *text, size_t len, struct cdi_faults *f);

#endif
