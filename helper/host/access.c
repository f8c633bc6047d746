/*
 * See access.h.  An answer for a person, given early: what it says is no
 * permission, the kernel decides again when the container opens the file.
 */
#include "access.h"

#include <errno.h>
#include <stdio.h>
#include <sys/acl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <acl/libacl.h>

void
subject_of(const struct request *r, const struct idmap *uids, const struct idmap *gids, struct subject *s)
{
	size_t i;

	*s = (struct subject){ .dac_override = r->dac_override, .uids = uids, .gidmap = gids };
	s->mapped = idmap_out(uids, r->uid, &s->uid) && idmap_out(gids, r->gid, &s->gid);
	for (i = 0; i < r->gid_count; i++)
		if (idmap_out(gids, r->gid_list[i], &s->gid_list[s->gids]))
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

/* Entries that are looked past. */
struct past {
	const struct acl_name *entry;
	size_t n;
};

bool
acl_name_among(const struct acl_name *v, size_t n, struct acl_name who)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (v[i].group == who.group && v[i].id == who.id)
			return true;
	return false;
}

/* What the ACL's mask lets through: all, where it has none. */
static int
mask_of(acl_t acl)
{
	acl_entry_t e;
	acl_tag_t tag;
	int which;

	for (which = ACL_FIRST_ENTRY; acl_get_entry(acl, which, &e) == 1; which = ACL_NEXT_ENTRY)
		if (acl_get_tag_type(e, &tag) == 0 && tag == ACL_MASK)
			return perms_of(e);
	return R_OK | W_OK | X_OK;
}

/* The algorithm of acl(5), «access check algorithm». */
static bool
acl_allows(acl_t acl, const struct stat *st, const struct subject *s, int want, const struct past *past)
{
	int mask = mask_of(acl), user = -1, other = 0, owner = 0, which;
	bool group_member = false, group_ok = false;
	acl_entry_t e;
	acl_tag_t tag;
	void *id;

	for (which = ACL_FIRST_ENTRY; acl_get_entry(acl, which, &e) == 1; which = ACL_NEXT_ENTRY) {
		if (acl_get_tag_type(e, &tag) == -1)
			return false;
		id = tag == ACL_USER || tag == ACL_GROUP ? acl_get_qualifier(e) : NULL;
		if (id != NULL && acl_name_among(past->entry, past->n, (struct acl_name){ tag == ACL_GROUP, *(id_t *)id }))
			;
		else if (tag == ACL_USER_OBJ)
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

/*
 * The ACL of what the descriptor is open on; where the file system has none, what
 * the mode says.  NULL: it can't be read, and may say anything.
 */
static acl_t
acl_of(int fd, const struct stat *st)
{
	char link[40];
	acl_t acl;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	acl = acl_get_file(link, ACL_TYPE_ACCESS);
	return acl == NULL && (errno == EOPNOTSUPP || errno == ENOSYS) ? acl_from_mode(st->st_mode) : acl;
}

int
access_of_group(int fd)
{
	struct stat st;
	acl_entry_t e;
	acl_tag_t tag;
	int which, mask, may = -1;
	acl_t acl;

	if (fstat(fd, &st) == -1 || (acl = acl_of(fd, &st)) == NULL)
		return -1;
	mask = mask_of(acl);	/* an ACL has one cursor */
	for (which = ACL_FIRST_ENTRY; acl_get_entry(acl, which, &e) == 1; which = ACL_NEXT_ENTRY)
		if (acl_get_tag_type(e, &tag) == 0 && tag == ACL_GROUP_OBJ)
			may = perms_of(e) & mask;
	acl_free(acl);
	return may;
}

bool
access_without(int fd, const struct subject *s, int want, const struct acl_name *entry, size_t entries)
{
	const struct past past = { entry, entries };
	uint32_t inside;
	struct stat st;
	bool ok;
	acl_t acl;

	if (!s->mapped || fstat(fd, &st) == -1)
		return false;
	/* capabilities reach inodes whose owner and group the namespace knows (privileged_wrt_inode_uidgid()) */
	if (s->dac_override && idmap_in(s->uids, st.st_uid, &inside) && idmap_in(s->gidmap, st.st_gid, &inside))
		return true;
	if ((acl = acl_of(fd, &st)) == NULL)
		return false;
	ok = acl_allows(acl, &st, s, want, &past);
	acl_free(acl);
	return ok;
}

bool
access_allowed(int fd, const struct subject *s, int want)
{
	return access_without(fd, s, want, NULL, 0);
}
