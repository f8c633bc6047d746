/*
 * See grantmark.h. The mark is an annotation, and engines copy annotations of images, whose authors may wish that a
 * mount of the engine's be taken out. So the mark has a seal: a hash of the bundle's path, of root.path and of the
 * added elements. An engine's paths have random parts, which no image's author knows beforehand.
 */
#include "grantmark.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "../../base/hash.h"
#include "../../json/jsonout.h"
#include "../spec/specprocess.h"

/* The lists to which a grant adds: where each is, and which member of an element is its name («» for the element). */
static const struct {
	const char *key;		/* in the mark */
	const char *at[3];		/* the members that lead to the list */
	const char *name;
} lists[] = {
	{ "mounts", { "mounts" }, "destination" },
	{ "devices", { "linux", "devices" }, "path" },
	{ "rules", { "linux", "resources", "devices" }, NULL },
	{ "variables", { "process", "env" }, "" },
	{ "groups", { "process", "user", "additionalGids" }, "" },
	{ "masked", { "linux", "maskedPaths" }, "" },
	{ "createRuntime", { "hooks", "createRuntime" }, "path" },
	{ "createContainer", { "hooks", "createContainer" }, "path" },
	{ "startContainer", { "hooks", "startContainer" }, "path" },
	{ "prestart", { "hooks", "prestart" }, "path" },
	{ "poststart", { "hooks", "poststart" }, "path" },
	{ "poststop", { "hooks", "poststop" }, "path" },
};
#define LISTS (sizeof(lists) / sizeof(lists[0]))
enum { MOUNTS, DEVICES, RULES, VARIABLES, GROUPS, MASKED, HOOKS };

/* The labels that a grant replaces. */
static const struct {
	const char *key, *parent;
} labels[] = { { "selinuxLabel", "process" }, { "mountLabel", "linux" } };
#define LABELS (sizeof(labels) / sizeof(labels[0]))

struct mark {
	struct strlist names[LISTS];
	uint32_t *node[LISTS];		/* the elements with these names, once they are found */
	char *was[LABELS];		/* the label before; NULL: it was not replaced */
	char seal[HASH_SIZE];
};

static void
mark_free(struct mark *m)
{
	size_t i;

	for (i = 0; i < LISTS; i++) {
		strlist_free(&m->names[i]);
		free(m->node[i]);
	}
	for (i = 0; i < LABELS; i++)
		free(m->was[i]);
}
#define automark __attribute__((cleanup(mark_free)))

static uint32_t
list_of(const struct doc *d, size_t list)
{
	uint32_t n = 0;
	size_t i;

	for (i = 0; i < 3 && lists[list].at[i] != NULL; i++)
		n = doc_get(d, n, lists[list].at[i]);
	return doc_is(d, n, DOC_ARRAY) ? n : DOC_NONE;
}

static char *
raw_text(const struct doc *d, uint32_t n)
{
	return strndup(d->text + d->node[n].start, d->node[n].end - d->node[n].start);
}

/* «c 195:0», as compose.c writes rules. */
static char *
rule_name(const struct doc *d, uint32_t n)
{
	int64_t major = -1, minor = -1;
	char *name;

	(void)doc_i64(d, doc_get(d, n, "major"), &major);
	(void)doc_i64(d, doc_get(d, n, "minor"), &minor);
	return asprintf(&name, "c %lld:%lld", (long long)major, (long long)minor) != -1 ? name : NULL;
}

/* An element's name, which the caller frees; NULL if it has none. */
static char *
name_of(const struct doc *d, size_t list, uint32_t n)
{
	char *name;

	if (lists[list].name == NULL)
		return rule_name(d, n);
	name = lists[list].name[0] != '\0' ? doc_string(d, doc_get(d, n, lists[list].name)) :
	    doc_is(d, n, DOC_STRING) ? doc_string(d, n) : raw_text(d, n);
	/* a variable's value may be a policy's secret */
	if (list == VARIABLES && name != NULL)
		name[strcspn(name, "=")] = '\0';
	return name;
}

