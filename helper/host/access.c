/*
 * See access.h. Used for messages, and to see whether an ACL entry is needed. Never a permission: the kernel
 * decides at open.
 */
#include "access.h"

#include <errno.h>
#include <unistd.h>

#include "inodeacl.h"

void
subject_of(const struct request *r, const struct idmap *uidmap, const struct idmap *gidmap, struct subject *s)
{
	size_t i;

	*s = (struct subject){ .dac_override = r->spec.dac_override, .uidmap = uidmap, .gidmap = gidmap };
	s->mapped = idmap_out(uidmap, r->spec.uid, &s->uid) && idmap_out(gidmap, r->spec.gid, &s->gid);
	for (i = 0; i < r->spec.gid_count; i++)
		if (idmap_out(gidmap, r->spec.gid_list[i], &s->group[s->groups]))
			s->groups++;
}

static bool
in_group(const struct subject *s, uint32_t gid)
{
	size_t i;

	for (i = 0; i < s->groups; i++)
		if (s->group[i] == gid)
			return true;
	return s->gid == gid;
}

/* Entries of an ACL that are ignored. */
struct ignoring {
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

/* The permissions that the ACL's mask allows; all of them if it has no mask. */
static int
mask_of(const struct posixacl *acl)
{
	const struct posixacl_entry *mask = posixacl_find(acl, POSIXACL_MASK, 0);

	return mask != NULL ? (int)mask->bits : R_OK | W_OK | X_OK;
}

static bool
is_ignored(const struct posixacl_entry *e, const struct ignoring *ignoring)
{
	return posixacl_is_named(e->tag) &&
	    acl_name_among(ignoring->entry, ignoring->n, (struct acl_name){ e->tag == POSIXACL_GROUP, e->id });
}

/* The «access check algorithm» of acl(5). */
static bool
acl_allows(const struct posixacl *acl, const struct stat *st, const struct subject *s, int want,
    const struct ignoring *ignoring)
{
	int mask = mask_of(acl), user = -1, other = 0, owner = 0, bits;
	bool group_member = false, group_ok = false;
	const struct posixacl_entry *e;

	for (e = acl->v; e < acl->v + acl->n; e++) {
		bits = (int)e->bits;
		if (is_ignored(e, ignoring))
			continue;
		if (e->tag == POSIXACL_OWNER)
			owner = bits;
		else if (e->tag == POSIXACL_OTHER)
			other = bits;
		else if (e->tag == POSIXACL_USER && e->id == s->uid)
			user = bits & mask;
		else if ((e->tag == POSIXACL_OWNING_GROUP && in_group(s, st->st_gid)) ||
		    (e->tag == POSIXACL_GROUP && in_group(s, e->id))) {
			group_member = true;
			group_ok = group_ok || (bits & mask & want) == want;
		}
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
 * Reads the ACL. A file system without ACLs has only the mode. False if the ACL can't be read: it may then
 * say anything.
 */
static bool
acl_of(int fd, const struct stat *st, struct posixacl *out)
{
	return inode_acl_read(fd, out) || ((errno == EOPNOTSUPP || errno == ENOSYS) && posixacl_of_mode(st->st_mode, out));
}

int
access_of_group(int fd)
{
	autoposixacl struct posixacl acl = { .v = NULL };
	const struct posixacl_entry *group;
	struct stat st;

	if (fstat(fd, &st) == -1 || !acl_of(fd, &st, &acl) || (group = posixacl_find(&acl, POSIXACL_OWNING_GROUP, 0)) == NULL)
		return -1;
	return (int)group->bits & mask_of(&acl);
}

/*
 * The kernel honours these capabilities only where the namespace maps owner and group
 * (privileged_wrt_inode_uidgid()).
 */
bool
access_overrides(const struct stat *st, const struct subject *s)
{
	uint32_t inside;

	return s->mapped && s->dac_override && idmap_in(s->uidmap, st->st_uid, &inside) &&
	    idmap_in(s->gidmap, st->st_gid, &inside);
}

bool
access_ignoring(int fd, const struct subject *s, int want, const struct acl_name *entry, size_t entries)
{
	const struct ignoring ignoring = { entry, entries };
	autoposixacl struct posixacl acl = { .v = NULL };
	struct stat st;

	if (!s->mapped || fstat(fd, &st) == -1)
		return false;
	return access_overrides(&st, s) || (acl_of(fd, &st, &acl) && acl_allows(&acl, &st, s, want, &ignoring));
}
