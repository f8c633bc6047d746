/*
 * Reads the text of a CDI spec in YAML into a tree (cditree.h). libyaml parses it, and only what every YAML
 * reader reads alike is accepted: one document, no anchors, aliases, tags, directives or merge keys. A plain
 * (unquoted) scalar that YAML 1.1 and 1.2, or two readers of 1.1, read differently (no, on, 0660, 0o660,
 * 1_000, 1:30, 2026-01-02) becomes CDIT_UNCLEAR, which no value may be, except where a string is due and
 * cdit_same_text() holds.
 */
#ifndef GPUHELPER_READ_CDI_CDIYAML_H
#define GPUHELPER_READ_CDI_CDIYAML_H

#include "cditree.h"

/* False with at least one fault, or with f->starved. The caller calls cdit_free() in any case. */
bool cdit_yaml(struct cdit *t, const char *text, size_t len, struct cdi_faults *f);

#endif
