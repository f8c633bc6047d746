/* Refuses keys of a file (config.json, process.json, resources) that Go and C would read differently. */
#ifndef GPUHELPER_USER_SPEC_EXACTKEYS_H
#define GPUHELPER_USER_SPEC_EXACTKEYS_H

#include "../../json/doc.h"

/*
 * runc's JSON reader takes «Linux» for «linux»: Go's encoding/json folds case, U+017F to s and U+212A to k.
 * Refuses keys that runc would read and this program would not. «file» begins the message. Returns 0, for
 * anything but an object as well, or -1 with *why.
 */
int exact_keys(const struct doc *d, uint32_t obj, const char *file, struct why *why);

#endif
