/*
 * See label.h. gpuhelper-label asks the loaded SELinux policy what a container may do, says which label a node is to
 * get, and words the refusal. Relabels only the nodes of GPUs, to our own type, one by one, as changes of a lease;
 * askrelabel.c has folders relabelled.
 */
#include "label.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "../../host/file.h"
#include "../child/labeller.h"

#define DRAWS 64	/* attempts; of half a million pairs, at most 4096 are taken */

static int
draw(struct label *l, struct why *why)
{
	uint32_t random;

	if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return refuse(why, WHY_BUG, "getrandom: %s", strerror(errno));
	level_pair(random, l->process.level);
	return 0;
}

/* Formats the labels as text. */
static int
write_out(struct label *l, struct why *why)
{
	struct secontext mount = l->process;

	snprintf(mount.role, sizeof(mount.role), "object_r");
	snprintf(mount.type, sizeof(mount.type), "%s", SECONTEXT_FILE_TYPE);
	if (!secontext_format(&l->process, l->text) || (l->own_mount && !secontext_format(&mount, l->mount)))
		return refuse(why, WHY_DATA, "an SELinux label of more than %d bytes", SECONTEXT_MAX);
	return 0;
}

/* Chooses the level: the policy's, else the engine's, else two random categories. */
static int
choose_level(const struct policy *p, const struct request *r, const struct secontext *had, struct label *l,
    struct why *why)
{
	const enum level_kind kind = level_kind(had->level);

	l->own_mount = true;
	if (p->selinux_level != NULL && strcmp(p->selinux_level, "auto") != 0) {
		snprintf(l->process.level, sizeof(l->process.level), "%s", p->selinux_level);
		l->from_policy = true;
		return 0;
	}
	if (kind == LEVEL_RANGE)
		return refuse(why, WHY_DENIED, "process.selinuxLabel has the level %s, a range: a container with GPUs needs "
		    "two categories of its own (or set the level in %s: selinux = { level = \"...\"; })", had->level, p->name);
	/* every container that has this category among its two could use this container's GPUs */
	if (kind == LEVEL_CATEGORIES && level_categories(had->level) < 2)
		return refuse(why, WHY_DENIED, "process.selinuxLabel has the level %s: one category separates it from no other "
		    "container, engines give two (or set the level in %s: selinux = { level = \"...\"; })", had->level,
		    p->name);
	if (kind == LEVEL_CATEGORIES) {
		snprintf(l->process.level, sizeof(l->process.level), "%s", had->level);
		l->own_mount = r->spec.mount_label == NULL;
		return 0;
	}
	l->drawn = true;
	return draw(l, why);
}

/* Refuses a label that the loaded SELinux policy lacks. */
static int
refuse_type(const struct policy *p, const struct label *l, const char *text, struct why *why)
{
	if (p->selinux_type != NULL || p->selinux_level != NULL)
		return refuse(why, WHY_CONFIG, "%s: the loaded SELinux policy has no label %s (type %s, level %s): see seinfo "
		    "-t", p->name, text, l->process.type, l->process.level);
	return refuse(why, WHY_CONFIG, "the loaded SELinux policy has no label %s: make install-selinux adds the type %s, "
	    "or name another type in %s: selinux = { type = \"...\"; }", text, l->process.type, p->name);
}

static int
check_valid(const struct policy *p, struct label *l, struct why *why)
{
	char spelt[SECONTEXT_MAX];
	struct label_query q;
	struct secontext c;
	int valid;

	label_query_begin(&q, LABEL_IS_VALID);
	snprintf(q.who, sizeof(q.who), "%s", l->text);
	snprintf(q.object, sizeof(q.object), "%s", l->own_mount ? l->mount : l->text);
	if ((valid = labeller_ask(&q, spelt, why)) != 1)
		return valid == 0 ? refuse_type(p, l, spelt, why) : -1;
	/* the kernel's spelling, by which labels are compared: it has one only for levels */
	if (!secontext_parse(spelt, &c) || strcmp(c.user, l->process.user) != 0 ||
	    strcmp(c.role, l->process.role) != 0 || strcmp(c.type, l->process.type) != 0)
		return refuse(why, WHY_BUG, "gpuhelper-label spells the label %s as %.100s", l->text, spelt);
	l->process = c;
	return write_out(l, why);
}

