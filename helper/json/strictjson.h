/* Parses JSON texts of requests, replies, tokens and keys strictly, with jansson. */
#ifndef GPUHELPER_JSON_STRICTJSON_H
#define GPUHELPER_JSON_STRICTJSON_H

#include <jansson.h>
#include <stddef.h>

#include "../base/why.h"

#define STRICTJSON_DEPTH 16	/* nested arrays and objects */

/*
 * Parses a strict JSON object: no duplicate names, no NUL (raw or escaped), UTF-8, nothing after it, at most
 * STRICTJSON_DEPTH deep, which is checked before jansson sees it, because jansson recurses. Returns a new
 * reference, or NULL with WHY_DATA or WHY_BUG. The message has place and kind of the error, never the text,
 * which may be a token. jansson seeds its hash from /dev/urandom, unless the program has called
 * json_object_seed().
 */
json_t *strictjson_object(const char *text, size_t len, struct why *why);

#endif
