/*
 * See authzask.h. Reading a grant finds its rules and GPUs by their indexes in the policy and the inventory, which come
 * before it.
 */
#include "authzask.h"

#include <stdlib.h>
#include <string.h>

#include "../gpu/inventorylines.h"
#include "engineask.h"
#include "table.h"

/* The question. */

static void
request_words(struct lines *t, struct request_words *w)
{
	char **const text[] = { &w->token, &w->team, &w->pipeline, &w->job, &w->instance_vars, &w->gpus, &w->folders,
		&w->cuda_visible, &w->rocr_visible };
	size_t i;

	lines_begin(t, "words");
	for (i = 0; i < sizeof(text) / sizeof(text[0]); i++)
		word_copy_or_none(t, text[i]);
}

void
authz_ask_lines(struct lines *t, struct authz_ask *a)
{
	lines_begin(t, "authz");
	if (!word_version(t))
		return;
	client_lines(t, &a->who);
	request_words(t, &a->words);
	lines_begin(t, "asks");
	word_bool(t, &a->privileged);
	word_bool(t, &a->is_run);
	word_copy_or_none(t, &a->remembered);
	word_i64(t, &a->now);
	lines_members(t, "keys", (void **)&a->keys, &a->issuers, ISSUERS_MAX, sizeof(*a->keys), found_keys_words);
}

char *
authz_ask_pack(struct authz_ask *a, const char *read, size_t len, size_t *size)
{
	autobuf struct buf lines = { 0 };
	struct lines t = { .out = &lines };
	char *packed;

	authz_ask_lines(&t, a);
	packed = lines_finish(&t) ? pack_with(&lines, read, len, size) : NULL;
	/* a token may be in it */
	if (lines.p != NULL)
		explicit_bzero(lines.p, lines.len);
	return packed;
}

bool
authz_asks_nothing(const struct request_words *w, const char *remembered)
{
	return remembered == NULL && w->token == NULL && w->gpus == NULL && w->folders == NULL;
}

/* The answer. */

static void
origin_of_answer_lines(struct lines *t, struct authz_answer *a)
{
	lines_begin(t, "known");
	word_bool(t, &a->looked);
	word_bool(t, &a->identified);
	word_bool(t, &a->judged);
	word_bool(t, &a->has_token);
	word_u32(t, &a->issuer);
	if (a->has_token)
		token_claims_lines(t, &a->origin.claims);
	else
		origin_lines(t, &a->origin);
}

/* The folders that a policy gives for writing. */
static void
nested_lines(struct lines *t, void *member)
{
	struct policy_entry *e = member;
	struct policy *p = &e->policy;

	word_copy(t, &p->name);
	word_copy_if_any(t, &e->broken);
	lines_members(t, "writes", (void **)&p->folder, &p->folders, FOLDER_RULES_MAX, sizeof(*p->folder), folder_rule_words);
}

/* The index of one of n things at «first», or, when reading, the thing. */
static const void *
word_of(struct lines *t, const void *thing, const void *first, size_t n, size_t size)
{
	uint32_t index = t->out != NULL ? (uint32_t)((size_t)((const char *)thing - (const char *)first) / size) : 0;

	word_u32(t, &index);
	if (index < n)
		return (const char *)first + index * size;
	t->failed = true;
	return NULL;
}

static void
candidate_words(struct lines *t, struct gpu_want *w, const struct inventory *inv)
{
	uint32_t n = (uint32_t)w->n, i;

	word_u32(t, &n);
	t->failed = t->failed || n > CANDIDATES_MAX || w->count > n;
	for (i = 0; i < n && !t->failed; i++)
		w->candidate[i] = word_of(t, w->candidate[i], inv->gpu, inv->gpus, sizeof(*inv->gpu));
	w->n = t->failed ? 0 : n;
}

/* Makes room for one more in an array of n. False: there is none. */
static bool
grow(struct lines *t, void **array, size_t n, size_t size, size_t max)
{
	void *v;

	if (t->out != NULL)
		return true;
	if (n >= max) {
		t->failed = true;
		return false;
	}
	if ((v = reallocarray(*array, n + 1, size)) == NULL) {
		lines_starve(t);
		return false;
	}
	*array = v;
	return true;
}

static void
wants_lines(struct lines *t, struct authz_answer *a)
{
	const struct policy *p = &a->policy;
	struct grant *g = &a->grant;
	struct gpu_want *w;
	size_t i;

	for (i = 0; !t->failed && lines_more(t, "want", i < g->gpus); i++) {
		if (!grow(t, (void **)&g->gpu, i, sizeof(*w), GRANT_WANTS_MAX))
			return;
		w = &g->gpu[i];
		if (t->out == NULL) {
			*w = (struct gpu_want){ .n = 0 };
			g->gpus = i + 1;
		}
		w->rule = word_of(t, w->rule, p->gpu, p->gpus, sizeof(*p->gpu));
		word_u32(t, &w->count);
		candidate_words(t, w, &a->inventory);
	}
}

static void
grant_of_answer_lines(struct lines *t, struct authz_answer *a)
{
	lines_begin(t, "policy");
	word_copy(t, &a->policy.name);
	policy_terms_lines(t, &a->policy);
	lines_members(t, "nested", (void **)&a->nested.v, &a->nested.n, POLICY_FILES_MAX, sizeof(*a->nested.v), nested_lines);
	inventory_lines(t, &a->inventory);
	lines_begin(t, "grant");
	word_u32(t, &a->grant.wait);
	wants_lines(t, a);
	lines_members(t, "given", (void **)&a->folder, &a->folders, FOLDER_RULES_MAX, sizeof(*a->folder),
	    granted_folder_words);
}

void
authz_answer_lines(struct lines *t, struct authz_answer *a)
{
	lines_begin(t, "authz");
	a->other_version = !word_version(t);
	a->policies = (enum answer_state)word_index(t, a->policies, ANSWER_MALFORMED + 1);
	a->specs = (enum answer_state)word_index(t, a->specs, ANSWER_MALFORMED + 1);
	why_words(t, &a->why);
	if (t->failed)
		return;
	origin_of_answer_lines(t, a);
	if (a->why.code == WHY_NONE)
		grant_of_answer_lines(t, a);
}

void
authz_answer_free(struct authz_answer *a)
{
	origin_free(&a->origin);
	policy_free(&a->policy);
	policy_set_free(&a->nested);
	inventory_free(&a->inventory);
	granted_folders_free(a->folder, a->folders);
	grant_free(&a->grant);
	*a = (struct authz_answer){ .issuer = 0 };
}
