/*
 * See loaded.h.  The raw forms throughout: the others ask a daemon
 * (mcstransd) for nicer names of levels.  No access vector cache and no status
 * page: what is asked here is asked once.
 */
#include "loaded.h"

#include <errno.h>
#include <stdio.h>

#include <selinux/selinux.h>

#define WORDS_MAX 8

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
loaded_has(char label[SECONTEXT_MAX])
{
	char *spelt;

	if (security_canonicalize_context_raw(label, &spelt) == -1)
		return errno == EINVAL ? 0 : -1;
	return take(spelt, label) ? 1 : -1;
}

int
loaded_lets(const char *who, const char *object, const char *class, const char *const *wanted)
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

/* Each use is one class and what is wanted of it, or two. */
static const struct {
	const char *class, *wanted[WORDS_MAX];
} uses[][2] = {
	[LABEL_READ_NODE] = { { "chr_file", { "getattr", "open", "read", "ioctl" } } },
	[LABEL_USE_NODE] = { { "chr_file", { "getattr", "open", "read", "write", "ioctl", "map" } } },
	[LABEL_READ_FOLDER] = { { "dir", { "getattr", "open", "read", "search" } },
	    { "file", { "getattr", "open", "read" } } },
	[LABEL_WRITE_FOLDER] = { { "dir", { "getattr", "open", "read", "search", "write", "add_name", "remove_name" } },
	    { "file", { "getattr", "open", "read", "write" } } },
};

int
loaded_lets_use(const char *who, const char *object, enum label_use use)
{
	int ret = 1;
	size_t i;

	for (i = 0; i < 2 && ret == 1 && uses[use][i].class != NULL; i++)
		ret = loaded_lets(who, object, uses[use][i].class, uses[use][i].wanted);
	return ret;
}

bool
loaded_own(char out[SECONTEXT_MAX])
{
	char *label = NULL;

	return getcon_raw(&label) == 0 && label != NULL && take(label, out);
}
