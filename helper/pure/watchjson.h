/* Whether jansson had the memory for what it did. */
#ifndef GPUHELPER_PURE_WATCHJSON_H
#define GPUHELPER_PURE_WATCHJSON_H

#include <jansson.h>
#include <stdbool.h>

/*
 * jansson does not always say that memory ran short.  What it did between these two calls is whole if the second says
 * false.
 */
void watchjson_begin(void);
bool watchjson_starved(void);

#endif
