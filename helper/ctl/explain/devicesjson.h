/* Reads the output of «gpuhelperctl devices --json» from any host back into an inventory. */
#ifndef GPUHELPER_CTL_EXPLAIN_DEVICESJSON_H
#define GPUHELPER_CTL_EXPLAIN_DEVICESJSON_H

#include <jansson.h>

#include "../../gpu/gpu.h"

/*
 * Reads the file; "-" is standard input.  *out must be empty.  -1 with *why, which names the file.  The caller calls
 * inventory_free() in any case.
 */
int devices_load(const char *path, struct inventory *out, struct why *why);

/* The same for a parsed object; *why names it «shown». */
int devices_of_json(const json_t *j, const char *shown, struct inventory *out, struct why *why);

#endif