int
label_choose(const struct policy *p, const struct request *r, struct label *out, struct why *why)
{
	struct secontext had = { .user = "system_u", .role = "system_r", .level = "s0" };

	*out = (struct label){ .state = SELINUX_ABSENT };
	if (selinux_state(&out->state, why) == -1)
		return -1;
	if (out->state == SELINUX_ABSENT)
		return 0;
	if (r->spec.label != NULL && !secontext_parse(r->spec.label, &had))
		return refuse(why, WHY_DATA, "process.selinuxLabel \"%.100s\" is not an SELinux label", r->spec.label);
	out->process = had;
	snprintf(out->process.type, sizeof(out->process.type), "%s",
	    p->selinux_type != NULL ? p->selinux_type : SECONTEXT_CONTAINER_TYPE);
	if (choose_level(p, r, &had, out, why) == -1 || write_out(out, why) == -1)
		return -1;
	if (check_valid(p, out, why) == 0)
		return 0;
	/* permissive: a label that nobody asked for is no reason to refuse */
	if (out->state != SELINUX_PERMISSIVE || p->selinux_type != NULL || p->selinux_level != NULL)
		return -1;
	*out = (struct label){ .state = SELINUX_ABSENT };
	return 0;
}

int
label_of_lease(const struct lease *lease, struct label *out, struct why *why)
{
	*out = (struct label){ .state = SELINUX_ABSENT };
	/* the grant gave the container no label */
	if (lease->label[0] == '\0')
		return 0;
	if (selinux_state(&out->state, why) == -1)
		return -1;
	snprintf(out->text, sizeof(out->text), "%s", lease->label);
	return secontext_parse(out->text, &out->process) ? 0 :
	    refuse(why, WHY_BUG, "the lease's label %s is not an SELinux label", lease->label);
}

void
label_query_for(const struct label *l, enum label_verb verb, const char *path, struct label_query *out)
{
	label_query_begin(out, verb);
	out->enforcing = l->state == SELINUX_ENFORCING;
	snprintf(out->who, sizeof(out->who), "%s", l->text);
	snprintf(out->path, sizeof(out->path), "%s", path);
}

/* -1 with *why, whose code is WHY_ABSENT if it has none. */
static int
read_label(int fd, const char *path, char out[SECONTEXT_MAX], struct why *why)
{
	return selinux_label_of(fd, out) ? 0 : refuse(why, errno == ENODATA || errno == EOPNOTSUPP ? WHY_ABSENT : WHY_IO,
	    "%s: its SELinux label can't be read: %s", path, strerror(errno));
}

/* Folders. */

static int
check_folder_label(const struct label *l, const struct edit_mount *m, int fd, struct why *why)
{
	struct label_query q;
	char gets[SECONTEXT_MAX];

	label_query_for(l, LABEL_LETS, m->source, &q);
	q.use = strlist_has(&m->options, "rw") ? LABEL_WRITE_FOLDER : LABEL_READ_FOLDER;
	q.relabel = m->relabel;
	if (read_label(fd, m->source, q.object, why) == -1)
		return why->code == WHY_ABSENT ? 0 : -1;
	return labeller_ask(&q, gets, why) == -1 ? -1 : 0;
}

/* Refuses one folder with two labels. folders.c does not notice two mounts of one folder. */
static int
check_once(const struct leased_folder *f, const struct lease *l, struct why *why)
{
	size_t i;

	for (i = 0; i < l->folders; i++)
		if (l->folder[i].relabel != f->relabel && leased_folders_overlap(&l->folder[i], f))
			return refuse(why, WHY_CONFIG, "folders %s and %s are the same, or one is in the other: they can't have "
			    "different labels (relabel)", l->folder[i].path, f->path);
	return 0;
}

