/* See namespaces.h. Looks at /proc only. */
#include "namespaces.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../base/text.h"
#include "procdir.h"

/*
 * Reads the link («mnt:[4026531841]», namespaces(7)), not the file that the link leads to: for that file the kernel
 * makes an inode and drops it again, which takes twice the time, for each process of the host.
 */
bool
ns_find(int proc, const char *pid, const char *kind, uint64_t *inode)
{
	char path[64], link[40];
	const size_t name = strlen(kind);
	ssize_t n;

	snprintf(path, sizeof(path), "%.40s/ns/%.12s", pid, kind);
	if ((n = readlinkat(proc, path, link, sizeof(link))) == -1)
		return false;
	if ((size_t)n > name + 3 && n < (ssize_t)sizeof(link) && memcmp(link, kind, name) == 0 &&
	    memcmp(link + name, ":[", 2) == 0 && link[n - 1] == ']') {
		link[n - 1] = '\0';
		if (text_u64(link + name + 2, UINT64_MAX, inode))
			return true;
	}
	errno = EINVAL;
	return false;
}

bool
ns_of(pid_t pid, const char *kind, uint64_t *inode)
{
	const int proc = procdir_kept();
	char name[16];

	snprintf(name, sizeof(name), "%d", pid);
	return proc != -1 && ns_find(proc, name, kind, inode);
}
