/*
 * See specprocess.h. Kept elements stay the same bytes, and new elements follow them. Must leave a list alone
 * that neither loses nor gains an element.
 */
#include "specprocess.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "../../gpu/vendorasks.h"
#include "../../gpu/vendorvars.h"

static const char voided_entry[] = "NVIDIA_VISIBLE_DEVICES=void";

static void
set_if_changed(struct doc_edits *e, const struct doc *d, uint32_t obj, const char *key, struct doc_list *l,
    bool changed)
{
	autofree char *text = doc_list_end(l);

	if (text == NULL)
		e->failed = true;
	else if (changed)
		doc_set(e, d, obj, key, text);
}

static bool
same_variable(const char *a, const char *b)
{
	size_t n = strcspn(a, "=");

	return strcspn(b, "=") == n && strncmp(a, b, n) == 0;
}

static bool
is_set(const struct strlist *set, const char *entry)
{
	size_t i;

	for (i = 0; i < set->n; i++)
		if (same_variable(set->v[i], entry))
			return true;
	return false;
}

bool
process_env_is_taken_out(const char *entry, const struct strlist *tokens)
{
	return vendor_env_asks(entry) || same_variable(entry, "GPUHELPER_TOKEN") || is_set(tokens, entry);
}

void
process_env(const struct doc *d, uint32_t process, const struct strlist *set, const struct strlist *tokens,
    bool voided, struct doc_edits *e)
{
	bool changed = set->n > 0, has_void = !voided || is_set(set, voided_entry);
	struct doc_list l;
	uint32_t n;
	size_t i;

	doc_list_begin(&l, '[');
	for (n = doc_first(d, doc_get(d, process, "env")); n != DOC_NONE; n = doc_next(d, n)) {
		autofree char *entry = doc_string(d, n);

		if (entry == NULL) {
			e->failed = true;
		} else if (voided && same_variable(entry, voided_entry)) {
			if (has_void || strcmp(entry, voided_entry) != 0)
				changed = true;
			if (!has_void)
				doc_list_add_string(&l, voided_entry);
			has_void = true;
		} else if (process_env_is_taken_out(entry, tokens) || is_set(set, entry))
			changed = true;
		else
			doc_list_keep(&l, d, n);
	}
	if (!has_void) {
		doc_list_add_string(&l, voided_entry);
		changed = true;
	}
	for (i = 0; i < set->n; i++)
		doc_list_add_string(&l, set->v[i]);
	set_if_changed(e, d, process, "env", &l, changed);
}

void
process_label(const struct doc *d, uint32_t obj, const char *key, const char *label, struct doc_edits *e)
{
	autobuf struct buf b = { 0 };

	if (label == NULL || doc_equals(d, doc_get(d, obj, key), label))
		return;
	buf_json(&b, label);
	if (b.failed)
		e->failed = true;
	else
		doc_set(e, d, obj, key, b.p);
}

bool
process_has_group(const struct doc *d, uint32_t process, uint32_t gid)
{
	int64_t have;
	uint32_t g;

	for (g = doc_first(d, doc_get(d, doc_get(d, process, "user"), "additionalGids")); g != DOC_NONE; g = doc_next(d, g))
		if (doc_i64(d, g, &have) && have == gid)
			return true;
	return false;
}

void
process_groups(const struct doc *d, uint32_t process, const uint32_t *gids, size_t n, struct doc_edits *e)
{
	uint32_t user = doc_get(d, process, "user"), g;
	bool changed = false;
	struct doc_list l;
	char number[16];
	size_t i;

	doc_list_begin(&l, '[');
	for (g = doc_first(d, doc_get(d, user, "additionalGids")); g != DOC_NONE; g = doc_next(d, g))
		doc_list_keep(&l, d, g);
	for (i = 0; i < n; i++) {
		if (process_has_group(d, process, gids[i]))
			continue;
		snprintf(number, sizeof(number), "%u", gids[i]);
		doc_list_add(&l, number);
		changed = true;
	}
	if (doc_is(d, user, DOC_OBJECT)) {
		set_if_changed(e, d, user, "additionalGids", &l, changed);
	} else {
		autofree char *list = doc_list_end(&l);
		autobuf struct buf b = { 0 };

		buf_printf(&b, "{\"uid\":0,\"gid\":0,\"additionalGids\":%s}", list != NULL ? list : "");
		e->failed = e->failed || b.failed || list == NULL;
		if (changed && !e->failed)
			doc_set(e, d, process, "user", b.p);
	}
}
