/* See realuid.h. Reads /proc/PID/status. */
#include "realuid.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../host/file.h"

bool
process_real_uid(int proc, const char *pid, uint32_t *out)
{
	autofree char *status = NULL;
	char name[40], *line;
	unsigned uid;

	snprintf(name, sizeof(name), "%.15s/status", pid);
	errno = 0;
	if ((status = file_read_at(proc, name, 1 << 20, NULL)) == NULL ||
	    (line = strstr(status, "\nUid:")) == NULL || sscanf(line, "\nUid: %u", &uid) != 1)
		return false;
	*out = uid;
	return true;
}
