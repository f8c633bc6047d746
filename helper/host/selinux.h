/* What SELinux says: is it on; are labels valid, and what do they let whom do?  Changes nothing. */
#ifndef GPUHELPER_HOST_SELINUX_H
#define GPUHELPER_HOST_SELINUX_H

#include <stdbool.h>

#include "../pure/secontext.h"
#include "../pure/why.h"

enum selinux_state {
	SELINUX_ABSENT,		/* not in this kernel, not switched on, or without a policy */
	SELINUX_PERMISSIVE,
	SELINUX_ENFORCING,
};

/* -1 with *why where it can't be known: then it is no time to give anything out. */
int selinux_state(enum selinux_state *out, struct why *why);

/*
 * Is it a label of the policy that is loaded?  1: it is, and then has the
 * kernel's own spelling; 0: it is not; -1: can't be known (errno).
 */
int selinux_valid(char label[SECONTEXT_MAX]);

/*
 * Has a process of label «who» all of these permissions on an object of class
 * «class»?  «wanted» are their names, NULL at the end; one that the policy does
 * not know is nothing to refuse.  In a type that is permissive, everything.
 * 1: it has, 0: it has not, -1: can't be known (errno).
 */
int selinux_may(const char *who, const char *object, const char *class, const char *const *wanted);

/*
 * Can it use a folder of that label: read it, or change what is in it?  For
 * directories and for files, since most of what lies in it is labelled like it,
 * and some types may be listed by everyone, and not read.  As selinux_may().
 */
int selinux_may_folder(const char *who, const char *object, bool writable);

/* The label of this process; false with errno. */
bool selinux_own(char out[SECONTEXT_MAX]);

/* The label of what a descriptor (O_PATH, too) stands for; false with errno, ENODATA where it has none. */
bool selinux_label_of(int fd, char out[SECONTEXT_MAX]);

#endif
