/* Whether a process may use an inode as its mode and ACL are (access.h). */
#ifndef GPUHELPER_HOST_ACCESSALLOWED_H
#define GPUHELPER_HOST_ACCESSALLOWED_H

#include "access.h"

/* The same as access_ignoring(), with all entries of the ACL. */
bool access_allowed(int fd, const struct subject *s, int want);

#endif
