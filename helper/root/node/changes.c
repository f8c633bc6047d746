/*
 * See changes.h. Relies on the ledger alone. Must never touch a node whose device number is not the granted one. Writes
 * an entry into the ledger before the change is done, and removes the entry after the change is undone.
 */
#include "changes.h"

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
#include "../lease/ledger.h"
#include "acl.h"
#include "label.h"
#include "node.h"

static struct acl_name
name_in(const struct ledger_entry *e)
{
	return (struct acl_name){ e->kind == CHANGE_ALLOW_GROUP, e->id };
}

static void
add_acl_name(struct acl_names *out, struct acl_name name)
{
	if (!acl_name_among(out->v, out->n, name) && out->n < sizeof(out->v) / sizeof(out->v[0]))
		out->v[out->n++] = name;
}

void
changes_acl_names(const struct ledger_node *n, const struct ledger_entry *but, struct acl_names *out)
{
	size_t i;

	out->n = 0;
	for (i = 0; i < n->entries; i++)
		if (&n->entry[i] != but && !n->entry[i].undone && change_is_acl(n->entry[i].kind))
			add_acl_name(out, name_in(&n->entry[i]));
}

/* Nodes. */

static void
staging_name(const struct ledger_node *n, char out[48])
{
	snprintf(out, 48, ".gpuhelper.%u:%u", n->major, n->minor);
}

/* A directory's entry, whatever it is now, is the node with this inode. */
static bool
is_made_node(int dir, const char *name, const struct ledger_node *n)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISCHR(st.st_mode) &&
	    st.st_rdev == makedev(n->major, n->minor) && st.st_ino == n->inode;
}

/*
 * Makes the node under a temporary name first. So the node has its mode and owner, and the ledger has its inode, before
 * anybody finds the node under its own name. A node that somebody else makes meanwhile stays: its inode is another.
 */