/* False if memory is short. */
static bool
make_nodes(struct mark *m)
{
	size_t i;

	for (i = 0; i < LISTS; i++)
		if ((m->node[i] = calloc(m->names[i].n + 1, sizeof(*m->node[i]))) == NULL)
			return false;
	return true;
}

/* Finds the elements with these names: added ones come last, in the order in which they were added. */
static bool
find_elements(const struct doc *d, struct mark *m, size_t list)
{
	const uint32_t at = list_of(d, list);
	const uint32_t count = at != DOC_NONE ? d->node[at].count : 0;
	autofree uint32_t *all = calloc((size_t)count + 1, sizeof(*all));
	size_t left = m->names[list].n, i = 0;
	uint32_t n;

	if (all == NULL)
		return false;
	for (n = doc_first(d, at); n != DOC_NONE && i < count; n = doc_next(d, n))
		all[i++] = n;
	while (left > 0 && i > 0) {
		autofree char *name = name_of(d, list, all[--i]);

		if (name != NULL && strcmp(name, m->names[list].v[left - 1]) == 0)
			m->node[list][--left] = all[i];
	}
	return left == 0;
}

static bool
find_all(const struct doc *d, struct mark *m)
{
	size_t i;

	for (i = 0; i < LISTS; i++)
		if (!find_elements(d, m, i))
			return false;
	return true;
}

/* Adds an element's text, of a variable its name alone. */
static bool
add_piece(const struct doc *d, size_t list, uint32_t n, struct strlist *out)
{
	autofree char *text = list == VARIABLES ? name_of(d, list, n) : raw_text(d, n);

	return text != NULL && strlist_add(out, lists[list].key, SIZE_MAX) && strlist_add(out, text, SIZE_MAX);
}

static bool
add_label(const struct doc *d, const struct mark *m, size_t label, struct strlist *out)
{
	autofree char *now = doc_string(d, doc_get(d, doc_get(d, 0, labels[label].parent), labels[label].key));

	return m->was[label] == NULL || (strlist_add(out, labels[label].key, SIZE_MAX) &&
	    strlist_add(out, m->was[label], SIZE_MAX) && strlist_add(out, now != NULL ? now : "", SIZE_MAX));
}

/* False if memory is short. */
static bool
make_seal(const struct doc *d, const struct mark *m, const char *bundle, char seal[HASH_SIZE])
{
	autofree char *root = doc_string(d, doc_get(d, doc_get(d, 0, "root"), "path"));
	autostrlist struct strlist pieces = { 0 };
	autofree const char **all = NULL;
	size_t i, k;
	bool good = strlist_add(&pieces, bundle, SIZE_MAX) && strlist_add(&pieces, root != NULL ? root : "", SIZE_MAX);

	for (i = 0; i < LISTS; i++)
		for (k = 0; good && k < m->names[i].n; k++)
			good = add_piece(d, i, m->node[i][k], &pieces);
	for (i = 0; good && i < LABELS; i++)
		good = add_label(d, m, i, &pieces);
	if (!good || (all = calloc(pieces.n + 1, sizeof(*all))) == NULL)
		return false;
	for (i = 0; i < pieces.n; i++)
		all[i] = pieces.v[i];
	hash_pieces(all, seal);
	return true;
}

/* Marking */

static bool
name_nodes(const struct edits *grant, struct mark *m)
{
	char text[64];
	bool good = true;
	size_t i;

	for (i = 0; good && i < grant->nodes; i++) {
		snprintf(text, sizeof(text), "c %u:%u", grant->node[i].major, grant->node[i].minor);
		good = strlist_add(&m->names[RULES], text, SIZE_MAX) &&
		    (grant->nodes_bound || strlist_add(&m->names[DEVICES], grant->node[i].path, SIZE_MAX));
	}
	return good;
}

static bool
name_hooks(const struct edits *grant, struct mark *m)
{
	bool good = true;
	size_t i, list;

	for (i = 0; good && i < grant->hooks; i++)
		for (list = HOOKS; good && list < LISTS; list++)
			if (strcmp(lists[list].key, grant->hook[i].when) == 0)
				good = strlist_add(&m->names[list], grant->hook[i].path, SIZE_MAX);
	return good;
}

