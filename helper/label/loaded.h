/* What the SELinux policy that is loaded says of labels.  Asks libselinux, as no other file does; changes nothing. */
#ifndef GPUHELPER_LABEL_LOADED_H
#define GPUHELPER_LABEL_LOADED_H

#include <stdbool.h>

#include "../pure/labelask.h"
#include "../pure/secontext.h"

/*
 * Is it a label of the policy that is loaded?  1: it is, and then has the
 * kernel's own spelling; 0: it is not; -1: can't be known (errno).
 */
int loaded_has(char label[SECONTEXT_MAX]);

/*
 * Has a process of label «who» all of these permissions on an object of class
 * «class»?  «wanted» are their names, NULL at the end; one that the policy does
 * not know is nothing to refuse.  In a type that is permissive, everything.
 * 1: it has, 0: it has not, -1: can't be known (errno).
 */
int loaded_lets(const char *who, const char *object, const char *class, const char *const *wanted);

/*
 * Can it use a node, or a folder, of that label so?  Of a folder: read it, or change what is in it; for directories
 * and for files, since most of what lies in it is labelled like it, and some types may be listed by everyone, and not
 * read.  As loaded_lets().
 */
int loaded_lets_use(const char *who, const char *object, enum label_use use);

/* The label of this process; false with errno. */
bool loaded_own(char out[SECONTEXT_MAX]);

#endif
