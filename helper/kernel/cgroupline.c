/* See cgroupline.h. Assumes the kernel's text, in which no cgroup's name has a line break. */
#include "cgroupline.h"

#include <string.h>

bool
cgroup_line_next(char **rest, struct cgroup_line *line)
{
	char *text, *controllers, *path;

	while ((text = *rest) != NULL && *text != '\0') {
		if ((*rest = strchr(text, '\n')) != NULL)
			*(*rest)++ = '\0';
		if ((controllers = strchr(text, ':')) == NULL || (path = strchr(++controllers, ':')) == NULL ||
		    path[1] != '/')
			continue;
		*path++ = '\0';
		*line = (struct cgroup_line){ controllers,
			controllers + (strncmp(controllers, "name=", strlen("name=")) == 0 ? strlen("name=") : 0), path };
		return true;
	}
	return false;
}

bool
cgroup_line_has(const char *controllers, const char *name)
{
	size_t n = strlen(name), len;

	for (; *controllers != '\0'; controllers += len + (controllers[len] == ',')) {
		len = strcspn(controllers, ",");
		if (len == n && strncmp(controllers, name, n) == 0)
			return true;
	}
	return false;
}
