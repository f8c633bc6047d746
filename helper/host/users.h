/*
 * Users and groups of /etc/passwd and /etc/group, read with fgetpwent(3) and
 * fgetgrent(3).  Not through NSS: that loads modules into a root process, and
 * the user of a worker is a local one.
 */
#ifndef GPUHELPER_HOST_USERS_H
#define GPUHELPER_HOST_USERS_H

#include <stdbool.h>
#include <stdint.h>

/* The name of a uid; NULL if it has none.  The caller frees. */
char *user_name(uint32_t uid);
/* The uid of a name; false if there is no such user.  *gid, if not NULL, gets the primary group. */
bool user_uid(const char *name, uint32_t *uid, uint32_t *gid);
/* True if the user is listed in the group, or has it as the primary one. */
bool user_in_group(const char *user, const char *group);
bool group_gid(const char *name, uint32_t *gid);

#endif
