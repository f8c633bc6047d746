/* A CDI spec's text as a tree (cditree.h), where it is JSON (RFC 8259). */
#ifndef GPUHELPER_READ_CDIJSON_H
#define GPUHELPER_READ_CDIJSON_H

#include "cditree.h"

/* False with at least one fault (or f->starved); the caller calls cdit_free() in either case. */
bool cdit_json(struct cdit *t, const char *text, size_t len, struct cdi_faults *f);

#endif
