/* See fdinfo.h. Looks at /proc only. */
#include "fdinfo.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "../../base/cleanup.h"
#include "../file.h"
#include "process.h"

long
fdinfo_number(int proc, const char *thread, const char *fd, const char *word)
{
	autofree char *text = NULL;
	char name[80], *at;

	snprintf(name, sizeof(name), "%.50s/fdinfo/%.12s", thread, fd);
	if ((text = file_read_at(proc, name, 1 << 20, NULL)) == NULL)
		return process_is_gone(errno) ? FDINFO_GONE : FDINFO_LACKS;
	return (at = strstr(text, word)) != NULL ? strtol(at + strlen(word), NULL, 10) : FDINFO_LACKS;
}

/* From Linux 5.6 on, fdinfo of every Unix socket has scm_fds, and fdinfo of other sockets never does. */
static bool
tells_of_sockets(void)
{
	unsigned major, minor;
	struct utsname u;

	return uname(&u) == 0 && sscanf(u.release, "%u.%u", &major, &minor) == 2 &&
	    (major > 5 || (major == 5 && minor >= 6));
}

long
fdinfo_in_flight(int proc, const char *thread, const char *fd)
{
	const long n = fdinfo_number(proc, thread, fd, "scm_fds:");

	return n == FDINFO_LACKS && tells_of_sockets() ? 0 : n;
}
