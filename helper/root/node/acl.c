/*
 * See acl.h. Reads, changes and writes an ACL as a whole, and so needs the lock on the leases: without it, some of
 * several concurrent changes would be lost.
 */
#include "acl.h"

#include <errno.h>
#include <string.h>
#include <sys/xattr.h>

#include "../../base/cleanup.h"
#include "../../host/file.h"
#include "../../host/inodeacl.h"

#define RW 6U	/* as bits of a mode */

/* An ACL in memory, and the file that has it. */
struct editing {
	int fd;
	const char *path;
	struct posixacl acl;
	struct why *why;
};

static int
read_acl(struct editing *e)
{
	return inode_acl_read(e->fd, &e->acl) ? 0 :
	    refuse(e->why, WHY_IO, "%s: its ACL can't be read: %s", e->path, strerror(errno));
}

static int
write_acl(const struct editing *e)
{
	char name[FILE_LINK_MAX];
	size_t size;
	autofree void *value = posixacl_encode(&e->acl, &size);

	if (value == NULL || setxattr(file_link(e->fd, name), POSIXACL_XATTR, value, size, 0) == -1)
		return refuse(e->why, WHY_IO, "%s: its ACL can't be set: %s%s", e->path, strerror(errno),
		    errno == EOPNOTSUPP ? " (mount its file system with ACLs)" : "");
	return 0;
}

static struct acl_name
name_of(const struct posixacl_entry *e)
{
	return (struct acl_name){ e->tag == POSIXACL_GROUP, e->id };
}

static struct posixacl_entry *
find_name(const struct posixacl *acl, struct acl_name who)
{
	return posixacl_find(acl, who.group ? POSIXACL_GROUP : POSIXACL_USER, who.id);
}

/* True for a named entry that is neither ours nor that of «who». */
static bool
is_others(const struct posixacl_entry *e, const struct acl_names *ours, struct acl_name who)
{
	return posixacl_is_named(e->tag) && !acl_name_among(&who, 1, name_of(e)) &&
	    !acl_name_among(ours->v, ours->n, name_of(e));
}

/* Counts the named entries of others; *hidden gets the rights that the mask takes from them. */
static unsigned
count_others(const struct posixacl *acl, const struct acl_names *ours, struct acl_name who, unsigned mask,
    unsigned *hidden)
{
	const struct posixacl_entry *e;
	unsigned n = 0;

	*hidden = 0;
	for (e = acl->v; e < acl->v + acl->n; e++)
		if (is_others(e, ours, who)) {
			n++;
			*hidden |= e->bits & ~mask;
		}
	return n;
}

/* All rights that named entries of others and the owning group have. */
static unsigned
bits_of_others(const struct posixacl *acl, const struct acl_names *ours, struct acl_name who)
{
	const struct posixacl_entry *e;
	unsigned bits = 0;

	for (e = acl->v; e < acl->v + acl->n; e++)
		if (is_others(e, ours, who) || e->tag == POSIXACL_OWNING_GROUP)
			bits |= e->bits;
	return bits;
}

static int
new_entry(struct editing *e, enum posixacl_tag tag, uint32_t id, unsigned bits)
{
	return posixacl_add(&e->acl, tag, id, bits) ? 0 : refuse_nomem(e->why);
}

/*
 * Raises the mask so that our entry takes effect. «again»: the ACL has entries of ours already. Their first one
 * has made the mask. A chmod 0600 since then lowers that mask, which takes rights from the owning group too. The group
 * does not get them back.
 */
static int
raise_mask(struct editing *e, struct acl_name who, const struct acl_names *ours, bool again)
{
	struct posixacl_entry *group = posixacl_find(&e->acl, POSIXACL_OWNING_GROUP, 0);
	struct posixacl_entry *mask = posixacl_find(&e->acl, POSIXACL_MASK, 0);
	unsigned had, hidden, others;

	if (group == NULL)
		return refuse(e->why, WHY_BUG, "%s: an ACL without a group", e->path);
	if (mask == NULL)
		return new_entry(e, POSIXACL_MASK, 0, group->bits | RW);
	if (((had = mask->bits) & RW) == RW)
		return 0;
	others = count_others(&e->acl, ours, who, had, &hidden);
	if ((group->bits & ~had) != 0 && (others > 0 || !again))
		hidden |= group->bits & ~had;
	if ((hidden & RW) != 0)
		return refuse(e->why, WHY_DENIED, "%s: the mask of its ACL keeps others out too, so it is not raised: see "
		    "getfacl %s, and remove or lower the entries that it hides", e->path, e->path);
	group->bits &= had;
	mask->bits = had | RW;
	return 0;
}

