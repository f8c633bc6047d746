/*
 * See loaded.h. Uses the raw functions throughout: the others ask a daemon (mcstransd) for nicer names of
 * levels. Uses no access vector cache and no status page, because it asks each question once. Must change
 * nothing.
 */
#include "loaded.h"

#include <errno.h>
#include <stdio.h>

#include <selinux/selinux.h>

#define WORDS_MAX 8

/* Copies a label that libselinux has allocated, and frees it. */
static bool
take_label(char *label, char out[SECONTEXT_MAX])
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
	return take_label(spelt, label) ? 1 : -1;
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

/* For each use, one or two classes with the permissions needed. */
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

	return getcon_raw(&label) == 0 && label != NULL && take_label(label, out);
}
