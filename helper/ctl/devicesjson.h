/* What «gpuhelperctl devices --json» of some host printed, as that host's GPUs. */
#ifndef GPUHELPER_CTL_DEVICESJSON_H
#define GPUHELPER_CTL_DEVICESJSON_H

#include <jansson.h>

#include "../pure/gpu.h"

/*
 * Reads the file, "-" for standard input.  -1 with *why, which names it, where it is not of that form.
 * inventory_free() in either case; *out is to be empty.
 */
int devices_load(const char *path, struct inventory *out, struct why *why);

/* The same of an object that was read; «shown» is what *why calls it. */
int devices_of_json(const json_t *j, const char *shown, struct inventory *out, struct why *why);

#endif
