/* Keys of a file that Go and C read differently (config.json, process.json, resources). */
#ifndef GPUHELPER_USER_EXACTKEYS_H
#define GPUHELPER_USER_EXACTKEYS_H

#include "../pure/doc.h"

/*
 * runc's JSON reader takes «Linux» for «linux» (Go's encoding/json folds case,
 * and U+017F to s, U+212A to k).  What it would read and we would not is refused:
 * -1 with *why, which begins with «file».  What is no object has no keys.
 */
int exact_keys(const struct doc *d, uint32_t obj, const char *file, struct why *why);

#endif
