/* See pathclean.h. */
#include "pathclean.h"

#include <stdlib.h>
#include <string.h>

char *
path_cleaned(const char *path)
{
	char *out = malloc(strlen(path) + 2);
	size_t n, o = 0;

	for (; out != NULL; path += n) {
		path += strspn(path, "/");
		if ((n = strcspn(path, "/")) == 0)
			break;
		if (n == 2 && strncmp(path, "..", n) == 0) {
			while (o > 0 && out[--o] != '/')
				;
		} else if (n != 1 || *path != '.') {
			out[o++] = '/';
			memcpy(out + o, path, n);
			o += n;
		}
	}
	if (out != NULL)
		out[o] = '\0';
	return out;
}