/* Names what compose() adds. False if memory is short. */
static bool
name_added(const struct spec *before, const struct edits *grant, struct mark *m)
{
	char number[16];
	bool good = name_nodes(grant, m) && name_hooks(grant, m);
	size_t i;

	for (i = 0; good && i < grant->mounts; i++)
		good = grant->mount[i].linked || strlist_add(&m->names[MOUNTS], grant->mount[i].target, SIZE_MAX);
	for (i = 0; good && i < grant->env.n; i++)
		good = strlist_add(&m->names[VARIABLES], grant->env.v[i], strcspn(grant->env.v[i], "="));
	for (i = 0; good && i < grant->gids; i++) {
		snprintf(number, sizeof(number), "%u", grant->gid[i]);
		good = process_has_group(&before->doc, before->process, grant->gid[i]) ||
		    strlist_add(&m->names[GROUPS], number, SIZE_MAX);
	}
	for (i = 0; good && i < grant->masked.n; i++)
		good = spec_masks(before, grant->masked.v[i]) || strlist_add(&m->names[MASKED], grant->masked.v[i], SIZE_MAX);
	if (good && grant->label != NULL)
		good = (m->was[0] = strdup(before->label != NULL ? before->label : "")) != NULL;
	if (good && grant->mount_label != NULL)
		good = (m->was[1] = strdup(before->mount_label != NULL ? before->mount_label : "")) != NULL;
	return good;
}

static char *
mark_text(const struct mark *m)
{
	autojsonout struct jsonout j = { .next = false };
	size_t i;

	jsonout_begin(&j, NULL, "{");
	for (i = 0; i < LISTS; i++)
		if (m->names[i].n > 0)
			jsonout_list(&j, lists[i].key, &m->names[i]);
	for (i = 0; i < LABELS; i++)
		if (m->was[i] != NULL)
			jsonout_text(&j, labels[i].key, m->was[i]);
	jsonout_text(&j, "seal", m->seal);
	jsonout_end(&j, "}");
	return jsonout_take(&j);
}

char *
grantmark_add(const struct spec *before, const struct edits *grant, const char *bundle, const char *text, size_t *len,
    struct why *why)
{
	automark struct mark m = { .seal = "" };
	autodoc struct doc d = { 0 };
	autoedits struct doc_edits e = { 0 };
	autobuf struct buf value = { 0 }, whole = { 0 };
	autofree char *says = NULL;
	char *out;

	if (doc_parse(&d, text, *len, why) == -1)
		return NULL;
	if (!name_added(before, grant, &m) || !make_nodes(&m)) {
		refuse_nomem(why);
		return NULL;
	}
	/* without a mark the container is as good, and only a second use of the bundle is refused */
	if (!find_all(&d, &m))
		return strdup(text);
	if (!make_seal(&d, &m, bundle, m.seal) || (says = mark_text(&m)) == NULL) {
		refuse_nomem(why);
		return NULL;
	}
	buf_json(&value, says);
	buf_printf(&whole, "{\"" GRANTMARK_KEY "\":%s}", value.p != NULL ? value.p : "");
	e.failed = value.failed || whole.failed;
	if (!e.failed && doc_is(&d, doc_get(&d, 0, "annotations"), DOC_OBJECT))
		doc_set(&e, &d, doc_get(&d, 0, "annotations"), GRANTMARK_KEY, value.p);
	else if (!e.failed)
		doc_set(&e, &d, 0, "annotations", whole.p);
	if ((out = doc_apply(&d, &e, len)) == NULL)
		refuse_nomem(why);
	return out;
}

/* Taking out */

/* Reads a mark. False if it is none, or memory is short. */
static bool
read_mark(const char *text, struct mark *m)
{
	autodoc struct doc d = { 0 };
	autofree char *seal = NULL;
	struct why ignored;
	uint32_t n;
	size_t i;

	if (doc_parse(&d, text, strlen(text), &ignored) == -1 || (seal = doc_string(&d, doc_get(&d, 0, "seal"))) == NULL)
		return false;
	snprintf(m->seal, sizeof(m->seal), "%s", seal);
	for (i = 0; i < LISTS; i++)
		for (n = doc_first(&d, doc_get(&d, 0, lists[i].key)); n != DOC_NONE; n = doc_next(&d, n)) {
			autofree char *name = doc_string(&d, n);

			if (name == NULL || !strlist_add(&m->names[i], name, SIZE_MAX))
				return false;
		}
	for (i = 0; i < LABELS; i++)
		if ((n = doc_get(&d, 0, labels[i].key)) != DOC_NONE && (m->was[i] = doc_string(&d, n)) == NULL)
			return false;
	return true;
}