static int
make_node(struct ledger_node *n, const struct new_node *how, struct why *why)
{
	const char *name;
	char temp[48];
	struct stat st;
	mode_t mask;
	int dir, ret;

	if ((dir = node_parent(n->path, &name, why)) == -1)
		return -1;
	staging_name(n, temp);
	(void)unlinkat(dir, temp, 0);
	mask = umask(0);
	ret = mknodat(dir, temp, S_IFCHR | (how->mode & 0666U), makedev(n->major, n->minor));
	(void)umask(mask);
	if (ret == -1)
		return refuse(why, WHY_ABSENT, "%s can't be made: %s: nvidia-modprobe -c0 -u", n->path, strerror(errno));
	if (fchownat(dir, temp, how->uid, how->gid, AT_SYMLINK_NOFOLLOW) == -1 ||
	    fstatat(dir, temp, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return refuse(why, WHY_IO, "%s: %s", n->path, strerror(errno));
	n->inode = st.st_ino;
	if (ledger_write(n, why) == -1)
		return -1;
	if (renameat2(dir, temp, dir, name, RENAME_NOREPLACE) == -1) {
		ret = errno;
		(void)unlinkat(dir, temp, 0);
		return ret == EEXIST ? 0 : refuse(why, WHY_IO, "%s: %s", n->path, strerror(ret));
	}
	return 0;
}

/* Makes the node, unless the one is there that was made for other leases, and that this lease shares with them. */
static int
make_or_share(struct ledger_node *n, const struct new_node *how, struct why *why)
{
	const char *name;
	int dir;

	if (n->inode != 0 && (dir = node_parent(n->path, &name, why)) != -1 && is_made_node(dir, name, n))
		return 0;
	return make_node(n, how, why);
}

/* Writes an entry for the change, if the lease has none. NULL with *why. */
static struct ledger_entry *
note_change(struct ledger_node *n, const struct lease *l, const struct change *a, const char *was, struct why *why)
{
	struct ledger_entry *e = ledger_find(n, l->key, a);

	if (e != NULL)
		return e;
	if ((e = ledger_add(n, l->key, l->uid, a, was)) == NULL) {
		refuse_nomem(why);
		return NULL;
	}
	return ledger_write(n, why) == -1 ? NULL : e;
}

int
changes_make_nodes(const struct changes *changes, const struct lease *l, const struct new_node *how, struct why *why)
{
	struct ledger_node *n;
	const struct change *a;

	for (a = changes->v; a < changes->v + changes->n; a++)
		if (a->kind == CHANGE_MAKE_NODE && ((n = ledger_read(a->path, a->major, a->minor, why)) == NULL ||
		    note_change(n, l, a, NULL, why) == NULL || make_or_share(n, how, why) == -1))
			return -1;
	return 0;
}

static int
unmake_node(const struct ledger_node *n, struct why *why)
{
	const char *name;
	char temp[48];
	int dir;

	if ((dir = node_parent(n->path, &name, why)) == -1)
		return why->code == WHY_ABSENT ? 0 : -1;
	staging_name(n, temp);
	if (unlinkat(dir, temp, 0) == -1 && errno != ENOENT)
		return refuse(why, WHY_IO, "%s: %s", n->path, strerror(errno));
	/* nvidia-modprobe may have made a node of its own here, which must stay */
	if (!is_made_node(dir, name, n))
		return 0;
	if (unlinkat(dir, name, 0) == -1 && errno != ENOENT)
		return refuse(why, WHY_IO, "%s: %s", n->path, strerror(errno));
	return 0;
}

/* Access and labels. */

/* Before the first ACL entry: notes the ACL's mask. */
static int
note_mask(struct ledger_node *n, int fd, const struct change *a, struct why *why)
{
	const struct acl_name name = { a->kind == CHANGE_ALLOW_GROUP, a->id };
	struct acl_names ours;
	enum acl_state state;

	changes_acl_names(n, NULL, &ours);
	return ours.n > 0 ? 0 : node_acl_get(fd, a->path, name, &state, &n->mask, why);
}

/* The label before: if an entry of another lease has the same label, the one before that entry. */
static int
find_label_before(const struct ledger_node *n, int fd, const struct change *a, char was[SECONTEXT_MAX], struct why *why)
{
	const struct ledger_entry *e;

	for (e = n->entry; e < n->entry + n->entries; e++)
		if (e->label != NULL && strcmp(e->label, a->label) == 0) {
			snprintf(was, SECONTEXT_MAX, "%s", e->was != NULL ? e->was : "");
			return 0;
		}
	return selinux_label_of(fd, was) ? 0 : refuse(why, WHY_IO, "%s: its SELinux label can't be read: %s", a->path,
	    strerror(errno));
}

static int
set_entry(const struct ledger_node *n, const struct ledger_entry *e, int fd, struct why *why)
{
	struct acl_names ours;

	if (e->kind == CHANGE_LABEL)
		return label_set(fd, n->path, e->label, why);
	changes_acl_names(n, e, &ours);
	return node_acl_add(fd, n->path, name_in(e), &ours, why);
}

/* Does a change that is no node's making: the first time, notes what was before. */
static int
allow(const struct lease *l, const struct change *a, struct why *why)
{
	char was[SECONTEXT_MAX] = "";
	struct ledger_entry *e;
	struct ledger_node *n;
	struct stat st;
	autoclose int fd = node_pin(a->path, a->major, a->minor, &st, why);

	if (fd < 0 || (n = ledger_read(a->path, a->major, a->minor, why)) == NULL)
		return -1;
	if ((a->kind == CHANGE_LABEL ? find_label_before(n, fd, a, was, why) : note_mask(n, fd, a, why)) == -1 ||
	    (e = note_change(n, l, a, was, why)) == NULL)
		return -1;
	return set_entry(n, e, fd, why);
}

int
changes_allow(const struct changes *changes, const struct lease *l, struct why *why)
{
	size_t i;

	for (i = 0; i < changes->n; i++)
		if (changes->v[i].kind != CHANGE_MAKE_NODE && allow(l, &changes->v[i], why) == -1)
			return -1;
	return 0;
}

/* Again. */

/* Goes on after a failure: what can't be set must not keep the rest from being repaired. */
static int
set_again(void *ctx, struct ledger_node *n, struct why *why)
{
	const struct lease *l = ctx;
	struct stat st;
	autoclose int fd = -1;
	size_t i;
	int ret = 0;

	for (i = 0; i < n->entries; i++) {
		if (strcmp(n->entry[i].key, l->key) != 0 || n->entry[i].kind == CHANGE_MAKE_NODE)
			continue;
		if (fd < 0 && (fd = node_pin(n->path, n->major, n->minor, &st, why)) < 0)
			return -1;
		if (set_entry(n, &n->entry[i], fd, why) == -1)
			ret = -1;
	}
	return ret;
}

int
changes_allow_again(struct lease *l, struct why *why)
{
	return ledger_each(l->key, set_again, l, why);
}

/* Undoing. */

static int
unset_entry(const struct ledger_node *n, const struct ledger_entry *e, struct why *why)
{
	autoclose int fd = -1;
	struct acl_names ours;
	struct stat st;

	/* a node that is gone or was replaced has no entry and no label of ours */
	if ((fd = node_pin(n->path, n->major, n->minor, &st, why)) < 0)
		return why->code == WHY_ABSENT ? 0 : -1;
	if (e->kind == CHANGE_LABEL)
		return label_reset(fd, n->path, e->label, e->was, why);
	changes_acl_names(n, e, &ours);
	return node_acl_remove(fd, n->path, name_in(e), &ours, n->mask, why);
}

/* True if another lease has the same change. An entry of a lease that is gone does not count. */
static bool
is_shared(const struct leases *ls, const struct ledger_node *n, const struct ledger_entry *e)
{
	const struct ledger_entry *o;

	for (o = n->entry; o < n->entry + n->entries; o++)
		if (!o->undone && ledger_same_change(o, e) && strcmp(o->key, e->key) != 0 && leases_have(ls, o->key))
			return true;
	return false;
}

static int
undo_entry(const struct ledger_node *n, const struct ledger_entry *e, struct why *why)
{
	/* something is mounted over the node, so that its state can't be seen: the change is not undone */
	if (hostview_compare(n->path, WHY_IO, why) == -1)
		return -1;
	return e->kind == CHANGE_MAKE_NODE ? unmake_node(n, why) : unset_entry(n, e, why);
}

/* Which entries are undone, and who is told. */
struct undoing {
	const struct leases *leases;
	const char *key;	/* those of this lease; NULL: those of leases that are gone */
	bool keep_nodes;
	bool strictly;		/* fails if the file can't be written: the entry would stay there */
	bool failed;		/* set if an entry is left */
	changes_undone *tell;	/* may be NULL */
	void *ctx;
};

static bool
is_to_be_undone(const struct undoing *u, const struct ledger_entry *e)
{
	return (u->key != NULL ? strcmp(e->key, u->key) == 0 : !leases_have(u->leases, e->key)) &&
	    !(u->keep_nodes && e->kind == CHANGE_MAKE_NODE);
}

/*
 * The last entry first. Goes on after a failure, which must not keep the others from being undone. If the disk is full,
 * entries outlive their lease in the file: then they count for nothing, and root's timer removes them.
 */
static int
undo_on_node(void *ctx, struct ledger_node *n, struct why *why)
{
	struct undoing *u = ctx;
	struct ledger_entry *e;
	struct why unwritten;
	bool undone = false;
	size_t i = n->entries;
	int ret = 0;

	while (i-- > 0) {
		e = &n->entry[i];
		if (!is_to_be_undone(u, e))
			continue;
		/* the last lease with this change undoes it */
		if (is_shared(u->leases, n, e))
			e->undone = true;
		else if (undo_entry(n, e, why) == -1)
			ret = -1;
		else {
			e->undone = true;
			if (u->tell != NULL)
				u->tell(u->ctx, n, e);
		}
		undone = undone || e->undone;
	}
	if (undone) {
		ledger_drop_undone(n);
		if (ledger_write(n, &unwritten) == -1 && u->strictly) {
			*why = unwritten;
			ret = -1;
		}
	}
	u->failed = u->failed || ret == -1;
	return ret;
}

int
changes_undo(const struct leases *ls, const struct lease *l, struct why *why)
{
	return ledger_each(l->key, undo_on_node, &(struct undoing){ .leases = ls, .key = l->key }, why);
}

int
changes_undo_access(const struct leases *ls, const struct lease *l, struct why *why)
{
	return ledger_each(l->key, undo_on_node, &(struct undoing){ .leases = ls, .key = l->key, .keep_nodes = true }, why);
}

int
changes_undo_earlier(const struct leases *ls, const struct lease *l, bool keep_nodes, struct why *why)
{
	struct undoing u = { .leases = ls, .key = l->key, .keep_nodes = keep_nodes, .strictly = true };

	/* a file that can't be read does no harm here: its node is granted to nobody */
	(void)ledger_each(l->key, undo_on_node, &u, why);
	return u.failed ? -1 : 0;
}

int
changes_undo_orphans(const struct leases *ls, changes_undone *tell, void *ctx, struct why *why)
{
	return ledger_each(NULL, undo_on_node, &(struct undoing){ .leases = ls, .tell = tell, .ctx = ctx }, why);
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
entry_trouble(int fd, const struct ledger_node *n, const struct ledger_entry *e, struct strlist *out)
{
	const char *kind = e->kind == CHANGE_ALLOW_GROUP ? "group" : "user";
	enum acl_state state;
	char now[SECONTEXT_MAX];
	struct why why;
	int mask;

	if (e->kind == CHANGE_LABEL) {
		if (!selinux_label_of(fd, now))
			return add_trouble(out, "%s: its SELinux label can't be read: %s", n->path, strerror(errno));
		return strcmp(now, e->label) == 0 || add_trouble(out, "%s has the SELinux label %s instead of %s: gpuhelperctl "
		    "reapply", n->path, now, e->label);
	}
	if (node_acl_get(fd, n->path, name_in(e), &state, &mask, &why) == -1)
		return add_trouble(out, "%s", why.text);
	if (state == ACL_IS_EFFECTIVE)
		return true;
	return add_trouble(out, "%s: the ACL entry of %s %u %s: gpuhelperctl reapply", n->path, kind, e->id,
	    state == ACL_IS_ABSENT ? "is gone" : state == ACL_IS_MASKED ? "is masked (a chmod does that)" :
	    "was changed by someone");
}

static bool
mode_trouble(int fd, const struct edit_node *n, const struct stat *st, struct strlist *out)
{
	uint32_t mode;

	if (!node_mode(fd, st, &mode))
		return add_trouble(out, "%s: its ACL can't be read", n->path);
	if ((mode & ~n->mode & 06) != 0)
		return add_trouble(out, "%s is open to every user of the host (mode %04o, was %04o when it was granted): chmod o= %s",
		    n->path, mode, n->mode, n->path);
	if (mode != n->mode || st->st_uid != n->uid || st->st_gid != n->gid)
		return add_trouble(out, "%s was changed since it was granted (mode %04o, owner %u:%u; was %04o, %u:%u): the "
		    "container may be shut out", n->path, mode, st->st_uid, st->st_gid, n->mode, n->uid, n->gid);
	return true;
}

/* Of a lease's changes. */
struct troubles {
	const struct lease *lease;
	struct strlist *out;
	bool nomem;
};

/* True for a node of one GPU. A node that several GPUs share is only in the ledger. */
static bool
is_own_node(const struct lease *l, const char *path)
{
	size_t i;

	for (i = 0; i < l->nodes; i++)
		if (strcmp(l->node[i].path, path) == 0)
			return true;
	return false;
}

/* Adds a line for each difference of a node's entries. */
static int
node_trouble(void *ctx, struct ledger_node *n, struct why *why)
{
	struct troubles *t = ctx;
	autoclose int fd = -1;
	struct stat st;
	size_t i;

	for (i = 0; i < n->entries; i++) {
		if (strcmp(n->entry[i].key, t->lease->key) != 0 || n->entry[i].kind == CHANGE_MAKE_NODE)
			continue;
		if (fd < 0 && (fd = node_pin(n->path, n->major, n->minor, &st, why)) < 0) {
			/* of an own node, changes_trouble() says so */
			t->nomem = t->nomem || (!is_own_node(t->lease, n->path) && !add_trouble(t->out, "%s", why->text));
			return 0;
		}
		t->nomem = t->nomem || !entry_trouble(fd, n, &n->entry[i], t->out);
	}
	return 0;
}

bool
changes_trouble(const struct lease *l, struct strlist *out)
{
	struct troubles t = { .lease = l, .out = out };
	struct why why;
	struct stat st;
	size_t i;

	if (ledger_each(l->key, node_trouble, &t, &why) == -1)
		t.nomem = t.nomem || !add_trouble(out, "%s", why.text);
	for (i = 0; i < l->nodes && !t.nomem; i++) {
		autoclose int fd = node_pin(l->node[i].path, l->node[i].major, l->node[i].minor, &st, &why);

		t.nomem = fd < 0 ? !add_trouble(out, "%s", why.text) : !mode_trouble(fd, &l->node[i], &st, out);
	}
	return !t.nomem;
}
