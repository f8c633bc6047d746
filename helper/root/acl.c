/*
 * See acl.h.  Reads, changes and writes an ACL as a whole, so under the leases'
 * lock: of changes that come at once without one, some are lost.  Through
 * /proc/self/fd, for libacl's acl_get_fd() wants more than O_PATH, and opening a
 * GPU does things to it.
 */
#include "acl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/acl.h>

#include <acl/libacl.h>

#include "../pure/leasefile.h"

#define RW 6	/* in the bits of a mode */

/* An ACL in hand, and what it is of. */
struct editing {
	int fd;
	const char *path;
	acl_t acl;
	struct why *why;
};

static void
put_acl(acl_t *acl)
{
	if (*acl != NULL)
		acl_free(*acl);
}
#define autoacl __attribute__((cleanup(put_acl)))

static const char *
proc_name(int fd, char out[40])
{
	snprintf(out, 40, "/proc/self/fd/%d", fd);
	return out;
}

static int
read_acl(struct editing *e)
{
	char name[40];

	if ((e->acl = acl_get_file(proc_name(e->fd, name), ACL_TYPE_ACCESS)) == NULL)
		return refuse(e->why, WHY_IO, "%s: its ACL can't be read: %s", e->path, strerror(errno));
	return 0;
}

static int
write_acl(const struct editing *e)
{
	char name[40];

	if (acl_set_file(proc_name(e->fd, name), ACL_TYPE_ACCESS, e->acl) == -1)
		return refuse(e->why, WHY_IO, "%s: its ACL can't be set: %s%s", e->path, strerror(errno),
		    errno == EOPNOTSUPP ? " (mount its file system with ACLs)" : "");
	return 0;
}

static int
bits_of(acl_entry_t e)
{
	acl_permset_t set;

	if (acl_get_permset(e, &set) == -1)
		return 0;
	return (acl_get_perm(set, ACL_READ) == 1 ? 4 : 0) | (acl_get_perm(set, ACL_WRITE) == 1 ? 2 : 0) |
	    (acl_get_perm(set, ACL_EXECUTE) == 1 ? 1 : 0);
}

static int
set_bits(const struct editing *e, acl_entry_t entry, int bits)
{
	acl_permset_t set;

	if (acl_get_permset(entry, &set) == -1 || acl_clear_perms(set) == -1 ||
	    ((bits & 4) != 0 && acl_add_perm(set, ACL_READ) == -1) ||
	    ((bits & 2) != 0 && acl_add_perm(set, ACL_WRITE) == -1) ||
	    ((bits & 1) != 0 && acl_add_perm(set, ACL_EXECUTE) == -1))
		return refuse(e->why, WHY_BUG, "%s: libacl: %s", e->path, strerror(errno));
	return 0;
}

/* True for a named entry, with its name. */
static bool
name_of(acl_entry_t entry, struct acl_name *out)
{
	acl_tag_t tag;
	void *id;

	if (acl_get_tag_type(entry, &tag) == -1 || (tag != ACL_USER && tag != ACL_GROUP) ||
	    (id = acl_get_qualifier(entry)) == NULL)
		return false;
	*out = (struct acl_name){ tag == ACL_GROUP, *(id_t *)id };
	acl_free(id);
	return true;
}

/* The entry of a tag that has no name; NULL if there is none. */
static acl_entry_t
find_tag(acl_t acl, acl_tag_t wanted)
{
	acl_entry_t e;
	acl_tag_t tag;
	int which;

	for (which = ACL_FIRST_ENTRY; acl_get_entry(acl, which, &e) == 1; which = ACL_NEXT_ENTRY)
		if (acl_get_tag_type(e, &tag) == 0 && tag == wanted)
			return e;
	return NULL;
}

static acl_entry_t
find_name(acl_t acl, struct acl_name who)
{
	struct acl_name name;
	acl_entry_t e;
	int which;

	for (which = ACL_FIRST_ENTRY; acl_get_entry(acl, which, &e) == 1; which = ACL_NEXT_ENTRY)
		if (name_of(e, &name) && acl_name_among(&who, 1, name))
			return e;
	return NULL;
}

