/* See pathdepth.h. The helper does not link this file. */
#include "pathdepth.h"

unsigned
path_depth(const char *path)
{
	unsigned n = 0;

	if (path[1] == '\0')
		return 0;
	for (; *path; path++)
		n += *path == '/';
	return n;
}
