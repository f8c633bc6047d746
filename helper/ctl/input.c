/*
 * Reads files that the user names on the command line.  They may be anything, pipes of the shell included, so the size
 * is limited while reading.
 */
#include "ctl.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "../base/text.h"
#include "../host/file.h"

char *
ctl_read_input(const char *path, size_t max, size_t *len, struct why *why)
{
	const char *shown = strcmp(path, "-") == 0 ? "standard input" : path;
	autoclose int opened = -1;
	autobuf struct buf b = { 0 };
	int fd = STDIN_FILENO;
	char bytes[4096];
	ssize_t n;
	char *text;

	if (shown == path && (fd = opened = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)) == -1) {
		refuse(why, WHY_IO, "%s: %s", shown, strerror(errno));
		return NULL;
	}
	while ((n = read(fd, bytes, sizeof(bytes))) != 0) {
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1) {
			refuse(why, WHY_IO, "%s: %s", shown, strerror(errno));
			return NULL;
		}
		buf_add(&b, bytes, (size_t)n);
		if (b.len > max) {
			refuse(why, WHY_DATA, "%s: larger than %zu bytes", shown, max);
			return NULL;
		}
	}
	*len = b.len;
	if ((text = buf_take(&b)) == NULL)
		refuse_nomem(why);
	return text;
}