/* Not one of ours, and not the one in hand. */
static bool
is_others(struct acl_name name, const struct acl_names *ours, struct acl_name who)
{
	return !acl_name_among(&who, 1, name) && !acl_name_among(ours->v, ours->n, name);
}

/* How many named entries are someone else's; *hidden gets the rights that a mask takes from one of them. */
static unsigned
count_others(acl_t acl, const struct acl_names *ours, struct acl_name who, int mask, int *hidden)
{
	struct acl_name name;
	unsigned n = 0;
	acl_entry_t e;
	int which;

	*hidden = 0;
	for (which = ACL_FIRST_ENTRY; acl_get_entry(acl, which, &e) == 1; which = ACL_NEXT_ENTRY)
		if (name_of(e, &name) && is_others(name, ours, who)) {
			n++;
			*hidden |= bits_of(e) & ~mask;
		}
	return n;
}

/* What named entries of others and the owning group say, all together. */
static int
bits_of_others(acl_t acl, const struct acl_names *ours, struct acl_name who)
{
	int which, bits = 0;
	struct acl_name name;
	acl_entry_t e;
	acl_tag_t tag;

	for (which = ACL_FIRST_ENTRY; acl_get_entry(acl, which, &e) == 1; which = ACL_NEXT_ENTRY)
		if (name_of(e, &name) ? is_others(name, ours, who) :
		    acl_get_tag_type(e, &tag) == 0 && tag == ACL_GROUP_OBJ)
			bits |= bits_of(e);
	return bits;
}

static int
new_entry(struct editing *e, acl_tag_t tag, const struct acl_name *who, int bits)
{
	acl_entry_t entry;
	id_t id = who != NULL ? who->id : 0;

	if (acl_create_entry(&e->acl, &entry) == -1 || acl_set_tag_type(entry, tag) == -1 ||
	    (who != NULL && acl_set_qualifier(entry, &id) == -1))
		return refuse(e->why, WHY_BUG, "%s: libacl: %s", e->path, strerror(errno));
	return set_bits(e, entry, bits);
}

/*
 * Raises the mask so that our entry counts.  «again»: there are entries of ours
 * already, so the mask came with them.  Where it was lowered since (chmod 0600)
 * that took the owning group's rights too, and they stay taken.
 */
static int
raise_mask(struct editing *e, struct acl_name who, const struct acl_names *ours, bool again)
{
	acl_entry_t group = find_tag(e->acl, ACL_GROUP_OBJ), mask = find_tag(e->acl, ACL_MASK);
	int had, hidden;
	unsigned others;

	if (group == NULL)
		return refuse(e->why, WHY_BUG, "%s: an ACL without a group", e->path);
	if (mask == NULL)
		return new_entry(e, ACL_MASK, NULL, bits_of(group) | RW);
	if (((had = bits_of(mask)) & RW) == RW)
		return 0;
	others = count_others(e->acl, ours, who, had, &hidden);
	if ((bits_of(group) & ~had) != 0 && (others > 0 || !again))
		hidden |= bits_of(group) & ~had;
	if ((hidden & RW) != 0)
		return refuse(e->why, WHY_DENIED, "%s: the mask of its ACL keeps others out too, so it is not raised: see "
		    "getfacl %s, and remove or lower the entries that it hides", e->path, e->path);
	return set_bits(e, group, bits_of(group) & had) == -1 ? -1 : set_bits(e, mask, had | RW);
}

static enum acl_state
state_of(acl_t acl, struct acl_name who)
{
	acl_entry_t e = find_name(acl, who), mask = find_tag(acl, ACL_MASK);

	if (e == NULL)
		return ACL_IS_ABSENT;
	if (bits_of(e) != RW)
		return ACL_IS_OTHER;
	return mask == NULL || (bits_of(mask) & RW) == RW ? ACL_IS_EFFECTIVE : ACL_IS_MASKED;
}

int
node_acl_look(int fd, const char *path, struct acl_name who, enum acl_state *state, int *mask, struct why *why)
{
	autoacl acl_t acl = NULL;
	struct editing e = { .fd = fd, .path = path, .why = why };
	acl_entry_t m;

	if (read_acl(&e) == -1)
		return -1;
	acl = e.acl;
	*state = state_of(acl, who);
	*mask = (m = find_tag(acl, ACL_MASK)) != NULL ? bits_of(m) : ACT_NO_MASK;
	return 0;
}

