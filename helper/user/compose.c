/*
 * See compose.h.  One pass over each list that is touched: old elements are kept
 * as the bytes they were or left out, new ones follow.  A list that loses and
 * gains nothing is not touched at all.
 */
#include "compose.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "../pure/cleanup.h"
#include "../pure/path.h"

struct composing {
	const struct spec *s;
	const struct devmajors *majors;
	const struct edits *grant;	/* an empty one for a plain container */
	bool hide;
	struct doc_edits edits;
};

static void
set(struct composing *c, uint32_t obj, const char *key, struct doc_list *l)
{
	char *text = doc_list_end(l);

	if (text == NULL)
		c->edits.failed = true;
	else
		doc_set(&c->edits, &c->s->doc, obj, key, text);
	free(text);
}

static void
drop(struct doc_list *l)
{
	free(doc_list_end(l));
}

static void
add_string(struct doc_list *l, const char *s)
{
	autobuf struct buf b = { 0 };

	buf_json(&b, s);
	doc_list_add(l, b.failed ? "" : b.p);
	l->buf.failed = l->buf.failed || b.failed;
}

/* Variables that a vendor's runtime below us would read as a request, and the token. */
static bool
is_taken_out(const char *entry)
{
	static const char *const names[] = { "AMD_VISIBLE_DEVICES", "NVIDIA_IMEX_CHANNELS", "NVIDIA_GDS", "NVIDIA_MOFED",
		"NVIDIA_GDRCOPY", "NVIDIA_NVSWITCH", "GPUHELPER_TOKEN", NULL };
	static const char *const families[] = { "DOCKER_RESOURCE_", "NVIDIA_MIG_", NULL };
	size_t i, n = strcspn(entry, "=");

	for (i = 0; families[i] != NULL; i++)
		if (text_starts(entry, families[i]))
			return true;
	for (i = 0; names[i] != NULL; i++)
		if (strlen(names[i]) == n && strncmp(entry, names[i], n) == 0)
			return true;
	return false;
}

static bool
same_variable(const char *a, const char *b)
{
	size_t n = strcspn(a, "=");

	return strcspn(b, "=") == n && strncmp(a, b, n) == 0;
}

static bool
is_granted_variable(const struct composing *c, const char *entry)
{
	size_t i;

	for (i = 0; i < c->grant->env.n; i++)
		if (same_variable(c->grant->env.v[i], entry))
			return true;
	return false;
}

static void
compose_env(struct composing *c)
{
	static const char voided[] = "NVIDIA_VISIBLE_DEVICES=void";
	const struct doc *d = &c->s->doc;
	bool changed = false, has_void = false;
	struct doc_list l;
	const char *entry;
	uint32_t n;
	size_t i = 0;

	doc_list_begin(&l, '[');
	for (n = doc_first(d, c->s->env); n != DOC_NONE; n = doc_next(d, n)) {
		entry = c->s->env_text.v[i++];
		if (same_variable(entry, voided)) {
			if (!has_void && strcmp(entry, voided) == 0)
				doc_list_keep(&l, d, n);
			else {
				changed = true;
				if (!has_void)
					add_string(&l, voided);
			}
			has_void = true;
		} else if (is_taken_out(entry) || is_granted_variable(c, entry))
			changed = true;
		else
			doc_list_keep(&l, d, n);
	}
	if (!has_void)
		add_string(&l, voided);
	for (i = 0; i < c->grant->env.n; i++)
		add_string(&l, c->grant->env.v[i]);
	if (changed || !has_void || c->grant->env.n > 0)
		set(c, c->s->process, "env", &l);
	else
		drop(&l);
}

