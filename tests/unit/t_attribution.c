/*
 * ask/attribution.h: what the helper hears of a principal is what gpuhelper-engine knows of it, and is remembered in a
 * lease; no text of an engine that was taken over becomes part of the form.
 */
#include <stdlib.h>
#include <string.h>

#include "ask/attribution.h"
#include "ask/identity.h"
#include "base/cleanup.h"
#include "engine/attribute.h"
#include "tap.h"

static const struct issuer_setting issuer = { .url = (char []){ "https://ci" } };

/* Each text of a lease with another value, which an engine that was taken over has told or packed. */
static void
test_forged(struct attribution *lease)
{
	char **const text[] = { &lease->team, &lease->pipeline, &lease->job, &lease->issuer, &lease->vars };
	struct principal back;
	size_t i;

	for (i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		char *const was = *text[i], other[] = "other";
		autofree char *packed = NULL;

		*text[i] = other;
		packed = attribution_pack(lease);
		*text[i] = was;
		ok(packed != NULL && !principal_of_lease(packed, &back) && back.id.team == NULL, "  no other text: %zu", i);
	}
	lease->kind = IDENTITY_CLAIM;
	{
		autofree char *packed = attribution_pack(lease);

		ok(packed != NULL && !principal_of_lease(packed, &back), "  no other proof");
	}
	ok(!principal_of_lease("", &back), "  nor nothing");
}

static void
test_told(void)
{
	struct principal k = { .claims = { .team = strdup("ml"), .pipeline = strdup("train \"x\""), .exp = 17, .once = "abc" } }, back;
	autoattribution struct attribution a = { .exp = 0 }, lease = { .exp = 0 };
	autofree char *packed = NULL;

	ok(strlist_add(&k.claims.instance_vars.name, "branch", SIZE_MAX) &&
	    strlist_add(&k.claims.instance_vars.value, "\"main\"", SIZE_MAX), "a variable is added");
	k.claims.instance_vars.there = true;
	principal_from_token(&k, &issuer);
	ok(attribute(&k, &a) && a.kind == IDENTITY_TOKEN && strcmp(a.team, "ml") == 0 && strcmp(a.pipeline, "train \"x\"") == 0 &&
	    a.job == NULL && strcmp(a.issuer, "https://ci") == 0 && a.exp == 17 && strcmp(a.once, "abc") == 0, "a token is told");
	is_str(a.vars, "{\"branch\":\"main\"}", "with its variables, as records show them");
	ok((packed = attribution_pack(&a)) != NULL && attribution_unpack(packed, &lease), "a lease remembers it");
	ok(strcmp(lease.pipeline, a.pipeline) == 0 && strcmp(lease.vars, a.vars) == 0 && lease.kind == IDENTITY_TOKEN &&
	    lease.exp == 0 && lease.once[0] == '\0', "but not the token");
	ok(principal_of_lease(packed, &back) && strcmp(back.id.pipeline, a.pipeline) == 0 &&
	    back.id.instance_vars->name.n == 1, "with what gpuhelper-engine needs of it");
	principal_free(&back);
	test_forged(&lease);
	principal_free(&k);
}

static void
test_caller(void)
{
	const struct principal k = { .id = { .kind = IDENTITY_CALLER } };
	autoattribution struct attribution a = { .exp = 0 };

	ok(attribute(&k, &a) && a.kind == IDENTITY_CALLER && a.team == NULL && a.vars == NULL && a.issuer == NULL && a.exp == 0,
	    "of a caller, no pipeline is told");
}

static void
test_too_long(void)
{
	struct instance_vars vars = { .there = true };
	const struct principal k = { .id = { .kind = IDENTITY_CLAIM, .team = "ml", .pipeline = "p", .instance_vars = &vars } };
	autoattribution struct attribution a = { .exp = 0 };
	char value[IDENTITY_VARS_MAX + 2];

	memset(value, '1', sizeof(value));
	value[sizeof(value) - 1] = '\0';
	ok(strlist_add(&vars.name, "n", SIZE_MAX) && strlist_add(&vars.value, value, SIZE_MAX), "a long variable is added");
	ok(attribute(&k, &a) && a.identity == NULL && a.vars_left_out == 1 && strcmp(a.vars, "{}") == 0,
	    "variables that are too long are told, but left out");
	ok(attribution_pack(&a) == NULL, "and no lease remembers such a pipeline");
	instance_vars_free(&vars);
}

static void
test_lies(void)
{
	static const char *const lies[] = { "", "identity", "identity token no no no no no no 0 0 -\nend\n",
		"identity king no no no no no yes x 0 0 -\nend\n", "identity token no no no no no yes x 0 0 -\nend\nmore\n" };
	autofree char *vars = calloc(VARS_SHOWN_MAX + 2, 1), *identity = calloc(PACKED_IDENTITY_MAX + 2, 1), *packed = NULL;
	struct attribution a;
	size_t i;

	for (i = 0; i < sizeof(lies) / sizeof(lies[0]); i++)
		ok(!attribution_unpack(lies[i], &a), "no lease has this: %zu", i);
	memset(vars, 'v', VARS_SHOWN_MAX + 1);
	memset(identity, 'i', PACKED_IDENTITY_MAX + 1);
	ok(attribution_pack(&(struct attribution){ .vars = vars, .identity = vars }) == NULL, "longer variables are refused");
	ok(attribution_pack(&(struct attribution){ .identity = identity }) == NULL, "so is a longer identity");
	identity[PACKED_IDENTITY_MAX] = vars[VARS_SHOWN_MAX] = '\0';
	packed = attribution_pack(&(struct attribution){ .vars = vars, .identity = identity });
	ok(packed != NULL, "the longest of both are not");
}

int
main(void)
{
	test_told();
	test_caller();
	test_too_long();
	test_lies();
	return done_testing();
}
