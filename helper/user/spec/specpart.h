/* Gets members of a config.json, and refuses those of a wrong type by their name. */
#ifndef GPUHELPER_USER_SPEC_SPECPART_H
#define GPUHELPER_USER_SPEC_SPECPART_H

#include "../../json/doc.h"

/* Refuses the config.json: the message begins with its name. Returns -1. */
int spec_refuse(struct why *why, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Gets a member, which must be of this kind if present. null counts as absent, as in Go. «where» names it in messages.
 * DOC_NONE in *out: it is absent. Returns 0, or -1 with *why, also if a key of an object is not spelt exactly
 * (exactkeys.h).
 */
int spec_part(const struct doc *d, uint32_t obj, const char *key, enum doc_kind kind, const char *where, uint32_t *out,
    struct why *why);

/* Gets the text of a member, which the caller frees; NULL in *out if it is absent. Returns 0, or -1 with *why. */
int spec_string(const struct doc *d, uint32_t obj, const char *key, const char *where, char **out, struct why *why);

#endif