static void
compose_groups(struct composing *c)
{
	const struct doc *d = &c->s->doc;
	bool changed = false, there;
	struct doc_list l;
	char number[16];
	int64_t have;
	uint32_t n;
	size_t i;

	doc_list_begin(&l, '[');
	for (n = doc_first(d, c->s->gids); n != DOC_NONE; n = doc_next(d, n))
		doc_list_keep(&l, d, n);
	for (i = 0; i < c->grant->gids; i++) {
		there = false;
		for (n = doc_first(d, c->s->gids); n != DOC_NONE; n = doc_next(d, n))
			there = there || (doc_i64(d, n, &have) && have == c->grant->gid[i]);
		if (there)
			continue;
		snprintf(number, sizeof(number), "%u", c->grant->gid[i]);
		doc_list_add(&l, number);
		changed = true;
	}
	if (!changed) {
		drop(&l);
	} else if (doc_is(d, c->s->user, DOC_OBJECT)) {
		set(c, c->s->user, "additionalGids", &l);
	} else {
		autofree char *list = doc_list_end(&l);
		autobuf struct buf b = { 0 };

		buf_printf(&b, "{\"uid\":0,\"gid\":0,\"additionalGids\":%s}", list != NULL ? list : "");
		c->edits.failed = c->edits.failed || b.failed || list == NULL;
		if (!c->edits.failed)
			doc_set(&c->edits, d, c->s->process, "user", b.p);
	}
}

/* CDI requests of an image or a pod, and our own token. */
static void
compose_annotations(struct composing *c)
{
	const struct doc *d = &c->s->doc;
	bool changed = false;
	struct doc_list l;
	uint32_t k;

	doc_list_begin(&l, '{');
	for (k = doc_first(d, c->s->annotations); k != DOC_NONE; k = doc_next(d, k)) {
		autofree char *name = doc_string(d, k);

		if (name == NULL || text_starts(name, "cdi.k8s.io/") || strcmp(name, "GPUHELPER_TOKEN") == 0)
			changed = true;
		else
			doc_list_keep(&l, d, k);
	}
	if (changed)
		set(c, 0, "annotations", &l);
	else
		drop(&l);
}

static bool
is_gpu_source(const struct composing *c, const struct spec_mount *m)
{
	struct stat st;

	return c->hide && m->bind && m->source != NULL && stat(m->source, &st) == 0 && S_ISCHR(st.st_mode) &&
	    devmajors_is_gpu(c->majors, major(st.st_rdev));
}

/* What an NVIDIA runtime reads as a request by volume, and host nodes of GPUs. */
static bool
is_leak(const struct composing *c, const struct spec_mount *m)
{
	return path_at_or_beneath(m->target, "/run/nvidia-container-devices") ||
	    path_at_or_beneath(m->target, "/var/run/nvidia-container-devices") || is_gpu_source(c, m);
}

static void
add_mount(struct doc_list *l, const struct edit_mount *m)
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

static void
compose_mounts(struct composing *c)
{
	bool changed = c->grant->mounts > 0;
	struct doc_list l;
	size_t i;

	doc_list_begin(&l, '[');
	for (i = 0; i < c->s->mount_count; i++) {
		if (is_leak(c, &c->s->mount[i]))
			changed = true;
		else
			doc_list_keep(&l, &c->s->doc, c->s->mount[i].node);
	}
	for (i = 0; i < c->grant->mounts; i++)
		add_mount(&l, &c->grant->mount[i]);
	if (changed)
		set(c, 0, "mounts", &l);
	else
		drop(&l);
}

static bool
is_replaced_device(const struct composing *c, const struct spec_device *v)
{
	size_t i;

	for (i = 0; i < c->grant->nodes; i++)
		if (strcmp(c->grant->node[i].path, v->path) == 0)
			return true;
	return c->hide && (v->type == 'c' || v->type == 'u') && v->major >= 0 && v->major <= UINT32_MAX &&
	    devmajors_is_gpu(c->majors, (uint32_t)v->major);
}

static void
compose_devices(struct composing *c)
{
	bool changed = c->grant->nodes > 0;
	struct doc_list l;
	char text[256];
	size_t i;

	doc_list_begin(&l, '[');
	for (i = 0; i < c->s->device_count; i++) {
		if (is_replaced_device(c, &c->s->device[i]))
			changed = true;
		else
			doc_list_keep(&l, &c->s->doc, c->s->device[i].node);
	}
	for (i = 0; i < c->grant->nodes; i++) {
		const struct edit_node *n = &c->grant->node[i];

		/* the path is from our own tables: nothing in it needs escaping */
		snprintf(text, sizeof(text), "{\"path\":\"%s\",\"type\":\"c\",\"major\":%u,\"minor\":%u,\"fileMode\":%u,"
		    "\"uid\":%u,\"gid\":%u}", n->path, n->major, n->minor, n->mode, n->uid, n->gid);
		doc_list_add(&l, text);
	}
	if (changed)
		set(c, c->s->linux, "devices", &l);
	else
		drop(&l);
}

