/*
 * Users and groups of /etc/passwd (passwd(5)) and /etc/group (group(5)). Not through NSS, which would load modules into
 * a root process; a worker's user is a local one. Lines that are no entries are ignored.
 */
#ifndef GPUHELPER_HOST_USERS_H
#define GPUHELPER_HOST_USERS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The name of a uid, which the caller frees. NULL with errno 0 if it has none, or with another errno if that
 * can't be read.
 */
char *user_name(uint32_t uid);
/*
 * Gets the uid of a name and, unless gid is NULL, the primary group. False if there is no such user, as in
 * user_name().
 */
bool user_uid(const char *name, uint32_t *uid, uint32_t *gid);
/*
 * Calls each() for each user, until it returns something else than 0, which is then the result. «host» is "" if the
 * entry has none. Returns 0 if /etc/passwd can't be read.
 */
int users_each(int (*each)(void *ctx, const char *name, uint32_t uid, const char *host), void *ctx);
/* True if the group lists the user, or is the user's primary group. False with errno as in group_gid(). */
bool user_in_group(const char *user, const char *group);
/*
 * Gets the gid of a name. False with errno 0 if there is no such group, or with another errno if that can't
 * be read.
 */
bool group_gid(const char *name, uint32_t *gid);

/*
 * True if a user may use this host id for containers: the user's own uid; a primary group that nobody else
 * has; and what /etc/subuid or /etc/subgid (subuid(5)) gives the user. For root also 4294967294, which nobody
 * has, and to which Concourse maps root of its containers. «name» may be NULL.
 */
bool user_owns_uid(uint32_t uid, const char *name, uint32_t id);
bool user_owns_gid(uint32_t uid, const char *name, uint32_t primary, uint32_t id);

/*
 * Returns 1 if /etc/subuid gives the id to a user for containers. Its processes are that user's, who may have
 * thousands of such ids. Returns 0 if not, or -1 with errno if that can't be read.
 */
int user_is_subordinate(uint32_t id);

/*
 * Gets the user's ranges of /etc/subuid, at most «max», in first[] and size[]. Returns how many, or -1 with
 * errno: E2BIG if there are more.
 */
int user_subuids(uint32_t uid, const char *name, uint32_t *first, uint32_t *size, int max);

#endif
