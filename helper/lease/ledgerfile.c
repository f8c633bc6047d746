/* See ledgerfile.h. */
#include "ledgerfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/lines.h"

void
ledger_name(const char *path, uint32_t major, uint32_t minor, char out[LEDGER_NAME_SIZE])
{
	char *p;

	snprintf(out, LEDGER_NAME_SIZE, "%u:%u%s", major, minor, path);
	for (p = strchr(out, ':') + 1; *p != '\0'; p++)
		if (strchr("-_", *p) == NULL && !(*p >= '0' && *p <= '9') && !(*p >= 'a' && *p <= 'z') && !(*p >= 'A' && *p <= 'Z'))
			*p = '!';
}

static void
entry_free(struct ledger_entry *e)
{
	free(e->label);
	free(e->was);
}

void
ledger_node_free(struct ledger_node *n)
{
	size_t i;

	for (i = 0; i < n->entries; i++)
		entry_free(&n->entry[i]);
	free(n->entry);
	*n = LEDGER_NODE_EMPTY;
}

static bool
is_same_label(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

struct ledger_entry *
ledger_find(const struct ledger_node *n, const char *key, const struct change *a)
{
	struct ledger_entry *e;

	for (e = n->entry; e < n->entry + n->entries; e++)
		if (e->kind == a->kind && e->id == a->id && strcmp(e->key, key) == 0 &&
		    is_same_label(e->label, a->label[0] != '\0' ? a->label : NULL))
			return e;
	return NULL;
}

bool
ledger_same_change(const struct ledger_entry *a, const struct ledger_entry *b)
{
	return a->kind == b->kind && a->id == b->id && is_same_label(a->label, b->label);
}

struct ledger_entry *
ledger_add(struct ledger_node *n, const char *key, uint32_t uid, const struct change *a, const char *was)
{
	struct ledger_entry *v = reallocarray(n->entry, n->entries + 1, sizeof(*v)), *e;

	if (v == NULL)
		return NULL;
	n->entry = v;
	e = &v[n->entries];
	*e = (struct ledger_entry){ .uid = uid, .kind = a->kind, .id = a->id };
	snprintf(e->key, sizeof(e->key), "%s", key);
	if (a->kind == CHANGE_LABEL && ((e->label = strdup(a->label)) == NULL || (e->was = strdup(was)) == NULL)) {
		entry_free(e);
		return NULL;
	}
	n->entries++;
	return e;
}

void
ledger_drop_undone(struct ledger_node *n)
{
	bool made = false, acl = false;
	struct ledger_entry *e;
	size_t left = 0;

	for (e = n->entry; e < n->entry + n->entries; e++) {
		if (e->undone) {
			entry_free(e);
			continue;
		}
		made = made || e->kind == CHANGE_MAKE_NODE;
		acl = acl || change_is_acl(e->kind);
		n->entry[left++] = *e;
	}
	n->entries = left;
	n->inode = made ? n->inode : 0;
	n->mask = acl ? n->mask : CHANGE_NO_MASK;
}

/* Lines. */

static void
entry_fields(struct lines *s, void *member)
{
	static const char *const kinds[] = { "make-node", "allow-user", "allow-group", "label" };
	struct ledger_entry *e = member;

	field_text(s, e->key, sizeof(e->key));
	field_u32(s, &e->uid);
	e->kind = (enum change_kind)field_name(s, kinds, sizeof(kinds) / sizeof(kinds[0]), e->kind);
	field_u32(s, &e->id);
	field_copy_if_any(s, &e->label);
	field_copy_if_any(s, &e->was);
	if ((e->label != NULL) != (e->kind == CHANGE_LABEL) || (e->was != NULL) != (e->kind == CHANGE_LABEL))
		s->failed = true;
}

static bool
node_lines(struct lines *s, struct ledger_node *n)
{
	static const char *const masks[] = { "none", "0", "1", "2", "3", "4", "5", "6", "7" };
	uint32_t version = LEDGER_VERSION;

	lines_begin(s, "ledger");
	field_u32(s, &version);
	if (version != LEDGER_VERSION)
		s->failed = true;
	lines_begin(s, "node");
	field_text(s, n->path, sizeof(n->path));
	field_u32(s, &n->major);
	field_u32(s, &n->minor);
	lines_begin(s, "before");
	field_text(s, n->boot, sizeof(n->boot));
	field_u64(s, &n->inode);
	n->mask = (int)field_name(s, masks, sizeof(masks) / sizeof(masks[0]), (unsigned)(n->mask + 1)) - 1;
	lines_members(s, "entry", (void **)&n->entry, &n->entries, SIZE_MAX, sizeof(*n->entry), entry_fields);
	return lines_finish(s);
}

char *
ledger_encode(const struct ledger_node *n)
{
	struct ledger_node same = *n;	/* writing changes nothing in it: lines.h */
	struct buf text = { 0 };

	if (node_lines(&(struct lines){ .out = &text }, &same))
		return buf_take(&text);
	buf_free(&text);
	return NULL;
}

int
ledger_decode(const char *text, size_t len, struct ledger_node *n, struct why *why)
{
	struct lines s = { .at = text, .end = text + len };

	*n = LEDGER_NODE_EMPTY;
	if (node_lines(&s, n))
		return 0;
	ledger_node_free(n);
	return s.nomem ? refuse_nomem(why) : refuse(why, WHY_CONFIG, "no ledger of this version");
}
