/*
 * Users and groups of /etc/passwd and /etc/group, read with fgetpwent(3) and
 * fgetgrent(3).  Not through NSS: that loads modules into a root process, and
 * the user of a worker is a local one.
 */
#ifndef GPUHELPER_HOST_USERS_H
#define GPUHELPER_HOST_USERS_H

#include <stdbool.h>
#include <stdint.h>

/* The name of a uid; NULL with errno 0 if it has none, or else where that can't be read.  The caller frees. */
char *user_name(uint32_t uid);
/* The uid of a name; false if there is no such user.  *gid, if not NULL, gets the primary group. */
bool user_uid(const char *name, uint32_t *uid, uint32_t *gid);
/* True if the user is listed in the group, or has it as the primary one.  False with errno as in group_gid(). */
bool user_in_group(const char *user, const char *group);
/* False with errno 0 if there is no such group, or else where that can't be read. */
bool group_gid(const char *name, uint32_t *gid);

/*
 * True if a host id is this user's to use for his containers: his own uid; a
 * primary group that is no one else's; what /etc/subuid or /etc/subgid
 * (subuid(5)) gives him.  For root, besides, 4294967294: no one's, and what
 * Concourse maps its containers' root to.  «name» may be NULL.
 */
bool user_owns_uid(uint32_t uid, const char *name, uint32_t id);
bool user_owns_gid(uint32_t uid, const char *name, uint32_t primary, uint32_t id);

/*
 * 1 if /etc/subuid gives the id to somebody for his containers: its processes are
 * his, and he may have thousands of such ids.  0 if not; -1 with errno where that
 * can't be read.
 */
int user_is_subordinate(uint32_t id);

/*
 * The ranges of /etc/subuid that are this user's, at most max of them into first[] and size[]: how
 * many; -1 with errno, which is E2BIG if there are more.
 */
int user_subuids(uint32_t uid, const char *name, uint32_t *first, uint32_t *size, int max);

#endif
