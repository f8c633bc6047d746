/* See identity.h. Must parse nothing but lines that this program wrote. */
#include "identity.h"

#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../policy/instancevarstext.h"
#include "../policy/policydecide.h"

void
token_claims_lines(struct lines *t, struct token_claims *c)
{
	lines_begin(t, "claims");
	field_copy(t, &c->team);
	field_copy(t, &c->pipeline);
	field_copy_if_any(t, &c->job);
	field_i64(t, &c->iat);
	field_i64(t, &c->exp);
	field_text(t, c->once, sizeof(c->once));
	instance_vars_lines(t, &c->instance_vars);
	claim_set_lines(t, "claim", &c->claims);
}

static const struct instance_vars *
given(const struct instance_vars *v)
{
	return v->there ? v : NULL;
}

void
principal_from_token(struct principal *k, const struct issuer_setting *issuer)
{
	k->issuer = issuer;
	k->id = (struct identity){ .kind = IDENTITY_TOKEN, .team = k->claims.team, .pipeline = k->claims.pipeline,
		.job = k->claims.job, .instance_vars = given(&k->claims.instance_vars), .claims = &k->claims.claims,
		.issuer = issuer->url };
}

/* Reads or writes as lines (lines.h); writing changes nothing. */
static void
identity_lines(struct lines *s, enum identity_kind *kind, char *text[IDENTITY_TEXTS], struct instance_vars *vars,
    struct claim_set *claims)
{
	const char *names[IDENTITY_KINDS];
	unsigned i;

	for (i = 0; i < IDENTITY_KINDS; i++)
		names[i] = identity_name((enum identity_kind)i);
	lines_begin(s, "identity");
	*kind = (enum identity_kind)field_name(s, names, IDENTITY_KINDS, (unsigned)*kind);
	for (i = 0; i < IDENTITY_TEXTS; i++)
		field_copy_or_none(s, &text[i]);
	instance_vars_lines(s, vars);
	claim_set_lines(s, "claim", claims);
}

static size_t
length(const struct strlist *l)
{
	size_t i, n = 0;

	for (i = 0; i < l->n; i++)
		n += strlen(l->v[i]);
	return n;
}

static void
write_identity(struct lines *s, const struct identity *id)
{
	const char *text[IDENTITY_TEXTS] = { id->team, id->pipeline, id->job, id->issuer };
	struct instance_vars vars = id->instance_vars != NULL ? *id->instance_vars : (struct instance_vars){ .there = false };
	struct claim_set claims = id->claims != NULL ? *id->claims : (struct claim_set){ .name = { .n = 0 } };
	enum identity_kind kind = id->kind;

	identity_lines(s, &kind, (char **)(uintptr_t)text, &vars, &claims);
}

void
principal_lines(struct lines *s, struct principal *k)
{
	struct identity *id = &k->id;

	if (s->out != NULL) {
		write_identity(s, id);
		return;
	}
	identity_lines(s, &id->kind, k->text, &k->vars, &k->kept_claims);
	id->team = k->text[0];
	id->pipeline = k->text[1];
	id->job = k->text[2];
	id->issuer = k->text[3];
	id->instance_vars = given(&k->vars);
	id->claims = &k->kept_claims;
}

char *
identity_pack(const struct identity *id)
{
	const struct instance_vars *v = id->instance_vars;
	const struct claim_set *c = id->claims;
	autobuf struct buf b = { 0 };
	struct lines s = { .out = &b };

	if ((v != NULL ? length(&v->name) + length(&v->value) : 0) + (c != NULL ? length(&c->name) + length(&c->value) : 0) >
	    IDENTITY_VARS_MAX)
		return NULL;
	write_identity(&s, id);
	return lines_finish(&s) ? buf_take(&b) : NULL;
}

bool
identity_unpack(const char *text, struct principal *out)
{
	struct lines s = { .at = text, .end = text + strlen(text) };

	*out = (struct principal){ 0 };
	principal_lines(&s, out);
	if (lines_finish(&s))
		return true;
	principal_free(out);
	return false;
}

void
principal_move(struct principal *from, struct principal *to)
{
	struct identity *id = &to->id;

	*to = *from;
	if (id->instance_vars != NULL)
		id->instance_vars = id->instance_vars == &from->vars ? &to->vars : &to->claims.instance_vars;
	if (id->claims != NULL)
		id->claims = id->claims == &from->kept_claims ? &to->kept_claims : &to->claims.claims;
	*from = (struct principal){ .issuer = NULL };
}

void
principal_free(struct principal *k)
{
	unsigned i;

	token_claims_free(&k->claims);
	instance_vars_free(&k->vars);
	claim_set_free(&k->kept_claims);
	for (i = 0; i < IDENTITY_TEXTS; i++)
		free(k->text[i]);
	*k = (struct principal){ 0 };
}