/* Writes the folder into the lease, for later requests to compare with. */
static int
hold_folder(const struct label *l, const struct edit_mount *m, struct lease *lease, struct why *why)
{
	const size_t fs = strcspn(m->fs_path, " ");
	autoleasedfolder struct leased_folder f = { .relabel = m->relabel };

	if (m->relabel == RELABEL_PRIVATE && l->state == SELINUX_ENFORCING &&
	    (level_categories(l->process.level) == 0 || strchr(l->process.level, '-') != NULL))
		return refuse(why, WHY_CONFIG, "folder %s can't be private to a container of level \"%s\", which has no categories "
		    "of its own: selinux = { level = \"auto\"; } in the policy", m->source, l->process.level);
	f.path = strdup(m->source);
	f.fs = strndup(m->fs_path, fs);
	f.fs_path = strdup(m->fs_path + fs + 1);
	if (f.path == NULL || f.fs == NULL || f.fs_path == NULL)
		return refuse_nomem(why);
	return check_once(&f, lease, why) == -1 ? -1 : lease_add_folder(lease, &f) ? 0 : refuse_nomem(why);
}

int
label_folders(const struct label *l, const struct edits *e, struct lease *lease, struct why *why)
{
	const int root = file_root();
	const struct edit_mount *m;
	size_t i;

	for (i = 0; l->state != SELINUX_ABSENT && i < e->mounts; i++) {
		autoclose int fd = -1;

		m = &e->mount[i];
		/* gpuhelper-look found what this path names; folderwalk.c checks that before anything is relabelled */
		if (root == -1 || (fd = file_open_beneath(root, m->source + 1, O_PATH)) == -1)
			return refuse(why, WHY_IO, "folder %s: %s", m->source, strerror(errno));
		if (check_folder_label(l, m, fd, why) == -1 || hold_folder(l, m, lease, why) == -1)
			return -1;
	}
	return 0;
}

/* Refuses a folder that would be relabelled under another container. */
static int
check_held(const struct leased_folder *f, const struct lease *l, const struct lease *other, struct why *why)
{
	const struct leased_folder *o;
	size_t i;

	for (i = 0; i < other->folders; i++) {
		o = &other->folder[i];
		if (!leased_folders_overlap(f, o) || (f->relabel != RELABEL_PRIVATE && o->relabel != RELABEL_PRIVATE))
			continue;
		/* the containers of a pod share a label: what is private to one is private to all of them */
		if (f->relabel != RELABEL_SHARED && o->relabel != RELABEL_SHARED && other->uid == l->uid &&
		    strcmp(other->label, l->label) == 0)
			continue;
		return refuse(why, WHY_AGAIN, "folder %s is in use by %s%s, and only one container at a time gets a private "
		    "folder: try again later", f->path, other->uid == l->uid ? "container " : "another user's container",
		    other->uid == l->uid ? other->id : "");
	}
	return 0;
}

static int
check_held_folders(const struct leases *ls, const struct lease *l, struct why *why)
{
	size_t i, k;

	for (i = 0; i < ls->n; i++)
		for (k = 0; k < l->folders && strcmp(ls->v[i]->key, l->key) != 0; k++)
			if (check_held(&l->folder[k], l, ls->v[i], why) == -1)
				return -1;
	return 0;
}

/* Categories of its own. */

/* True if both containers may have the same categories. */
static bool
is_kin(const struct label *l, const struct lease *mine, const struct lease *other)
{
	/*
	 * random categories are one container's; containers of one user (a pod's) or of one policy may share fixed ones
	 */
	return !l->drawn && (other->uid == mine->uid || (l->from_policy && strcmp(other->policy, mine->policy) == 0));
}

static bool
is_taken(const struct label *l, const struct leases *ls, const struct lease *mine)
{
	struct secontext c;
	size_t i;

	for (i = 0; i < ls->n; i++)
		if (strcmp(ls->v[i]->key, mine->key) != 0 && !is_kin(l, mine, ls->v[i]) &&
		    secontext_parse(ls->v[i]->label, &c) && level_overlaps(c.level, l->process.level))
			return true;
	return false;
}