static void
add_rule(struct doc_list *l, const struct devrule *r)
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

	if (c->hide)
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
			add_rule(&l, &p.v[i].rule);
			continue;
		}
		/* kept rules keep their order, so the walk only goes on */
		for (; k < p.v[i].old; k++)
			n = doc_next(d, n);
		doc_list_keep(&l, d, n);
	}
	if (doc_is(d, c->s->resources, DOC_OBJECT)) {
		set(c, c->s->resources, "devices", &l);
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
	struct doc_list l;
	uint32_t n;
	size_t i;

	if (c->grant->masked.n == 0)
		return;
	doc_list_begin(&l, '[');
	for (n = doc_first(d, c->s->masked); n != DOC_NONE; n = doc_next(d, n))
		doc_list_keep(&l, d, n);
	for (i = 0; i < c->grant->masked.n; i++)
		add_string(&l, c->grant->masked.v[i]);
	set(c, c->s->linux, "maskedPaths", &l);
}

char *
compose(const struct spec *s, const struct devmajors *majors, const struct edits *grant, bool hide, size_t *len,
    struct why *why)
{
	static const struct edits nothing;
	struct composing c = { .s = s, .majors = majors, .grant = grant != NULL ? grant : &nothing, .hide = hide };
	char *text;

	compose_env(&c);
	compose_groups(&c);
	compose_annotations(&c);
	compose_mounts(&c);
	compose_devices(&c);
	compose_rules(&c);
	compose_masked(&c);
	text = doc_apply(&s->doc, &c.edits, len);
	doc_edits_free(&c.edits);
	if (text == NULL)
		refuse_nomem(why);
	return text;
}

static bool
is_place(const struct stat *st, const char *path)
{
	struct stat there;

	return stat(path, &there) == 0 && st->st_dev == there.st_dev && st->st_ino == there.st_ino;
}

/* Is this place of the host one of ours, or above or beneath one, be it by another name (a bind mount)? */
static bool
is_ours(const char *path)
{
	static const char *const ours[] = { GPUHELPER_RUNDIR, GPUHELPER_CONFDIR };
	char walk[256];
	struct stat st;
	size_t i;

	for (i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
		if (path_related(path, ours[i]))
			return true;
		if (stat(path, &st) == -1)
			continue;
		snprintf(walk, sizeof(walk), "%s", ours[i]);
		while (*walk != '\0') {
			if (is_place(&st, walk))
				return true;
			*strrchr(walk, '/') = '\0';
		}
		if (is_place(&st, "/"))
			return true;
	}
	return false;
}

static int
check_source(const char *source, const char *target, struct why *why)
{
	autofree char *real = NULL;

	if (source[0] != '/')
		return 0;
	/* what can't be resolved can't be mounted either; runc will say so */
	real = realpath(source, NULL);
	if (is_ours(source) || (real != NULL && is_ours(real)))
		return refuse(why, WHY_DENIED, "the mount of %s at %s would bring " GPUHELPER_CONFDIR " or " GPUHELPER_RUNDIR
		    " into the container", source, target);
	return 0;
}

/* «lowerdir=/a:/b,upperdir=/c» of an overlay are sources too. */
static int
check_overlay(const struct spec_mount *m, struct why *why)
{
	size_t i;

	for (i = 0; i < m->options.n; i++) {
		autofree char *copy = strdup(m->options.v[i]);
		char *p, *save = NULL;

		if (copy == NULL)
			return refuse_nomem(why);
		if ((p = strchr(copy, '=')) == NULL || !(text_starts(copy, "lowerdir") || text_starts(copy, "upperdir") ||
		    text_starts(copy, "workdir") || text_starts(copy, "datadir")))
			continue;
		for (p = strtok_r(p + 1, ":", &save); p != NULL; p = strtok_r(NULL, ":", &save))
			if (check_source(p, m->target, why) == -1)
				return -1;
	}
	return 0;
}

int
compose_check_mounts(const struct spec *s, struct why *why)
{
	const struct spec_mount *m;
	size_t i;

	for (i = 0; i < s->mount_count; i++) {
		m = &s->mount[i];
		if (m->bind && m->source != NULL && check_source(m->source, m->target, why) == -1)
			return -1;
		if (check_overlay(m, why) == -1)
			return -1;
	}
	return 0;
}
