/* See acts.h. Relies on the leases alone. Must never touch a node whose device number is not the granted one. */
#include "acts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "../../host/file.h"
#include "../../host/hostview.h"
#include "../../host/process/process.h"
#include "../lease/leasewrite.h"
#include "label.h"
#include "node.h"

const struct act *
acts_shared(const struct leases *ls, const struct lease *l, const struct act *a)
{
	size_t i, k;

	for (i = 0; i < ls->n; i++)
		for (k = 0; k < ls->v[i]->acts && strcmp(ls->v[i]->key, l->key) != 0; k++)
			if (act_same(&ls->v[i]->act[k], a))
				return &ls->v[i]->act[k];
	return NULL;
}

static bool
is_entry(const struct act *a)
{
	return a->kind == ACT_ALLOW_USER || a->kind == ACT_ALLOW_GROUP;
}

static struct acl_name
name_in(const struct act *a)
{
	return (struct acl_name){ a->kind == ACT_ALLOW_GROUP, a->id };
}

static void
add_acl_name(struct acl_names *out, struct acl_name name)
{
	if (!acl_name_among(out->v, out->n, name) && out->n < sizeof(out->v) / sizeof(out->v[0]))
		out->v[out->n++] = name;
}

void
acts_of_others(const struct leases *ls, const struct lease *l, const struct act *node, struct acl_names *out, int *mask)
{
	const struct act *a;
	size_t i, k;

	out->n = 0;
	for (i = 0; i < ls->n; i++) {
		if (strcmp(ls->v[i]->key, l->key) == 0)
			continue;
		for (k = 0; k < ls->v[i]->acts; k++) {
			a = &ls->v[i]->act[k];
			if (!is_entry(a) || !act_same_node(a, node))
				continue;
			add_acl_name(out, name_in(a));
			*mask = a->mask;
		}
	}
}

/* Nodes. */

/* Reads the leases that have acts on the same nodes, because they may share a node or an ACL entry with this one. */
static int
read_sharers(struct leases *ls, const struct lease *l, struct why *why)
{
	struct lease_query c = { 0 };
	size_t i;

	for (i = 0; i < l->acts; i++)
		marks_add_node(&c.marks, l->act[i].major, l->act[i].minor);
	return l->acts == 0 ? 0 : leases_read(ls, &c, why);
}

static void
staging_name(const struct act *a, char out[48])
{
	snprintf(out, 48, ".gpuhelper.%u:%u", a->major, a->minor);
}

/*
 * A node exists already. If it was made for another lease, this lease shares it, and it is removed with the last of
 * them. If somebody else made it, it stays.
 */
static int
share_node(const struct leases *ls, struct lease *l, struct act *a, int dir, const char *name, struct why *why)
{
	struct act there = *a;
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == -1 || !S_ISCHR(st.st_mode) ||
	    st.st_rdev != makedev(a->major, a->minor))
		return 0;
	there.inode = st.st_ino;
	if (acts_shared(ls, l, &there) == NULL)
		return 0;
	a->inode = there.inode;
	return leases_write(ls, l, why);
}

/*
 * Makes the node under a temporary name first. So the node has its mode and owner, and the lease has its inode, before
 * anybody finds the node under its own name.
 */
