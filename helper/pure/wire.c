/* See wire.h.  Whoever may start the helper may send it any bytes. */
#include "wire.h"

#include <stdbool.h>
#include <string.h>

#define DEPTH_MAX 16

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

/* jansson recurses: bound the depth before it sees the text. */
static bool
is_shallow(const char *s, size_t len)
{
	unsigned depth = 0;
	bool string = false;
	size_t i;

	for (i = 0; i < len; i++) {
		if (string) {
			if (s[i] == '\\')
				i++;
			else if (s[i] == '"')
				string = false;
		} else if (s[i] == '"') {
			string = true;
		} else if (s[i] == '{' || s[i] == '[') {
			if (++depth > DEPTH_MAX)
				return false;
		} else if ((s[i] == '}' || s[i] == ']') && depth > 0) {
			depth--;
		}
	}
	return true;
}

json_t *
wire_parse(const char *text, size_t len, struct why *why)
{
	json_error_t err;
	json_t *j;

	if (!is_shallow(text, len)) {
		refuse(why, WHY_DATA, "a message nested too deep");
		return NULL;
	}
	if ((j = json_loadb(text, len, JSON_REJECT_DUPLICATES, &err)) == NULL) {
		refuse(why, WHY_DATA, "a malformed message: %s", err.text);
		return NULL;
	}
	if (!json_is_object(j)) {
		json_decref(j);
		refuse(why, WHY_DATA, "a message that is no object");
		return NULL;
	}
	return j;
}
