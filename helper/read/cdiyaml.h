/*
 * A CDI spec's text as a tree (cditree.h), where it is YAML: what libyaml reads, and of that only what
 * every YAML reader reads alike: one document, no anchors, aliases, tags,
 * directives or merge keys; a plain (unquoted) scalar that YAML 1.1 and 1.2, or
 * two readers of 1.1, take for different things (no, on, 0660, 0o660, 1_000,
 * 1:30, 2026-01-02) is CDIT_UNCLEAR and good for nothing.
 */
#ifndef GPUHELPER_READ_CDIYAML_H
#define GPUHELPER_READ_CDIYAML_H

#include "cditree.h"

/* False with at least one fault (or f->starved); the caller calls cdit_free() in either case. */
bool cdit_yaml(struct cdit *t, const char *text, size_t len, struct cdi_faults *f);

#endif