static int
make_node(const struct leases *ls, struct lease *l, struct act *a, const struct new_node *how, struct why *why)
{
	const char *name;
	char temp[48];
	struct stat st;
	mode_t mask;
	int dir, ret;

	if ((dir = node_parent(a->path, &name, why)) == -1)
		return -1;
	staging_name(a, temp);
	(void)unlinkat(dir, temp, 0);
	mask = umask(0);
	ret = mknodat(dir, temp, S_IFCHR | (how->mode & 0666U), makedev(a->major, a->minor));
	(void)umask(mask);
	if (ret == -1)
		return refuse(why, WHY_ABSENT, "%s can't be made: %s: nvidia-modprobe -c0 -u", a->path, strerror(errno));
	if (fchownat(dir, temp, how->uid, how->gid, AT_SYMLINK_NOFOLLOW) == -1 ||
	    fstatat(dir, temp, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return refuse(why, WHY_IO, "%s: %s", a->path, strerror(errno));
	a->inode = st.st_ino;
	if (leases_write(ls, l, why) == -1)
		return -1;
	if (renameat2(dir, temp, dir, name, RENAME_NOREPLACE) == -1) {
		ret = errno;
		(void)unlinkat(dir, temp, 0);
		return ret == EEXIST ? share_node(ls, l, a, dir, name, why) :
		    refuse(why, WHY_IO, "%s: %s", a->path, strerror(ret));
	}
	return 0;
}

int
acts_make_nodes(struct leases *ls, struct lease *l, const struct new_node *how, struct why *why)
{
	size_t i;

	if (read_sharers(ls, l, why) == -1)
		return -1;
	for (i = 0; i < l->acts; i++)
		if (l->act[i].kind == ACT_MAKE_NODE && l->act[i].inode == 0 && make_node(ls, l, &l->act[i], how, why) == -1)
			return -1;
	return 0;
}

static int
unmake_node(const struct act *a, struct why *why)
{
	const char *name;
	char temp[48];
	struct stat st;
	int dir;

	if ((dir = node_parent(a->path, &name, why)) == -1)
		return why->code == WHY_ABSENT ? 0 : -1;
	staging_name(a, temp);
	if (unlinkat(dir, temp, 0) == -1 && errno != ENOENT)
		return refuse(why, WHY_IO, "%s: %s", a->path, strerror(errno));
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return errno == ENOENT ? 0 : refuse(why, WHY_IO, "%s: %s", a->path, strerror(errno));
	/* nvidia-modprobe may have made a node of its own here, which must stay */
	if (!S_ISCHR(st.st_mode) || st.st_rdev != makedev(a->major, a->minor) || st.st_ino != a->inode)
		return 0;
	if (unlinkat(dir, name, 0) == -1 && errno != ENOENT)
		return refuse(why, WHY_IO, "%s: %s", a->path, strerror(errno));
	return 0;
}

/* ACL entries. */

/* Gets all entries that gpuhelper has set on the node of an act of l, except that act's own. */
static void
ours_besides(const struct leases *ls, const struct lease *l, const struct act *a, struct acl_names *ours)
{
	int ignored;
	size_t i;

	acts_of_others(ls, l, a, ours, &ignored);
	for (i = 0; i < l->acts; i++)
		if (&l->act[i] != a && is_entry(&l->act[i]) && act_same_node(&l->act[i], a))
			add_acl_name(ours, name_in(&l->act[i]));
}

static int
allow_entry(const struct leases *ls, const struct lease *l, const struct act *a, struct why *why)
{
	autoclose int fd = -1;
	struct acl_names ours;
	struct stat st;

	ours_besides(ls, l, a, &ours);
	return (fd = node_pin(a->path, a->major, a->minor, &st, why)) < 0 ? -1 :
	    node_acl_add(fd, a->path, name_in(a), &ours, why);
}

/* Labels. */

static int
relabel(const struct act *a, int (*how)(int fd, const struct act *a, struct why *why), struct why *why)
{
	struct stat st;
	autoclose int fd = node_pin(a->path, a->major, a->minor, &st, why);

	return fd < 0 ? -1 : how(fd, a, why);
}

int
acts_allow(struct leases *ls, const struct lease *l, struct why *why)
{
	size_t i;
	int ret = 0;

	if (read_sharers(ls, l, why) == -1)
		return -1;
	/* goes on after a failure: a missing node must not keep the others from being repaired */
	for (i = 0; i < l->acts; i++)
		if ((is_entry(&l->act[i]) && allow_entry(ls, l, &l->act[i], why) == -1) ||
		    (l->act[i].kind == ACT_LABEL && relabel(&l->act[i], label_set, why) == -1))
			ret = -1;
	return ret;
}

static int
disallow_entry(const struct leases *ls, const struct lease *l, const struct act *a, struct why *why)
{
	autoclose int fd = -1;
	struct acl_names ours;
	struct stat st;

	ours_besides(ls, l, a, &ours);
	/* a node that is gone or was replaced has no entry of ours */
	if ((fd = node_pin(a->path, a->major, a->minor, &st, why)) < 0)
		return why->code == WHY_ABSENT ? 0 : -1;
	return node_acl_remove(fd, a->path, name_in(a), &ours, a->mask, why);
}

static int
undo_act(const struct leases *ls, const struct lease *l, const struct act *a, struct why *why)
{
	char now[40];

	/*
	 * Something is mounted over the node, so that its state can't be seen: the act is not undone. But if the lease is
	 * of another boot, nothing is left to undo, because devtmpfs is new.
	 */
	if (hostview_compare(a->path, WHY_IO, why) == -1)
		return boot_id(now) && strcmp(l->boot, now) != 0 ? 0 : -1;
	switch (a->kind) {
	case ACT_MAKE_NODE:
		return unmake_node(a, why);
	case ACT_LABEL:
		/* a node that is gone or was replaced has no label of ours */
		return relabel(a, label_reset, why) == -1 && why->code != WHY_ABSENT ? -1 : 0;
	default:
		return disallow_entry(ls, l, a, why);
	}
}

static int
undo_acts_but(struct leases *ls, struct lease *l, bool keep_nodes, struct why *why)
{
	size_t i = l->acts, left;
	int ret = 0;

	if (read_sharers(ls, l, why) == -1)
		return -1;
	/* the last act first; goes on after a failure, which must not keep the others from being undone */
	while (i-- > 0) {
		const struct act *a = &l->act[i];

		if (keep_nodes && a->kind == ACT_MAKE_NODE)
			continue;
		if (acts_shared(ls, l, a) == NULL && undo_act(ls, l, a, why) == -1) {
			ret = -1;
			continue;
		}
		left = l->acts - i - 1;
		memmove(&l->act[i], &l->act[i + 1], left * sizeof(*a));
		l->acts--;
	}
	return ret;
}

int
acts_undo(struct leases *ls, struct lease *l, struct why *why)
{
	return undo_acts_but(ls, l, false, why);
}

int
acts_undo_access(struct leases *ls, struct lease *l, struct why *why)
{
	return undo_acts_but(ls, l, true, why);
}

/* Trouble. */

static bool
add_trouble(struct strlist *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static bool
add_trouble(struct strlist *out, const char *fmt, ...)
{
	char line[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	return strlist_add(out, line, SIZE_MAX);
}

static bool
entry_trouble(int fd, const struct act *a, struct strlist *out)
{
	const char *kind = a->kind == ACT_ALLOW_GROUP ? "group" : "user";
	enum acl_state state;
	char now[SECONTEXT_MAX];
	struct why why;
	int mask;

	if (a->kind == ACT_LABEL) {
		if (!selinux_label_of(fd, now))
			return add_trouble(out, "%s: its SELinux label can't be read: %s", a->path, strerror(errno));
		return strcmp(now, a->label) == 0 || add_trouble(out, "%s has the SELinux label %s instead of %s: gpuhelperctl "
		    "reapply", a->path, now, a->label);
	}
	if (node_acl_look(fd, a->path, name_in(a), &state, &mask, &why) == -1)
		return add_trouble(out, "%s", why.text);
	if (state == ACL_IS_EFFECTIVE)
		return true;
	return add_trouble(out, "%s: the ACL entry of %s %u %s: gpuhelperctl reapply", a->path, kind, a->id,
	    state == ACL_IS_ABSENT ? "is gone" : state == ACL_IS_MASKED ? "is masked (a chmod does that)" :
	    "was changed by someone");
}

static bool
mode_trouble(int fd, const struct edit_node *n, const struct stat *st, struct strlist *out)
{
	uint32_t mode;

	if (!node_mode(fd, st, &mode))
		return add_trouble(out, "%s: its ACL can't be read", n->path);
	if (n->mode == LEASE_MODE_UNKNOWN)
		return true;
	if ((mode & ~n->mode & 06) != 0)
		return add_trouble(out, "%s is open to every user of the host (mode %04o, was %04o when it was granted): chmod o= %s",
		    n->path, mode, n->mode, n->path);
	if (mode != n->mode || st->st_uid != n->uid || st->st_gid != n->gid)
		return add_trouble(out, "%s was changed since it was granted (mode %04o, owner %u:%u; was %04o, %u:%u): the "
		    "container may be shut out", n->path, mode, st->st_uid, st->st_gid, n->mode, n->uid, n->gid);
	return true;
}

static bool
node_trouble(const struct lease *l, const struct edit_node *n, struct strlist *out)
{
	autoclose int fd = -1;
	struct stat st;
	struct why why;
	size_t i;

	if ((fd = node_pin(n->path, n->major, n->minor, &st, &why)) < 0)
		return add_trouble(out, "%s", why.text);
	for (i = 0; i < l->acts; i++)
		if (l->act[i].kind != ACT_MAKE_NODE && strcmp(l->act[i].path, n->path) == 0 &&
		    !entry_trouble(fd, &l->act[i], out))
			return false;
	return mode_trouble(fd, n, &st, out);
}

/* True for a node of one GPU. A node that several GPUs share is only among the lease's acts. */
static bool
is_own_node(const struct lease *l, const char *path)
{
	size_t i;

	for (i = 0; i < l->nodes; i++)
		if (strcmp(l->node[i].path, path) == 0)
			return true;
	return false;
}

bool
acts_trouble(const struct lease *l, struct strlist *out)
{
	struct edit_node shared;
	size_t i;

	for (i = 0; i < l->nodes; i++)
		if (!node_trouble(l, &l->node[i], out))
			return false;
	for (i = 0; i < l->acts; i++) {
		if (l->act[i].kind == ACT_MAKE_NODE || is_own_node(l, l->act[i].path))
			continue;
		shared = (struct edit_node){ .major = l->act[i].major, .minor = l->act[i].minor, .mode = LEASE_MODE_UNKNOWN };
		snprintf(shared.path, sizeof(shared.path), "%s", l->act[i].path);
		if (!node_trouble(l, &shared, out))
			return false;
	}
	return true;
}
