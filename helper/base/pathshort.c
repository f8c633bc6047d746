/* See pathshort.h. */
#include "pathshort.h"

#include <string.h>

#define GAP "..."

const char *
path_short(const char *path, char *out, size_t size)
{
	const size_t len = strlen(path), room = size - sizeof(GAP);
	size_t head = room / 3, tail = len - (room - head);

	if (len < size)
		return memcpy(out, path, len + 1);
	/* leave no part of a character of UTF-8 on either side */
	while (head > 0 && ((unsigned char)path[head] & 0xc0) == 0x80)
		head--;
	while (((unsigned char)path[tail] & 0xc0) == 0x80)
		tail++;
	memcpy(out, path, head);
	memcpy(out + head, GAP, strlen(GAP));
	memcpy(out + head + strlen(GAP), path + tail, len - tail + 1);
	return out;
}
