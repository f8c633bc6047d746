/* JSON texts of requests, replies, tokens and keys, read by jansson, strictly. */
#ifndef GPUHELPER_PURE_STRICTJSON_H
#define GPUHELPER_PURE_STRICTJSON_H

#include <jansson.h>
#include <stddef.h>

#include "why.h"

#define STRICTJSON_DEPTH 16	/* arrays and objects within each other */

/*
 * Reads strict JSON, an object: no duplicate names, no NUL (raw or escaped),
 * UTF-8, nothing after it, at most STRICTJSON_DEPTH deep (looked at before
 * jansson, which recurses, sees it).  Returns a new reference, or NULL with
 * WHY_DATA (the place and kind of the error, never the text itself: it may be a
 * token) or WHY_BUG.  jansson seeds its hash by itself, from /dev/urandom,
 * unless the program has called json_object_seed() before.
 */
json_t *strictjson_object(const char *text, size_t len, struct why *why);

#endif
