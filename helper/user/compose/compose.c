/*
 * See compose.h. Goes once through each list that may change. Kept elements keep their bytes and their order, and
 * new elements follow them. Must not rewrite a list in which no element changes.
 */
#include "compose.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "../../json/docbuild.h"
#include "../spec/specprocess.h"
#include "removed.h"

struct composing {
	const struct removal *removal;
	const struct spec *s;
	const struct devmajors *majors;
	const struct edits *grant;
	struct doc_edits edits;
};

static void
replace_list(struct composing *c, uint32_t obj, const char *key, struct doc_list *l)
{
	char *text = doc_list_end(l);

	if (text == NULL)
		c->edits.failed = true;
	else
		doc_set(&c->edits, &c->s->doc, obj, key, text);
	free(text);
}

static void
drop_list(struct doc_list *l)
{
	free(doc_list_end(l));
}

static bool
is_token(const struct composing *c, uint32_t key)
{
	size_t i;

	for (i = 0; i < c->s->tokens.n; i++)
		if (doc_equals(&c->s->doc, key, c->s->tokens.v[i]))
			return true;
	return doc_equals(&c->s->doc, key, "GPUHELPER_TOKEN");
}

/*
 * Removes the token and the CDI requests of an image or a pod. By default, NVIDIA's runtime takes annotations
 * that begin with "cdi.k8s.io/" for requests (annotation-prefixes); "nvidia.cdi.k8s.io/" is in use, too.
 */
static void
drop_annotations(struct composing *c)
{
	const struct doc *d = &c->s->doc;
	bool changed = false;
	struct doc_list l;
	uint32_t k;

	doc_list_begin(&l, '{');
	for (k = doc_first(d, c->s->annotations); k != DOC_NONE; k = doc_next(d, k)) {
		if (doc_contains(d, k, "cdi.k8s.io") || is_token(c, k))
			changed = true;
		else
			doc_list_keep(&l, d, k);
	}
	if (changed)
		replace_list(c, 0, "annotations", &l);
	else
		drop_list(&l);
}

static void
compose_mount(struct doc_list *l, const struct edit_mount *m)
{
	autobuf struct buf b = { 0 };
	size_t i;

	buf_puts(&b, "{\"destination\":");
	buf_json(&b, m->target);
	buf_puts(&b, ",\"type\":\"bind\",\"source\":");
	buf_json(&b, m->source);
	buf_puts(&b, ",\"options\":[");
	for (i = 0; i < m->options.n; i++) {
		if (i > 0)
			buf_puts(&b, ",");
		buf_json(&b, m->options.v[i]);
	}
	buf_puts(&b, "]}");
	doc_list_add(l, b.failed ? "" : b.p);
	l->buf.failed = l->buf.failed || b.failed;
}

/*
 * True for a mount of type «cgroup2» (Concourse writes that) in a container with a mount label. runc and crun mount
 * that type with the label (context=). The host has one cgroup2 file system, which can't have a second label: mount(2)
 * fails with EINVAL. They mount the type «cgroup», which config.md of the runtime specification has for both versions,
 * without a label.
 */
static bool
must_be_unlabelled(const struct composing *c, const struct spec_mount *m)
{
	return c->grant->mount_label != NULL && m->type != NULL && strcmp(m->type, "cgroup2") == 0;
}

static void
add_as_cgroup(struct doc_list *l, const struct doc *d, uint32_t mount)
{
	struct doc_list o;
	char *text;
	uint32_t k;

	doc_list_begin(&o, '{');
	for (k = doc_first(d, mount); k != DOC_NONE; k = doc_next(d, k))
		if (doc_equals(d, k, "type"))
			doc_list_add(&o, "\"type\":\"cgroup\"");
		else
			doc_list_keep(&o, d, k);
	text = doc_list_end(&o);
	doc_list_add(l, text != NULL ? text : "");
	l->buf.failed = l->buf.failed || text == NULL;
	free(text);
}

