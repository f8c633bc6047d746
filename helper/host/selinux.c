/*
 * See selinux.h.  The raw forms throughout: the others ask a daemon
 * (mcstransd) for nicer names of levels.  No access vector cache and no status
 * page: what is asked here is asked once.
 */
#include "selinux.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <selinux/selinux.h>

#include "../pure/cleanup.h"
#include "file.h"

#define ENFORCE "/sys/fs/selinux/enforce"

int
selinux_state(enum selinux_state *out, struct why *why)
{
	autoclose int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	autofree char *enforce = NULL;

	*out = SELINUX_ABSENT;
	if (root == -1)
		return refuse(why, WHY_IO, "/: %s", strerror(errno));
	enforce = file_read_at(root, &ENFORCE[1], 16, NULL);
	if (enforce == NULL && errno == ENOENT)
		return 0;
	if (enforce == NULL)
		return refuse(why, WHY_IO, ENFORCE ": %s", strerror(errno));
	if (is_selinux_enabled() == 1) {
		*out = enforce[0] == '0' ? SELINUX_PERMISSIVE : SELINUX_ENFORCING;
		return 0;
	}
	/* hidden from us (read-only, in a container), and yet there */
	if (enforce[0] != '0')
		return refuse(why, WHY_DENIED, ENFORCE " says that SELinux enforces, and it can't be asked from here: nothing is "
		    "granted");
	return 0;
}

/* Takes what libselinux has allocated over. */
static bool
take(char *label, char out[SECONTEXT_MAX])
{
	bool fits = (size_t)snprintf(out, SECONTEXT_MAX, "%s", label) < SECONTEXT_MAX;

	freecon(label);
	errno = fits ? 0 : ERANGE;
	return fits;
}

int
selinux_valid(char label[SECONTEXT_MAX])
{
	char *spelt;

	if (security_canonicalize_context_raw(label, &spelt) == -1)
		return errno == EINVAL ? 0 : -1;
	return take(spelt, label);
}

int
selinux_may(const char *who, const char *object, const char *class, const char *const *wanted)
{
	security_class_t number = string_to_security_class(class);
	struct av_decision d = { 0 };
	access_vector_t needed = 0;
	size_t i;

	if (number == 0)
		return -1;
	for (i = 0; wanted[i] != NULL; i++)
		needed |= string_to_av_perm(number, wanted[i]);
	if (security_compute_av_flags_raw(who, object, number, needed, &d) == -1)
		return -1;
	return (d.allowed & needed) == needed || (d.flags & SELINUX_AVD_FLAGS_PERMISSIVE) != 0;
}

int
selinux_may_folder(const char *who, const char *object, bool writable)
{
	static const char *const to_list[] = { "getattr", "open", "read", "search", NULL };
	static const char *const to_change[] = { "getattr", "open", "read", "search", "write", "add_name", "remove_name",
		NULL };
	static const char *const to_read[] = { "getattr", "open", "read", NULL };
	static const char *const to_write[] = { "getattr", "open", "read", "write", NULL };
	int ret = selinux_may(who, object, "dir", writable ? to_change : to_list);

	return ret == 1 ? selinux_may(who, object, "file", writable ? to_write : to_read) : ret;
}

bool
selinux_own(char out[SECONTEXT_MAX])
{
	char *label = NULL;

	return getcon_raw(&label) == 0 && label != NULL && take(label, out);
}

bool
selinux_label_of(int fd, char out[SECONTEXT_MAX])
{
	char name[40], *label = NULL;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	return getfilecon_raw(name, &label) != -1 && label != NULL && take(label, out);
}
