/* Notices whether jansson ran out of memory. */
#ifndef GPUHELPER_JSON_WATCHJSON_H
#define GPUHELPER_JSON_WATCHJSON_H

#include <jansson.h>
#include <stdbool.h>

/*
 * jansson does not always report that memory ran short. Its results between these two calls are complete if
 * the second one returns false.
 */
void watchjson_begin(void);
bool watchjson_starved(void);

#endif
