/* See waiterfile.h. Runs with the caller's rights. */
#include "waiterfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../host/file.h"
#include "../../kernel/secontext.h"
#include "../command/memfile.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x10U		/* Linux 6.3: this file is meant to be executed */
#endif
#ifndef F_SEAL_EXEC
#define F_SEAL_EXEC 0x20	/* Linux 6.3: its mode can't change */
#endif
#define PROGRAM_MAX (1 << 20)
#define SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

/* 0: memory files may be executed; 1: if they are meant to be; 2: never (Documentation/admin-guide/sysctl/vm.rst). */
static bool
memory_is_executable(void)
{
	const int root = file_root();
	autofree char *text = root != -1 ? file_read_at(root, "proc/sys/vm/memfd_noexec", 16, NULL) : NULL;

	return text == NULL || text[0] != '2';
}

bool
waiter_is_usable(void)
{
	return access(WAITER_PROGRAM, X_OK) == 0 && memory_is_executable();
}

static int
make_file(void)
{
	int fd = memfd_create("gpuhelper-wait", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC);

	return fd == -1 && errno == EINVAL ? memfd_create("gpuhelper-wait", MFD_CLOEXEC | MFD_ALLOW_SEALING) : fd;
}

static bool
write_whole(int fd, const char *p, size_t n)
{
	ssize_t did;

	for (; n > 0; p += did, n -= (size_t)did)
		if ((did = write(fd, p, n)) <= 0)
			return false;
	return true;
}

/*
 * A container's domain may begin with its own files only, so the file gets the label of such a file, with the process's
 * level. Where SELinux is off, or knows no such label, that fails, and the file's first label must do.
 */
static void
label_file(int fd, const char *process)
{
	struct secontext c;
	char label[SECONTEXT_MAX];

	if (process == NULL || !secontext_parse(process, &c))
		return;
	snprintf(c.role, sizeof(c.role), "object_r");
	snprintf(c.type, sizeof(c.type), "%s", SECONTEXT_FILE_TYPE);
	if (secontext_format(&c, label))
		(void)fsetxattr(fd, "security.selinux", label, strlen(label) + 1, 0);
}

int
waiter_file(const char *label, struct why *why)
{
	autoclose int program = open(WAITER_PROGRAM, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	autofree char *text = NULL;
	size_t len;
	int fd;

	if (program == -1 || (text = memfile_read(program, PROGRAM_MAX, &len)) == NULL)
		return refuse(why, WHY_ABSENT, WAITER_PROGRAM ": %s", strerror(errno));
	if ((fd = make_file()) == -1)
		return refuse(why, WHY_AGAIN, "memfd_create: %s", strerror(errno));
	label_file(fd, label);
	if (write_whole(fd, text, len) && fchmod(fd, 0555) == 0 && (fcntl(fd, F_ADD_SEALS, SEALS | F_SEAL_EXEC) == 0 ||
	    fcntl(fd, F_ADD_SEALS, SEALS) == 0))
		return fd;
	refuse(why, WHY_AGAIN, "the memory file for gpuhelper-wait: %s", strerror(errno));
	close(fd);
	return -1;
}
