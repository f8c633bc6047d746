/* The wrapper's side of requests (request.h). */
#ifndef GPUHELPER_ASK_REQUESTWRITE_H
#define GPUHELPER_ASK_REQUESTWRITE_H

#include "request.h"

/*
 * Encodes the request (requesthead.h has the form). The caller frees the *len bytes; NULL if memory is short.
 * Does not check limits: the helper refuses what exceeds them.
 */
char *request_encode(const struct request *r, size_t *len);

#endif
