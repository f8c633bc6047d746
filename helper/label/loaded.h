/* Asks the loaded SELinux policy about labels. Only this file asks libselinux. Changes nothing. */
#ifndef GPUHELPER_LABEL_LOADED_H
#define GPUHELPER_LABEL_LOADED_H

#include <stdbool.h>

#include "../ask/labelquery.h"
#include "../kernel/secontext.h"

/*
 * Returns 1 if the label is valid in the loaded policy, and gives it the kernel's spelling; 0 if it is not
 * valid; -1 with errno if that can't be known.
 */
int loaded_has(char label[SECONTEXT_MAX]);

/*
 * Returns 1 if a process with label «who» has all the permissions on an object of class «class» with label «object», 0
 * if it lacks one, or -1 with errno if that can't be known. «wanted» has the names of the permissions, and NULL at the
 * end. Permissions that the policy does not know are ignored. A process of a permissive type has all.
 */
int loaded_lets(const char *who, const char *object, const char *class, const char *const *wanted);

/*
 * The same for using a node or a folder with that label. For a folder: to read it, or to change what is in
 * it. Asks about directories and about files, because most entries have the folder's label, and some types
 * may be listed by everyone but not read.
 */
int loaded_lets_use(const char *who, const char *object, enum label_use use);

/* Gets the label of this process. False with errno. */
bool loaded_own(char out[SECONTEXT_MAX]);

#endif
