/* See cdimake.h. Assumes valid names: it checks none. */
#include "cdimake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for one more element at the end of *v. The element is zeroed; NULL if memory is short. */
static void *
one_more(void *v, size_t n, size_t size)
{
	void *grown, **list = v;

	if ((grown = reallocarray(*list, n + 1, size)) == NULL)
		return NULL;
	*list = grown;
	return memset((char *)grown + n * size, 0, size);
}

bool
cdi_make_kind(struct cdi_spec *s, const char *kind)
{
	return (s->kind = strdup(kind)) != NULL;
}

struct cdi_device *
cdi_make_device(struct cdi_spec *s, const char *name)
{
	struct cdi_device *d = one_more(&s->device, s->devices, sizeof(*d));

	if (d == NULL || (d->name = strdup(name)) == NULL)
		return NULL;
	s->devices++;
	return d;
}

bool
cdi_make_env(struct cdi_edits *e, const char *env)
{
	return strlist_add(&e->env, env, SIZE_MAX);
}

bool
cdi_make_node(struct cdi_edits *e, const char *path, uint32_t major, uint32_t minor, const char *permissions,
    uint32_t gid)
{
	struct cdi_devnode *d;
	size_t i;

	for (i = 0; i < e->nodes; i++)
		if (strcmp(e->node[i].path, path) == 0)
			return true;
	if ((d = one_more(&e->node, e->nodes, sizeof(*d))) == NULL)
		return false;
	e->nodes++;
	d->type = 'c';
	d->major.set = d->minor.set = true;
	d->major.v = major;
	d->minor.v = minor;
	d->gid.set = gid != 0;
	d->gid.v = gid;
	return (d->path = strdup(path)) != NULL && (d->permissions = strdup(permissions)) != NULL;
}

bool
cdi_make_mount(struct cdi_edits *e, const char *host, const char *container, const char *const *options)
{
	struct cdi_mount *m;
	size_t i;

	for (i = 0; i < e->mounts; i++)
		if (strcmp(e->mount[i].container_path, container) == 0)
			return true;
	if ((m = one_more(&e->mount, e->mounts, sizeof(*m))) == NULL)
		return false;
	e->mounts++;
	for (; *options != NULL; options++)
		if (!strlist_add(&m->options, *options, SIZE_MAX))
			return false;
	return (m->container_path = strdup(container)) != NULL && (m->host_path = strdup(host)) != NULL;
}

bool
cdi_make_gid(struct cdi_edits *e, uint32_t gid)
{
	uint32_t *p;
	size_t i;

	for (i = 0; i < e->gids; i++)
		if (e->gid[i] == gid)
			return true;
	if (gid == 0)
		return true;
	if ((p = one_more(&e->gid, e->gids, sizeof(*p))) == NULL)
		return false;
	e->gids++;
	*p = gid;
	return true;
}

/* The lowest version that has all that is used, by specs-go and pkg/cdi/version.go. */
static const char *
version_needed(const struct cdi_spec *s)
{
	bool gids = s->edits.gids > 0, digits = false;
	size_t i;

	for (i = 0; i < s->devices; i++) {
		gids = gids || s->device[i].edits.gids > 0;
		digits = digits || (s->device[i].name[0] >= '0' && s->device[i].name[0] <= '9');
	}
	return gids ? "0.7.0" : digits ? "0.5.0" : "0.3.0";
}

static void
write_list(struct buf *b, const struct strlist *l)
{
	size_t i;

	buf_puts(b, "[");
	for (i = 0; i < l->n; i++) {
		buf_puts(b, i > 0 ? ", " : "");
		buf_json(b, l->v[i]);
	}
	buf_puts(b, "]");
}

/* Begins a member or element: a comma if one came before, and a new line. */
static void
next_spec_line(struct buf *b, bool *first, const char *indent)
{
	buf_printf(b, "%s\n%s", *first ? "" : ",", indent);
	*first = false;
}

static void
put_node(struct buf *b, const struct cdi_devnode *d)
{
	buf_puts(b, "{\"path\": ");
	buf_json(b, d->path);
	buf_printf(b, ", \"type\": \"%c\", \"major\": %lld, \"minor\": %lld, \"permissions\": ", d->type,
	    (long long)d->major.v, (long long)d->minor.v);
	buf_json(b, d->permissions);
	if (d->gid.set)
		buf_printf(b, ", \"gid\": %u", d->gid.v);
	buf_puts(b, "}");
}

static void
put_mount(struct buf *b, const struct cdi_mount *m)
{
	buf_puts(b, "{\"hostPath\": ");
	buf_json(b, m->host_path);
	buf_puts(b, ", \"containerPath\": ");
	buf_json(b, m->container_path);
	buf_puts(b, ", \"options\": ");
	write_list(b, &m->options);
	buf_puts(b, "}");
}

/* Writes the members of containerEdits. «indent» is that of its brace. */
static void
write_spec_edits(struct buf *b, const struct cdi_edits *e, const char *indent)
{
	char inner[16], element[16];
	bool first = true, head;
	size_t i;

	snprintf(inner, sizeof(inner), "%s  ", indent);
	snprintf(element, sizeof(element), "%s    ", indent);
	buf_puts(b, "\"containerEdits\": {");
	if (e->env.n > 0) {
		next_spec_line(b, &first, inner);
		buf_puts(b, "\"env\": ");
		write_list(b, &e->env);
	}
	if (e->nodes > 0) {
		next_spec_line(b, &first, inner);
		buf_puts(b, "\"deviceNodes\": [");
		for (i = 0, head = true; i < e->nodes; i++) {
			next_spec_line(b, &head, element);
			put_node(b, &e->node[i]);
		}
		buf_printf(b, "\n%s]", inner);
	}
	if (e->mounts > 0) {
		next_spec_line(b, &first, inner);
		buf_puts(b, "\"mounts\": [");
		for (i = 0, head = true; i < e->mounts; i++) {
			next_spec_line(b, &head, element);
			put_mount(b, &e->mount[i]);
		}
		buf_printf(b, "\n%s]", inner);
	}
	if (e->gids > 0) {
		next_spec_line(b, &first, inner);
		buf_puts(b, "\"additionalGids\": [");
		for (i = 0; i < e->gids; i++)
			buf_printf(b, "%s%u", i > 0 ? ", " : "", e->gid[i]);
		buf_puts(b, "]");
	}
	buf_printf(b, "\n%s}", indent);
}

static bool
has_edits(const struct cdi_edits *e)
{
	return e->env.n > 0 || e->nodes > 0 || e->mounts > 0 || e->gids > 0;
}

char *
cdi_make_text(const struct cdi_spec *s)
{
	autobuf struct buf b = { 0 };
	bool first = true;
	size_t i;

	buf_printf(&b, "{\n  \"cdiVersion\": \"%s\",\n  \"kind\": ", version_needed(s));
	buf_json(&b, s->kind);
	buf_puts(&b, ",\n");
	if (has_edits(&s->edits)) {
		buf_puts(&b, "  ");
		write_spec_edits(&b, &s->edits, "  ");
		buf_puts(&b, ",\n");
	}
	buf_puts(&b, "  \"devices\": [");
	for (i = 0; i < s->devices; i++) {
		next_spec_line(&b, &first, "    ");
		buf_puts(&b, "{\"name\": ");
		buf_json(&b, s->device[i].name);
		buf_puts(&b, ", ");
		write_spec_edits(&b, &s->device[i].edits, "    ");
		buf_puts(&b, "}");
	}
	buf_puts(&b, "\n  ]\n}\n");
	return buf_take(&b);
}