static void
compose_mounts(struct composing *c)
{
	bool changed = c->grant->mounts > 0;
	struct doc_list l;
	size_t i;

	doc_list_begin(&l, '[');
	for (i = 0; i < c->s->mount_count; i++) {
		if (removed_mount(c->removal, &c->s->mount[i], &c->edits.failed)) {
			changed = true;
		} else if (must_be_unlabelled(c, &c->s->mount[i])) {
			add_as_cgroup(&l, &c->s->doc, c->s->mount[i].node);
			changed = true;
		} else
			doc_list_keep(&l, &c->s->doc, c->s->mount[i].node);
	}
	for (i = 0; i < c->grant->mounts; i++)
		if (!c->grant->mount[i].linked)
			compose_mount(&l, &c->grant->mount[i]);
	if (changed)
		replace_list(c, 0, "mounts", &l);
	else
		drop_list(&l);
}

static void
compose_device(struct doc_list *l, const struct edit_node *n)
{
	autobuf struct buf b = { 0 };

	buf_puts(&b, "{\"path\":");
	buf_json(&b, n->path);
	buf_printf(&b, ",\"type\":\"c\",\"major\":%u,\"minor\":%u,\"fileMode\":%u,\"uid\":%u,\"gid\":%u}", n->major,
	    n->minor, n->mode, n->uid, n->gid);
	doc_list_add(l, b.failed ? "" : b.p);
	l->buf.failed = l->buf.failed || b.failed;
}

static void
compose_devices(struct composing *c)
{
	const size_t nodes = c->grant->nodes_bound ? 0 : c->grant->nodes;
	bool changed = nodes > 0;
	struct doc_list l;
	size_t i;

	doc_list_begin(&l, '[');
	for (i = 0; i < c->s->device_count; i++) {
		if (removed_device(c->removal, &c->s->device[i]))
			changed = true;
		else
			doc_list_keep(&l, &c->s->doc, c->s->device[i].node);
	}
	for (i = 0; i < nodes; i++)
		compose_device(&l, &c->grant->node[i]);
	if (changed)
		replace_list(c, c->s->linux, "devices", &l);
	else
		drop_list(&l);
}

static void
compose_rule(struct doc_list *l, const struct devrule *r)
{
	autobuf struct buf b = { 0 };

	buf_printf(&b, "{\"allow\":%s,\"type\":\"%c\"", r->allow ? "true" : "false", r->type);
	if (r->major != DEVRULE_ANY)
		buf_printf(&b, ",\"major\":%lld", (long long)r->major);
	if (r->minor != DEVRULE_ANY)
		buf_printf(&b, ",\"minor\":%lld", (long long)r->minor);
	buf_printf(&b, ",\"access\":\"%s\"}", r->access);
	doc_list_add(l, b.failed ? "" : b.p);
	l->buf.failed = l->buf.failed || b.failed;
}

static void
plan_rules(struct composing *c, struct devplan *p)
{
	const struct spec *s = c->s;
	size_t i;

	if (c->removal->hide)
		devrules_hide_gpus(s->rule, s->rule_count, c->majors, c->grant->nodes > 0, p);
	else
		devrules_keep(s->rule_count, p);
	for (i = 0; i < c->grant->nodes; i++)
		devplan_add(p, &(struct devrule){ .allow = true, .type = 'c', .major = c->grant->node[i].major,
			.minor = c->grant->node[i].minor, .access = "rw" });
}

static void
compose_rules(struct composing *c)
{
	const struct doc *d = &c->s->doc;
	autodevplan struct devplan p = { 0 };
	struct doc_list l;
	uint32_t n = doc_first(d, c->s->rules);
	size_t i, k = 0;

	plan_rules(c, &p);
	c->edits.failed = c->edits.failed || p.failed;
	if (!p.changed)
		return;
	doc_list_begin(&l, '[');
	for (i = 0; i < p.n; i++) {
		if (!p.v[i].keep) {
			compose_rule(&l, &p.v[i].rule);
			continue;
		}
		/* kept rules keep their order, so the walk never goes back */
		for (; k < p.v[i].old; k++)
			n = doc_next(d, n);
		doc_list_keep(&l, d, n);
	}
	if (doc_is(d, c->s->resources, DOC_OBJECT)) {
		replace_list(c, c->s->resources, "devices", &l);
	} else {
		autofree char *list = doc_list_end(&l);
		autobuf struct buf b = { 0 };

		buf_printf(&b, "{\"devices\":%s}", list != NULL ? list : "");
		c->edits.failed = c->edits.failed || b.failed || list == NULL;
		if (!c->edits.failed)
			doc_set(&c->edits, d, c->s->linux, "resources", b.p);
	}
}

