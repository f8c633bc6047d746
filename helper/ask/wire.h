/*
 * The frame between wrapper and helper: 4 bytes "GPUH", 4 bytes version, 4 bytes length (both big-endian), then the
 * body: a request (request.c), or a reply in JSON. One request, one reply. After a grant the wrapper stages the new
 * config.json, then sends one byte, and the helper answers with one; then the wrapper puts the file in place. If the
 * wrapper's byte does not come, the helper takes the grant back. If that byte asks the helper to stay, a second request
 * and reply may follow: VERB_CREATED, once the runtime has made the container.
 */
#ifndef GPUHELPER_ASK_WIRE_H
#define GPUHELPER_ASK_WIRE_H

#include <stdint.h>

#include "../base/why.h"

#define WIRE_VERSION 7
#define WIRE_HEADER 12
#define WIRE_REQUEST_MAX (272 * 1024)	/* with each part as long as allowed */
#define WIRE_REPLY_MAX (1024 * 1024)
#define WIRE_DONE 'W'		/* makes a grant final; as an answer: the grant is final, and the helper ends */
#define WIRE_STAY 'S'		/* as WIRE_DONE, but the helper is asked to stay, or stays */

void wire_header(unsigned char out[WIRE_HEADER], uint32_t len);
/*
 * Gets the length from a header. 0, or -1 with *why if it is no header, of another version, or of more than
 * «max» bytes.
 */
int wire_length(const unsigned char in[WIRE_HEADER], uint32_t max, uint32_t *len, struct why *why);

#endif
