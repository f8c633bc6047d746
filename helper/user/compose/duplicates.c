/*
 * See duplicates.h. Runs with the caller's rights, and only reads. What a path leads to may change later, but not what
 * the container gets: that is the granted file, which root has checked.
 */
#include "duplicates.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "../../base/cleanup.h"
#include "../../cdi/nvhook.h"

/* What the options of a bind mount mean to the container. */
struct meaning {
	bool ro, noexec;
	bool has_unknown;		/* an option that is not known here */
};

static struct meaning
meaning_of(const struct strlist *options)
{
	/* no option of these matters here: the granted mount has nosuid and nodev, and nothing is mounted beneath */
	static const char *const plain[] = { "bind", "rbind", "private", "rprivate", "nosuid", "nodev", "suid", "dev", NULL };
	struct meaning m = { 0 };
	const char *o;
	size_t i;

	/* the last option of a pair counts */
	for (i = 0; i < options->n; i++) {
		o = options->v[i];
		if (strcmp(o, "ro") == 0 || strcmp(o, "rw") == 0)
			m.ro = o[1] == 'o';
		else if (strcmp(o, "noexec") == 0 || strcmp(o, "exec") == 0)
			m.noexec = o[0] == 'n';
		else if (!text_among(o, plain))
			m.has_unknown = true;
	}
	return m;
}

/*
 * True if the granted mount shows the container the same as the engine's. It may be read-only where the engine's is
 * not: only root can write to a driver's file, and a socket does not care. In a directory, the container could make
 * files.
 */
static bool
means_the_same(const struct strlist *theirs, const struct strlist *ours, bool dir)
{
	const struct meaning t = meaning_of(theirs), o = meaning_of(ours);

	return !t.has_unknown && t.noexec == o.noexec && (dir ? t.ro == o.ro : o.ro || !t.ro);
}

/* True if the mount has no member that changes it, such as uidMappings. */
static bool
has_plain_members(const struct spec *s, const struct spec_mount *m)
{
	static const char *const plain[] = { "destination", "source", "type", "options", NULL };
	uint32_t found = 0;
	size_t i;

	for (i = 0; plain[i] != NULL; i++)
		found += doc_get(&s->doc, m->node, plain[i]) != DOC_NONE;
	return found == s->doc.node[m->node].count;
}

/* «ours» is a driver's file, and has the same target. */
static bool
is_granted_file(const struct spec *s, const struct spec_mount *m, const struct edit_mount *ours)
{
	char path[PATH_MAX], real[PATH_MAX];
	struct stat st;

	return has_plain_members(s, m) && spec_host_path(s, m->source, path) && realpath(path, real) != NULL &&
	    strcmp(real, ours->source) == 0 && stat(real, &st) == 0 &&
	    means_the_same(&m->options, &ours->options, S_ISDIR(st.st_mode));
}

/* Rootless engines bind the host's nodes. «ours» has the same path. */
static bool
is_granted_node(const struct spec *s, const struct spec_mount *m, const struct edit_node *ours)
{
	char path[PATH_MAX];
	struct stat st;

	return spec_host_path(s, m->source, path) && stat(path, &st) == 0 &&
	    S_ISCHR(st.st_mode) && major(st.st_rdev) == ours->major && minor(st.st_rdev) == ours->minor;
}

static bool
is_granted(const struct spec *s, const struct spec_mount *m, const struct edits *e)
{
	size_t i;

	if (!m->bind || m->source == NULL)
		return false;
	/* compares here, because each call clears two paths, and there may be 1,000 folders */
	for (i = 0; i < e->mounts; i++)
		if (e->mount[i].driver && strcmp(m->target, e->mount[i].target) == 0 && is_granted_file(s, m, &e->mount[i]))
			return true;
	for (i = 0; i < e->nodes; i++)
		if (strcmp(m->target, e->node[i].path) == 0 && is_granted_node(s, m, &e->node[i]))
			return true;
	return false;
}

/* The driver's file that the grant mounts at this place, or NULL. */
static struct edit_mount *
driver_mount_at(const struct edits *e, const char *target)
{
	size_t i;

	for (i = 0; i < e->mounts; i++)
		if (e->mount[i].driver && strcmp(e->mount[i].target, target) == 0)
			return &e->mount[i];
	return NULL;
}

/*
 * Gets path and arguments of a hook in config.json, without what is no absolute path and no string: the runtime itself
 * complains of that. Returns false if memory is short.
 */
static bool
read_hook(const struct doc *d, uint32_t hook, struct cdi_hook *out)
{
	uint32_t n = doc_get(d, hook, "path");

	if (doc_is(d, n, DOC_STRING) && (out->path = doc_string(d, n)) != NULL && out->path[0] != '/') {
		free(out->path);
		out->path = NULL;
	}
	for (n = doc_first(d, doc_get(d, hook, "args")); n != DOC_NONE; n = doc_next(d, n)) {
		autofree char *arg = doc_string(d, n);

		if (arg != NULL && !strlist_add(&out->args, arg, SIZE_MAX))
			return false;
	}
	return true;
}

/* Marks the granted names at which this hook makes a link to another granted file. */
static void
mark_links(const struct cdi_hook *h, struct edits *e)
{
	char target[NVHOOK_PATH_MAX], link[NVHOOK_PATH_MAX];
	struct edit_mount *m;
	size_t at = 0;

	if (nvhook_of(h) != NVHOOK_LINKS)
		return;
	while (nvhook_link(h, &at, target, link))
		if (strcmp(link, target) != 0 && driver_mount_at(e, target) != NULL && (m = driver_mount_at(e, link)) != NULL)
			m->linked = true;
}

int
duplicates_mark(struct spec *s, struct edits *e, struct why *why)
{
	const struct doc *d = &s->doc;
	size_t i;
	uint32_t n;
	bool good = true;

	for (i = 0; i < s->mount_count; i++)
		s->mount[i].duplicate = is_granted(s, &s->mount[i], e);
	/* only these hooks see the mounts of the container */
	for (n = doc_first(d, doc_get(d, s->hooks, "createContainer")); good && n != DOC_NONE; n = doc_next(d, n)) {
		struct cdi_hook h = { 0 };

		if ((good = read_hook(d, n, &h)))
			mark_links(&h, e);
		free(h.path);
		strlist_free(&h.args);
	}
	return good ? 0 : refuse_nomem(why);
}
