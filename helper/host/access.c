/*
 * See access.h.  An answer for a person, given early: what it says is no
 * permission, the kernel decides again when the container opens the file.
 */
#include "access.h"

#include <stdio.h>
#include <sys/acl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <acl/libacl.h>

void
subject_of(const struct request *r, struct subject *s)
{
	size_t i;

	*s = (struct subject){ .dac_override = r->dac_override, .uids = &r->uids, .gidmap = &r->gids };
	s->mapped = idmap_out(&r->uids, r->uid, &s->uid) && idmap_out(&r->gids, r->gid, &s->gid);
	for (i = 0; i < r->gid_count; i++)
		if (idmap_out(&r->gids, r->gid_list[i], &s->gid_list[s->gids]))
			s->gids++;
}

static bool
in_group(const struct subject *s, uint32_t gid)
{
	size_t i;

	for (i = 0; i < s->gids; i++)
		if (s->gid_list[i] == gid)
			return true;
	return s->gid == gid;
}

static int
perms_of(acl_entry_t e)
{
	acl_permset_t set;

	if (acl_get_permset(e, &set) == -1)
		return 0;
	return (acl_get_perm(set, ACL_READ) == 1 ? R_OK : 0) | (acl_get_perm(set, ACL_WRITE) == 1 ? W_OK : 0) |
	    (acl_get_perm(set, ACL_EXECUTE) == 1 ? X_OK : 0);
}

/* The algorithm of acl(5), «access check algorithm». */
static bool
acl_allows(acl_t acl, const struct stat *st, const struct subject *s, int want)
{
	int mask = R_OK | W_OK | X_OK, user = -1, other = 0, owner = 0, which;
	bool group_member = false, group_ok = false;
	acl_entry_t e;
	acl_tag_t tag;
	void *id;

	for (which = ACL_FIRST_ENTRY; acl_get_entry(acl, which, &e) == 1; which = ACL_NEXT_ENTRY) {
		if (acl_get_tag_type(e, &tag) == -1)
			return false;
		if (tag == ACL_MASK)
			mask = perms_of(e);
	}
	for (which = ACL_FIRST_ENTRY; acl_get_entry(acl, which, &e) == 1; which = ACL_NEXT_ENTRY) {
		(void)acl_get_tag_type(e, &tag);
		id = tag == ACL_USER || tag == ACL_GROUP ? acl_get_qualifier(e) : NULL;
		if (tag == ACL_USER_OBJ)
			owner = perms_of(e);
		else if (tag == ACL_OTHER)
			other = perms_of(e);
		else if (tag == ACL_USER && id != NULL && *(uid_t *)id == s->uid)
			user = perms_of(e) & mask;
		else if ((tag == ACL_GROUP_OBJ && in_group(s, st->st_gid)) ||
		    (tag == ACL_GROUP && id != NULL && in_group(s, *(gid_t *)id))) {
			group_member = true;
			group_ok = group_ok || (perms_of(e) & mask & want) == want;
		}
		acl_free(id);
	}
	if (st->st_uid == s->uid)
		return (owner & want) == want;
	if (user != -1)
		return (user & want) == want;
	if (group_member)
		return group_ok;
	return (other & want) == want;
}

bool
access_allowed(int fd, const struct subject *s, int want)
{
	uint32_t inside;
	struct stat st;
	char link[40];
	bool ok;
	acl_t acl;

	if (!s->mapped || fstat(fd, &st) == -1)
		return false;
	/* capabilities reach inodes whose owner and group the namespace knows (privileged_wrt_inode_uidgid()) */
	if (s->dac_override && idmap_in(s->uids, st.st_uid, &inside) && idmap_in(s->gidmap, st.st_gid, &inside))
		return true;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if ((acl = acl_get_file(link, ACL_TYPE_ACCESS)) == NULL && (acl = acl_from_mode(st.st_mode)) == NULL)
		return false;
	ok = acl_allows(acl, &st, s, want);
	acl_free(acl);
	return ok;
}
