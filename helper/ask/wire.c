/* See wire.h. Assumes any bytes: whoever may start the helper may send them. */
#include "wire.h"

#include <string.h>

static void
put32(unsigned char *p, uint32_t v)
{
	p[0] = (unsigned char)(v >> 24);
	p[1] = (unsigned char)(v >> 16);
	p[2] = (unsigned char)(v >> 8);
	p[3] = (unsigned char)v;
}

static uint32_t
get32(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

void
wire_header(unsigned char out[WIRE_HEADER], uint32_t len)
{
	memcpy(out, "GPUH", 4);
	put32(out + 4, WIRE_VERSION);
	put32(out + 8, len);
}

int
wire_length(const unsigned char in[WIRE_HEADER], uint32_t max, uint32_t *len, struct why *why)
{
	if (memcmp(in, "GPUH", 4) != 0)
		return refuse(why, WHY_DATA, "this is no message between gpuhelper-runc and gpuhelper");
	if (get32(in + 4) != WIRE_VERSION)
		return refuse(why, WHY_DATA, "gpuhelper-runc and gpuhelper are of different versions (%u and %d): "
		    "install both from one build", get32(in + 4), WIRE_VERSION);
	*len = get32(in + 8);
	if (*len > max)
		return refuse(why, WHY_DATA, "a message of %u bytes is too long (at most %u)", *len, max);
	return 0;
}