int
node_acl_add(int fd, const char *path, struct acl_name who, const struct acl_names *ours, struct why *why)
{
	struct editing e = { .fd = fd, .path = path, .why = why };
	enum acl_state state;
	int ret = -1, mask;

	if (read_acl(&e) == -1)
		return -1;
	state = state_of(e.acl, who);
	if (state == ACL_IS_OTHER)
		ret = refuse(why, WHY_DENIED, "%s has an ACL entry for %s %u that is not «rw»: someone set it on purpose; "
		    "setfacl -x %c:%u %s removes it", path, who.group ? "group" : "user", who.id, who.group ? 'g' : 'u', who.id,
		    path);
	else if (state == ACL_IS_EFFECTIVE)
		ret = 0;
	else if ((state == ACL_IS_MASKED || new_entry(&e, who.group ? ACL_GROUP : ACL_USER, &who, RW) == 0) &&
	    raise_mask(&e, who, ours, state == ACL_IS_MASKED || ours->n > 0) == 0 && write_acl(&e) == 0 &&
	    (ret = node_acl_look(fd, path, who, &state, &mask, why)) == 0 && state != ACL_IS_EFFECTIVE)
		ret = refuse(why, WHY_IO, "%s: an ACL entry was set and is not there", path);
	acl_free(e.acl);
	return ret;
}

/* With the last entry of ours, the mask goes back to what it was. */
static int
lower_mask(struct editing *e, struct acl_name who, const struct acl_names *ours, int before)
{
	acl_entry_t group = find_tag(e->acl, ACL_GROUP_OBJ), mask = find_tag(e->acl, ACL_MASK);
	unsigned others;
	int had, hidden;

	if (ours->n > 0 || mask == NULL || group == NULL)
		return 0;
	had = bits_of(mask);
	others = count_others(e->acl, ours, who, had, &hidden);
	if (before != ACT_NO_MASK)
		/*
		 * If someone changed it since, it is his.  It hid no one when it was raised: an entry that it would hide
		 * is newer.
		 */
		return (had & RW) == RW ? set_bits(e, mask, before | (bits_of_others(e->acl, ours, who) & had)) : 0;
	if (others > 0)
		return 0;
	if (set_bits(e, group, bits_of(group) & had) == -1)
		return -1;
	if (acl_delete_entry(e->acl, mask) == -1)
		return refuse(e->why, WHY_BUG, "%s: libacl: %s", e->path, strerror(errno));
	return 0;
}

int
node_acl_remove(int fd, const char *path, struct acl_name who, const struct acl_names *ours, int mask_before,
    struct why *why)
{
	struct editing e = { .fd = fd, .path = path, .why = why };
	acl_entry_t entry;
	int ret = 0;

	if (read_acl(&e) == -1)
		return -1;
	if ((entry = find_name(e.acl, who)) != NULL && bits_of(entry) == RW) {
		if (acl_delete_entry(e.acl, entry) == -1)
			ret = refuse(why, WHY_BUG, "%s: libacl: %s", path, strerror(errno));
		else if ((ret = lower_mask(&e, who, ours, mask_before)) == 0)
			ret = write_acl(&e);
	}
	acl_free(e.acl);
	return ret;
}

int
dir_acl_set(int fd, const char *path, uint32_t uid, struct why *why)
{
	const struct acl_name who = { false, uid };
	struct editing e = { .fd = fd, .path = path, .why = why };
	int ret;

	if ((e.acl = acl_init(5)) == NULL)
		return refuse_nomem(why);
	ret = new_entry(&e, ACL_USER_OBJ, NULL, 7) == -1 || new_entry(&e, ACL_USER, &who, 5) == -1 ||
	    new_entry(&e, ACL_GROUP_OBJ, NULL, 0) == -1 || new_entry(&e, ACL_MASK, NULL, 5) == -1 ||
	    new_entry(&e, ACL_OTHER, NULL, 0) == -1 ? -1 : write_acl(&e);
	acl_free(e.acl);
	return ret;
}
