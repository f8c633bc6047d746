/*
 * See device.h. Never opens a GPU, since opening one has effects. Never acts on a path, only on the pinned node. The
 * names come from the tables of gpu.h.
 */
#include "device.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../host/file.h"
#include "../../host/users.h"
#include "acl.h"
#include "changes.h"
#include "node.h"

/* Nodes that are not there. */

static int
refuse_missing(const struct gpu_node *n, const struct inventory *inv, struct why *why)
{
	if (n->read_only)
		return refuse(why, WHY_ABSENT, "%s is not there: nvidia-modprobe -f makes it, see nvidia-modprobe(1)", n->path);
	if (!text_starts(n->path, "/dev/nvidia"))
		return refuse(why, WHY_ABSENT, "%s is not there: is udev running, and the driver loaded?", n->path);
	if (!inv->nvidia_modify)
		return refuse(why, WHY_ABSENT, "%s is not there, and NVreg_ModifyDeviceFiles=0 leaves making it to you: "
		    "nvidia-modprobe -c0 -u", n->path);
	return refuse(why, WHY_ABSENT, "%s could not be made: nvidia-modprobe -c0 -u", n->path);
}

static struct change
change_on(const struct gpu_node *n, enum change_kind kind)
{
	struct change a = { .kind = kind, .major = n->major, .minor = n->minor };

	snprintf(a.path, sizeof(a.path), "%s", n->path);
	return a;
}

static bool
may_be_made(const struct gpu_node *n)
{
	return !n->read_only && text_starts(n->path, "/dev/nvidia");
}

/* A node that was made for a lease that still lives is removed with the last lease that needs it. */
static int
share_made(const struct device_view *v, const struct gpu_node *n, const struct stat *st, struct why *why)
{
	const struct ledger_node *had = ledger_read(n->path, n->major, n->minor, why);
	struct change make = change_on(n, CHANGE_MAKE_NODE);

	make.shared = true;
	if (had == NULL)
		return -1;
	return had->inode != st->st_ino || changes_add(v->changes, &make) ? 0 : refuse_nomem(why);
}

int
device_plan(const struct device_view *v, const struct gpu_node *n, struct edits *unused, struct why *why)
{
	const struct change make = change_on(n, CHANGE_MAKE_NODE);
	const char *name;
	struct stat st;
	int dir;

	(void)unused;
	if (gpu_node_check(n, why) == -1)
		return -1;
	if ((dir = node_parent(n->path, &name, why)) == -1)
		return n->optional ? 0 : why->code == WHY_ABSENT ? refuse_missing(n, v->inv, why) : -1;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return may_be_made(n) ? share_made(v, n, &st, why) : 0;
	if (errno != ENOENT)
		return refuse(why, WHY_IO, "%s: %s", n->path, strerror(errno));
	if (n->optional)
		return 0;
	if (!may_be_made(n) || !v->inv->nvidia_modify)
		return refuse_missing(n, v->inv, why);
	return changes_add(v->changes, &make) ? 0 : refuse_nomem(why);
}

/* Who may use a node. */

/* Adds a group that may use the node, by its gid in the container. False if no group helps. */
static bool
group_helps(const struct device_view *v, int fd, const struct stat *st, int want, struct edits *out)
{
	const int group = access_of_group(fd);
	uint32_t gid;
	size_t i;

	/* a rootless runtime can't add groups, and gid 0 must not be given to anyone */
	if (!v->peer->client.rootful || st->st_gid == 0 || group == -1 || (group & want) != want ||
	    !idmap_in(v->subject->gidmap, st->st_gid, &gid))
		return false;
	for (i = 0; i < out->gids; i++)
		if (out->gid[i] == gid)
			return true;
	if (out->gids == sizeof(out->gid) / sizeof(out->gid[0]))
		return false;
	out->gid[out->gids++] = gid;
	return true;
}

static int
refuse_entry(const struct device_view *v, const struct gpu_node *n, bool group, const struct stat *st, struct why *why)
{
	const struct subject *s = v->subject;

	if (!s->mapped)
		return refuse(why, WHY_DENIED, "%s: the container's user is not mapped to a user of this host", n->path);
	if (group)
		return refuse(why, WHY_DENIED, "%s (mode %04o) does not let the container's group (gid %u here) in, and that is "
		    "not a group of the caller's own (one of /etc/subgid, or a primary group without other members): "
		    "setfacl -m g:%u:rw %s", n->path, st->st_mode & 0777U, s->gid, s->gid, n->path);
	return refuse(why, WHY_DENIED, "%s (mode %04o) does not let the container's user (uid %u here) in, and that is not an "
	    "id of the caller's own (/etc/subuid): setfacl -m u:%u:rw %s", n->path, st->st_mode & 0777U, s->uid, s->uid,
	    n->path);
}

/*
 * True if the container gets the host's node, by a bind mount. For a rootful container without a user namespace, runc
 * makes a node of its own, so that an entry on the host's node would have no effect.
 */
static bool
sees_hosts_node(const struct device_view *v)
{
	return !(v->peer->client.rootful && v->subject->uidmap->identity);
}

/* True if the entry's id is the caller's own. */
static bool
is_callers(const struct device_view *v, const struct change *entry)
{
	const struct client *who = &v->peer->client;

	if (!v->subject->mapped)
		return false;
	return entry->kind == CHANGE_ALLOW_GROUP ? user_owns_gid(who->uid, who->user, v->peer->gid, entry->id) :
	    user_owns_uid(who->uid, who->user, entry->id);
}

