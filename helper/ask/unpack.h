/* Members of a reply's JSON. Each function is run with the client's rights; -1: it is malformed, or memory is short. */
#ifndef GPUHELPER_ASK_UNPACK_H
#define GPUHELPER_ASK_UNPACK_H

#include <jansson.h>

#include "../lease/edits.h"

int unpack_u32(const json_t *n, uint32_t *out);
int unpack_number(const json_t *j, const char *key, uint32_t *out);
/* Gets an array of texts. */
int unpack_strings(const json_t *j, struct strlist *out);
/* Gets a text that may be missing. */
int unpack_text(const json_t *j, const char *key, char **out);
/* Adds a mount. */
int unpack_mount(const json_t *j, struct edits *e);

#endif
