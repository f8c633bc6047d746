/*
 * See authzquery.h. Reading a grant finds its rules by their indexes in the policy, which comes before it, and its GPUs
 * by those in the judge's report.
 */
#include "authzquery.h"

#include <stdlib.h>
#include <string.h>

#include "enginequery.h"
#include "parsed.h"

/* The question. */

static void
untrusted_fields(struct lines *t, struct untrusted *w)
{
	char **const text[] = { &w->token, &w->team, &w->pipeline, &w->job, &w->instance_vars, &w->gpus, &w->folders,
		&w->cuda_visible, &w->rocr_visible };
	size_t i;

	lines_begin(t, "words");
	for (i = 0; i < sizeof(text) / sizeof(text[0]); i++)
		field_copy_or_none(t, text[i]);
}

void
authz_query_lines(struct lines *t, struct authz_query *a)
{
	lines_begin(t, "authz");
	if (!field_version(t))
		return;
	client_lines(t, &a->who);
	untrusted_fields(t, &a->untrusted);
	lines_begin(t, "asks");
	field_bool(t, &a->privileged);
	field_bool(t, &a->is_run);
	field_copy_or_none(t, &a->packed_attribution);
	field_i64(t, &a->now);
	lines_members(t, "keys", (void **)&a->keys, &a->issuers, ISSUERS_MAX, sizeof(*a->keys), found_keys_fields);
}

char *
authz_query_pack(struct authz_query *a, const char *read, size_t len, size_t *size)
{
	autobuf struct buf lines = { 0 };
	struct lines t = { .out = &lines };
	char *packed;

	authz_query_lines(&t, a);
	packed = lines_finish(&t) ? pack_with(&lines, read, len, size) : NULL;
	/* a token may be in it */
	if (lines.p != NULL)
		explicit_bzero(lines.p, lines.len);
	return packed;
}

bool
authz_asks_nothing(const struct untrusted *w, const char *packed_attribution)
{
	return packed_attribution == NULL && w->token == NULL && w->gpus == NULL && w->folders == NULL;
}

/* The answer. */

static void
known_lines(struct lines *t, struct authz_answer *a)
{
	lines_begin(t, "known");
	field_bool(t, &a->searched);
	field_bool(t, &a->identified);
	field_bool(t, &a->judged);
	field_bool(t, &a->has_token);
	field_u32(t, &a->issuer);
	attribution_lines(t, &a->whose);
}

static uint32_t
index_field(struct lines *t, uint32_t index, size_t n)
{
	field_u32(t, &index);
	t->failed = t->failed || index >= n;
	return t->failed ? 0 : index;
}

static void
candidate_fields(struct lines *t, struct gpu_grant *w, const struct inventory *host)
{
	uint32_t n = (uint32_t)w->n, i, at;

	field_u32(t, &n);
	t->failed = t->failed || n > CANDIDATES_MAX || w->count > n;
	for (i = 0; i < n && !t->failed; i++) {
		at = t->out != NULL ? w->candidate[i]->place : 0;
		at = index_field(t, at, t->out != NULL ? SIZE_MAX : host->gpus);
		if (t->out == NULL && !t->failed)
			w->candidate[i] = &host->gpu[at];
	}
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
	struct gpu_grant *w;
	uint32_t at;
	size_t i;

	for (i = 0; !t->failed && lines_more(t, "want", i < g->gpus); i++) {
		if (!grow(t, (void **)&g->gpu, i, sizeof(*w), GRANT_DEMANDS_MAX))
			return;
		w = &g->gpu[i];
		if (t->out == NULL) {
			*w = (struct gpu_grant){ .n = 0 };
			g->gpus = i + 1;
		}
		at = index_field(t, t->out != NULL ? (uint32_t)(w->rule - p->gpu) : 0, p->gpus);
		if (t->out == NULL)
			w->rule = t->failed ? NULL : &p->gpu[at];
		field_u32(t, &w->count);
		candidate_fields(t, w, a->host);
	}
}

static void
grant_of_answer_lines(struct lines *t, struct authz_answer *a)
{
	lines_begin(t, "policy");
	field_copy(t, &a->policy.name);
	policy_grants_lines(t, &a->policy);
	lines_members(t, "nested", (void **)&a->writers.v, &a->writers.n, POLICY_FILES_MAX, sizeof(*a->writers.v),
	    writer_lines);
	lines_begin(t, "grant");
	field_u32(t, &a->grant.wait);
	wants_lines(t, a);
	lines_members(t, "given", (void **)&a->folder, &a->folders, FOLDER_RULES_MAX, sizeof(*a->folder),
	    granted_folder_fields);
}

void
authz_answer_lines(struct lines *t, struct authz_answer *a)
{
	lines_begin(t, "authz");
	a->other_version = !field_version(t);
	a->policies = (enum answer_state)field_index(t, a->policies, ANSWER_MALFORMED + 1);
	a->specs = (enum answer_state)field_index(t, a->specs, ANSWER_MALFORMED + 1);
	why_fields(t, &a->why);
	if (t->failed)
		return;
	known_lines(t, a);
	if (a->why.code == WHY_NONE)
		grant_of_answer_lines(t, a);
}

void
authz_answer_free(struct authz_answer *a)
{
	attribution_free(&a->whose);
	policy_free(&a->policy);
	policy_set_free(&a->writers);
	granted_folders_free(a->folder, a->folders);
	grant_free(&a->grant);
	*a = (struct authz_answer){ .issuer = 0 };
}