/* Plans the ACL entry that gives the container's process access. */
static int
plan_entry(const struct device_view *v, const struct gpu_node *n, int fd, const struct stat *st, bool group,
    struct why *why)
{
	struct change a = change_on(n, group ? CHANGE_ALLOW_GROUP : CHANGE_ALLOW_USER);
	enum acl_state state;
	int mask;

	a.id = group ? v->subject->gid : v->subject->uid;
	if (!sees_hosts_node(v) || !is_callers(v, &a))
		return refuse_entry(v, n, group, st, why);
	if (node_acl_get(fd, n->path, (struct acl_name){ group, a.id }, &state, &mask, why) == -1)
		return -1;
	if (state != ACL_IS_ABSENT)
		return refuse(why, WHY_DENIED, "%s has an ACL entry for %s %u that lets nobody in: see getfacl %s, and mend or "
		    "remove it", n->path, group ? "group" : "user", a.id, n->path);
	return changes_add(v->changes, &a) ? 0 : refuse_nomem(why);
}

/* True if the caller's container has access by this entry of another lease. */
static bool
helps(const struct device_view *v, const struct ledger_node *had, const struct change *entry)
{
	size_t i;

	for (i = 0; i < had->entries; i++)
		if (had->entry[i].kind == entry->kind && had->entry[i].id == entry->id)
			return is_callers(v, entry);
	return false;
}

static int
let_in(const struct device_view *v, const struct gpu_node *n, int fd, const struct stat *st, struct edits *out,
    struct why *why)
{
	/* first: a node whose entries are unknown is granted to nobody */
	const struct ledger_node *had = ledger_read(n->path, n->major, n->minor, why);
	struct change user = change_on(n, CHANGE_ALLOW_USER), group = change_on(n, CHANGE_ALLOW_GROUP);
	const int want = n->read_only ? R_OK : R_OK | W_OK;
	struct acl_names ours;

	if (had == NULL)
		return -1;
	user.id = v->subject->uid;
	group.id = v->subject->gid;
	/* a node that everyone may use needs nothing; a group helps every user of the container, not only this one */
	if (((int)st->st_mode & want) == want || group_helps(v, fd, st, want, out))
		return 0;
	/* an entry that another lease has made is removed when that lease ends, unless this lease has made it, too */
	if (helps(v, had, &user))
		return changes_add(v->changes, &user) ? 0 : refuse_nomem(why);
	if (helps(v, had, &group))
		return changes_add(v->changes, &group) ? 0 : refuse_nomem(why);
	changes_acl_names(had, NULL, &ours);
	return access_ignoring(fd, v->subject, want, ours.v, ours.n) ? 0 :
	    plan_entry(v, n, fd, st, inventory_udev_clears(v->inv, n->major, n->minor), why);
}

/* Notes the node's mode and owner in the lease. changes_trouble() compares them later. */
static void
note_mode(struct lease *l, const struct gpu_node *n, uint32_t mode, const struct stat *st)
{
	size_t i;

	for (i = 0; i < l->nodes; i++)
		if (strcmp(l->node[i].path, n->path) == 0) {
			l->node[i].mode = mode;
			l->node[i].uid = st->st_uid;
			l->node[i].gid = st->st_gid;
		}
}

int
device_add(const struct device_view *v, const struct gpu_node *n, struct edits *out, struct why *why)
{
	const struct change node = change_on(n, CHANGE_LABEL);
	struct edit_node e = { .major = n->major, .minor = n->minor };
	autoclose int fd = -1;
	enum label_use use;
	struct stat st;

	if (gpu_node_check(n, why) == -1)
		return -1;
	if ((fd = node_pin(n->path, n->major, n->minor, &st, why)) < 0)
		return n->optional && fd == -2 ? 0 : -1;
	if (let_in(v, n, fd, &st, out, why) == -1)
		return -1;
	/* a node that the runtime makes gets the label of the container's files */
	use = !sees_hosts_node(v) ? LABEL_NO_USE : n->read_only ? LABEL_READ_NODE : LABEL_USE_NODE;
	if ((use != LABEL_NO_USE || v->alone) && label_node(v->label, fd, &node, use, v->alone, v->changes, why) == -1)
		return -1;
	snprintf(e.path, sizeof(e.path), "%s", n->path);
	if (!node_mode(fd, &st, &e.mode))
		return refuse(why, WHY_IO, "%s: its ACL can't be read", n->path);
	e.uid = st.st_uid;
	e.gid = st.st_gid;
	note_mode(v->lease, n, e.mode, &st);
	return edits_add_node(out, &e) ? 0 : refuse_nomem(why);
}

static int
each(const struct device_view *v, const struct gpu_node *nodes, size_t n, unsigned capabilities, device_do *what,
    struct edits *out, struct why *why)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (gpu_node_is_needed(&nodes[i], capabilities))
			if (what(v, &nodes[i], out, why) == -1)
				return -1;
	return 0;
}

int
device_each(const struct device_view *v, const struct gpu *g, unsigned capabilities, device_do *what, struct edits *out,
    struct why *why)
{
	const struct inventory *inv = v->inv;
	struct device_view common = *v;

	common.alone = false;
	return each(v, g->node, g->nodes, capabilities, what, out, why) == -1 ? -1 :
	    each(&common, inv->common[g->vendor], inv->commons[g->vendor], capabilities, what, out, why);
}
