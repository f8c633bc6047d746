/* See mounts.h.  Reads the kernel's own table. */
#include "mounts.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../pure/cleanup.h"
#include "../pure/path.h"
#include "file.h"

/* mountinfo writes space, tab, newline and backslash as three octal digits. */
static void
unescape(char *s)
{
	char *o = s;

	for (; *s != '\0'; o++) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' && s[3] >= '0' && s[3] <= '7') {
			*o = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 4;
		} else
			*o = *s++;
	}
	*o = '\0';
}

bool
mounts_beneath(const char *dir, char *first, size_t size)
{
	autoclose int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	autofree char *text = NULL;
	char name[40], *line, *lines = NULL, *field, *fields;
	unsigned i;

	snprintf(name, sizeof(name), "proc/%d/mountinfo", getpid());
	snprintf(first, size, "?");
	if (root == -1 || (text = file_read_at(root, name, 16 << 20, NULL)) == NULL)
		return true;
	for (line = strtok_r(text, "\n", &lines); line != NULL; line = strtok_r(NULL, "\n", &lines)) {
		/* the fifth field is the mount point */
		field = strtok_r(line, " ", &fields);
		for (i = 1; field != NULL && i < 5; i++)
			field = strtok_r(NULL, " ", &fields);
		if (field == NULL)
			continue;
		unescape(field);
		if (path_is_beneath(field, dir)) {
			snprintf(first, size, "%s", field);
			return true;
		}
	}
	return false;
}