static void
drop_elements(const struct doc *d, const struct mark *m, size_t list, struct doc_edits *e)
{
	const uint32_t at = list_of(d, list);
	autofree char *text = NULL;
	struct doc_list l;
	size_t i = 0;
	uint32_t n;

	if (m->names[list].n == 0)
		return;
	doc_list_begin(&l, '[');
	for (n = doc_first(d, at); n != DOC_NONE; n = doc_next(d, n))
		if (i < m->names[list].n && m->node[list][i] == n)
			i++;
		else
			doc_list_keep(&l, d, n);
	if ((text = doc_list_end(&l)) != NULL)
		doc_replace(e, d, at, text);
	else
		e->failed = true;
}

static void
reset_state(const struct doc *d, struct doc_edits *e)
{
	const uint32_t at = doc_get(d, 0, "annotations");
	autofree char *text = NULL;
	struct doc_list l;
	uint32_t k;

	doc_list_begin(&l, '{');
	for (k = doc_first(d, at); k != DOC_NONE; k = doc_next(d, k))
		if (!doc_equals(d, k, GRANTMARK_KEY))
			doc_list_keep(&l, d, k);
	if ((text = doc_list_end(&l)) != NULL)
		doc_replace(e, d, at, text);
	else
		e->failed = true;
}

static void
restore_label(const struct doc *d, const struct mark *m, size_t label, struct doc_edits *e)
{
	autobuf struct buf b = { 0 };

	if (m->was[label] == NULL)
		return;
	buf_json(&b, m->was[label]);
	if (b.failed)
		e->failed = true;
	else
		doc_set(e, d, doc_get(d, 0, labels[label].parent), labels[label].key, b.p);
}

/* Makes the text without the elements that were found. NULL if memory is short. */
static char *
without(const struct doc *d, const struct mark *m, size_t *len)
{
	autoedits struct doc_edits e = { 0 };
	size_t i;

	for (i = 0; i < LISTS; i++)
		drop_elements(d, m, i, &e);
	for (i = 0; i < LABELS; i++)
		restore_label(d, m, i, &e);
	reset_state(d, &e);
	return doc_apply(d, &e, len);
}

/* 0, with the text in *out unless there is nothing to take out, or -1 with *why. */
static int
take_out(const struct bundle *b, char **out, size_t *out_len, bool *stale, struct why *why)
{
	automark struct mark m = { .seal = "" };
	autofree char *says = NULL;
	autodoc struct doc d = { 0 };
	struct why ignored;
	char seal[HASH_SIZE];

	*out = NULL;
	*stale = false;
	/* most have no mark, and are not parsed here; a text that is no JSON is for spec_parse() to refuse */
	if (memmem(b->text, b->len, GRANTMARK_KEY, strlen(GRANTMARK_KEY)) == NULL ||
	    doc_parse(&d, b->text, b->len, &ignored) == -1 ||
	    (says = doc_string(&d, doc_get(&d, doc_get(&d, 0, "annotations"), GRANTMARK_KEY))) == NULL)
		return 0;
	*stale = !read_mark(says, &m) || !make_nodes(&m) || !find_all(&d, &m) || !make_seal(&d, &m, b->path, seal) ||
	    strcmp(seal, m.seal) != 0;
	if (*stale)
		return 0;
	return (*out = without(&d, &m, out_len)) != NULL ? 0 : refuse_nomem(why);
}

int
grantmark_parse(struct spec *s, const struct bundle *b, char **before, bool *stale, struct why *why)
{
	size_t len = 0;

	*s = (struct spec){ 0 };
	if (take_out(b, before, &len, stale, why) == -1)
		return -1;
	return *before != NULL ? spec_parse(s, *before, len, why) : spec_parse(s, b->text, b->len, why);
}