int
label_decide(struct label *l, const struct leases *ls, struct lease *lease, struct why *why)
{
	unsigned i;

	if (l->state == SELINUX_ABSENT)
		return 0;
	for (i = 0; l->drawn && i < DRAWS && is_taken(l, ls, lease); i++)
		if (draw(l, why) == -1 || write_out(l, why) == -1)
			return -1;
	if (is_taken(l, ls, lease))
		return refuse(why, WHY_DENIED, "the categories of %s include all of another user's container, or the other way "
		    "round: %s", l->process.level, l->from_policy ? "policies for different users need different levels" :
		    "let the engine choose others");
	snprintf(lease->label, sizeof(lease->label), "%s", l->text);
	return l->state == SELINUX_ENFORCING ? check_held_folders(ls, lease, why) : 0;
}

/* Nodes. */

/* True for the label that a node gets while the container has it alone, if it had the other one before. */
static bool
is_own_label(const struct label *l, const char *label, const char *was)
{
	struct secontext c, before;

	return secontext_parse(label, &c) && secontext_parse(was, &before) && strcmp(c.user, before.user) == 0 &&
	    strcmp(c.role, before.role) == 0 && strcmp(c.type, SECONTEXT_DEVICE_TYPE) == 0 &&
	    strcmp(c.level, l->process.level) == 0;
}

int
label_node(const struct label *l, int fd, const struct change *node, enum label_use use, bool alone,
    struct changes *changes, struct why *why)
{
	struct change a = *node;
	struct label_query q;
	int ret;

	if (l->state == SELINUX_ABSENT)
		return 0;
	label_query_for(l, LABEL_LETS, a.path, &q);
	q.use = use;
	q.relabel = alone ? RELABEL_PRIVATE : RELABEL_NO;
	if (read_label(fd, a.path, q.object, why) == -1 || (ret = labeller_ask(&q, a.label, why)) == -1)
		return -1;
	/* our SELinux module is not loaded, and nothing is enforced, or the container does not use the node */
	if (ret == 0 && (l->state == SELINUX_PERMISSIVE || use == LABEL_NO_USE))
		return 0;
	if (ret == 0 || (alone ? !is_own_label(l, a.label, q.object) : strcmp(a.label, q.object) != 0))
		return refuse(why, WHY_BUG, "gpuhelper-label says that %s is to be labelled %.100s", a.path, a.label);
	return strcmp(a.label, q.object) == 0 || changes_add(changes, &a) ? 0 : refuse_nomem(why);
}

/* Uses the descriptor's link in /proc, because an O_PATH descriptor allows no fsetxattr(2). */
static int
write_label(int fd, const char *path, const char *label, struct why *why)
{
	char now[SECONTEXT_MAX], name[FILE_LINK_MAX];

	if (setxattr(file_link(fd, name), "security.selinux", label, strlen(label) + 1, 0) == -1)
		return refuse(why, WHY_IO, "%s can't be labelled %s: %s: restorecon -vF %s restores its own label", path, label,
		    strerror(errno), path);
	if (!selinux_label_of(fd, now) || strcmp(now, label) != 0)
		return refuse(why, WHY_IO, "%s was labelled %s, but does not have that label", path, label);
	return 0;
}

int
label_set(int fd, const char *path, const char *label, struct why *why)
{
	char now[SECONTEXT_MAX];

	if (selinux_label_of(fd, now) && strcmp(now, label) == 0)
		return 0;
	return write_label(fd, path, label, why);
}

int
label_reset(int fd, const char *path, const char *label, const char *was, struct why *why)
{
	char now[SECONTEXT_MAX];

	/* another label: somebody relabelled the node since, or we have not yet */
	if (read_label(fd, path, now, why) == -1)
		return why->code == WHY_ABSENT ? 0 : -1;
	return strcmp(now, label) != 0 ? 0 : write_label(fd, path, was, why);
}