static void
compose_masked(struct composing *c)
{
	const struct doc *d = &c->s->doc;
	bool changed = false;
	struct doc_list l;
	uint32_t n;
	size_t i;

	doc_list_begin(&l, '[');
	for (n = doc_first(d, c->s->masked); n != DOC_NONE; n = doc_next(d, n))
		doc_list_keep(&l, d, n);
	for (i = 0; i < c->grant->masked.n; i++) {
		if (spec_masks(c->s, c->grant->masked.v[i]))
			continue;
		doc_list_add_string(&l, c->grant->masked.v[i]);
		changed = true;
	}
	if (changed)
		replace_list(c, c->s->linux, "maskedPaths", &l);
	else
		drop_list(&l);
}

static char *
granted_hook_text(const struct edit_hook *h)
{
	autobuf struct buf b = { 0 };

	put_string(&b, "path", h->path);
	put_strings(&b, "args", &h->args);
	put_strings(&b, "env", &h->env);
	if (h->timeout != 0)
		buf_printf(&b, ",\"timeout\":%u", h->timeout);
	return object_text(&b);
}

/* The granted hooks follow the engine's own, in the order of the CDI spec. */
static void
compose_hook_list(struct composing *c, const char *when, struct section *s)
{
	const struct doc *d = &c->s->doc;
	bool changed = false;
	struct doc_list l;
	uint32_t n;
	size_t i;

	doc_list_begin(&l, '[');
	for (n = doc_first(d, doc_get(d, c->s->hooks, when)); n != DOC_NONE; n = doc_next(d, n))
		doc_list_keep(&l, d, n);
	for (i = 0; i < c->grant->hooks; i++) {
		autofree char *text = NULL;

		if (strcmp(c->grant->hook[i].when, when) != 0)
			continue;
		if ((text = granted_hook_text(&c->grant->hook[i])) == NULL)
			c->edits.failed = true;
		else
			doc_list_add(&l, text);
		changed = true;
	}
	if (changed)
		section_set(s, when, doc_list_end(&l));
	else
		drop_list(&l);
}

static void
compose_hooks(struct composing *c)
{
	static const char *const all[] = { "prestart", "createRuntime", "createContainer", "startContainer", "poststart",
		"poststop", NULL };
	const struct doc *d = &c->s->doc;
	struct section s;
	size_t i;

	section_begin(&s, d, &c->edits, 0, "hooks", doc_is(d, c->s->hooks, DOC_OBJECT) ? c->s->hooks : DOC_NONE);
	for (i = 0; all[i] != NULL; i++)
		compose_hook_list(c, all[i], &s);
	section_put(&s, NULL);
}

char *
compose(struct spec *s, const struct devmajors *majors, const struct edits *grant, bool hide, size_t *len,
    struct why *why)
{
	static const struct edits nothing;
	const struct removal removal = { s, majors, grant != NULL ? grant : &nothing, hide };
	struct composing c = { .removal = &removal, .s = s, .majors = majors, .grant = removal.grant };
	char *text;

	process_env(&s->doc, s->process, &c.grant->env, &s->tokens, true, &c.edits);
	process_groups(&s->doc, s->process, c.grant->gid, c.grant->gids, &c.edits);
	process_label(&s->doc, s->process, "selinuxLabel", c.grant->label, &c.edits);
	process_label(&s->doc, s->linux, "mountLabel", c.grant->mount_label, &c.edits);
	drop_annotations(&c);
	compose_mounts(&c);
	compose_devices(&c);
	compose_rules(&c);
	compose_masked(&c);
	compose_hooks(&c);
	text = doc_apply(&s->doc, &c.edits, len);
	doc_edits_free(&c.edits);
	if (text == NULL)
		refuse_nomem(why);
	return text;
}