static enum acl_state
state_of(const struct posixacl *acl, struct acl_name who)
{
	const struct posixacl_entry *e = find_name(acl, who), *mask = posixacl_find(acl, POSIXACL_MASK, 0);

	if (e == NULL)
		return ACL_IS_ABSENT;
	if (e->bits != RW)
		return ACL_IS_OTHER;
	return mask == NULL || (mask->bits & RW) == RW ? ACL_IS_EFFECTIVE : ACL_IS_MASKED;
}

int
node_acl_get(int fd, const char *path, struct acl_name who, enum acl_state *state, int *mask, struct why *why)
{
	struct editing e = { .fd = fd, .path = path, .why = why };
	const struct posixacl_entry *m;
	int ret = read_acl(&e);

	if (ret == 0) {
		*state = state_of(&e.acl, who);
		*mask = (m = posixacl_find(&e.acl, POSIXACL_MASK, 0)) != NULL ? (int)m->bits : CHANGE_NO_MASK;
	}
	posixacl_free(&e.acl);
	return ret;
}

int
node_acl_add(int fd, const char *path, struct acl_name who, const struct acl_names *ours, struct why *why)
{
	struct editing e = { .fd = fd, .path = path, .why = why };
	enum acl_state state;
	int ret = -1, mask;

	if (read_acl(&e) == -1)
		return -1;
	state = state_of(&e.acl, who);
	if (state == ACL_IS_OTHER)
		ret = refuse(why, WHY_DENIED, "%s has an ACL entry for %s %u that is not «rw»: someone set it on purpose; "
		    "setfacl -x %c:%u %s removes it", path, who.group ? "group" : "user", who.id, who.group ? 'g' : 'u', who.id,
		    path);
	else if (state == ACL_IS_EFFECTIVE)
		ret = 0;
	else if ((state == ACL_IS_MASKED || new_entry(&e, who.group ? POSIXACL_GROUP : POSIXACL_USER, who.id, RW) == 0) &&
	    raise_mask(&e, who, ours, state == ACL_IS_MASKED || ours->n > 0) == 0 && write_acl(&e) == 0 &&
	    (ret = node_acl_get(fd, path, who, &state, &mask, why)) == 0 && state != ACL_IS_EFFECTIVE)
		ret = refuse(why, WHY_IO, "%s: an ACL entry was set and is not there", path);
	posixacl_free(&e.acl);
	return ret;
}

/*
 * Restores the mask when our last entry goes. Others lose no access: the restored mask still allows what their entries
 * say.
 */
static bool
lower_mask(struct editing *e, struct acl_name who, const struct acl_names *ours, int before)
{
	struct posixacl_entry *group = posixacl_find(&e->acl, POSIXACL_OWNING_GROUP, 0);
	struct posixacl_entry *mask = posixacl_find(&e->acl, POSIXACL_MASK, 0);
	unsigned had, hidden;

	if (ours->n > 0 || mask == NULL || group == NULL)
		return false;
	had = mask->bits;
	if (before != CHANGE_NO_MASK) {
		/*
		 * Leaves the mask alone if someone has lowered it since. The old mask hid nobody's rights when we
		 * raised it. An entry that it would hide now is newer, and keeps its rights.
		 */
		if ((had & RW) == RW)
			mask->bits = ((unsigned)before | bits_of_others(&e->acl, ours, who)) & had;
		return mask->bits != had;
	}
	if (count_others(&e->acl, ours, who, had, &hidden) > 0)
		return false;
	group->bits &= had;
	posixacl_remove(&e->acl, mask);
	return true;
}

int
node_acl_remove(int fd, const char *path, struct acl_name who, const struct acl_names *ours, int mask_before,
    struct why *why)
{
	struct editing e = { .fd = fd, .path = path, .why = why };
	struct posixacl_entry *entry;
	int ret = read_acl(&e);

	/* no entry: perhaps it was only planned, but the mask was raised for another entry of ours that is gone */
	if (ret == 0 && ((entry = find_name(&e.acl, who)) == NULL || entry->bits == RW)) {
		if (entry != NULL)
			posixacl_remove(&e.acl, entry);
		if (lower_mask(&e, who, ours, mask_before) || entry != NULL)
			ret = write_acl(&e);
	}
	posixacl_free(&e.acl);
	return ret;
}

int
dir_acl_set(int fd, const char *path, uint32_t uid, struct why *why)
{
	struct editing e = { .fd = fd, .path = path, .why = why };
	int ret = -1;

	if (new_entry(&e, POSIXACL_OWNER, 0, 7) == 0 && new_entry(&e, POSIXACL_USER, uid, 1) == 0 &&
	    new_entry(&e, POSIXACL_OWNING_GROUP, 0, 0) == 0 && new_entry(&e, POSIXACL_MASK, 0, 1) == 0 &&
	    new_entry(&e, POSIXACL_OTHER, 0, 0) == 0)
		ret = write_acl(&e);
	posixacl_free(&e.acl);
	return ret;
}
