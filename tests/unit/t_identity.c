/* pure/identity.c: what of an identity is remembered, and comes back. */
#include <stdlib.h>

#include "judge/instancevar.h"
#include "pure/identity.h"
#include "pure/varsjson.h"
#include "tap.h"

static void
test_round_trip(void)
{
	struct identity id = { .kind = IDENTITY_TOKEN, .team = "ml", .pipeline = "train \"x\"", .job = "fit", .issuer = "https://ci" };
	json_t *json = json_pack("{s:[i,s], s:{}}", "a", 1, "b\n", "none");
	struct instance_vars vars;
	struct known back;
	char *text;

	ok(instance_vars_of(json, &vars), "variables");
	id.instance_vars = &vars;
	text = identity_pack(&id);
	ok(text != NULL && identity_unpack(text, &back), "there and back");
	ok(back.id.kind == IDENTITY_TOKEN && strcmp(back.id.team, "ml") == 0 && strcmp(back.id.pipeline, "train \"x\"") == 0 &&
	    strcmp(back.id.job, "fit") == 0 && strcmp(back.id.issuer, "https://ci") == 0 &&
	    back.id.instance_vars->name.n == 2, "the same");
	is_str(instance_var(back.id.instance_vars, "a"), "[1,\"b\\n\"]", "with its variables");
	is_str(instance_var(back.id.instance_vars, "none"), "{}", "all of them");
	known_free(&back);
	free(text);
	instance_vars_free(&vars);
	json_decref(json);
	ok(!identity_unpack("{}", &back) && !identity_unpack("", &back) &&
	    !identity_unpack("identity king yes ml yes train no no\nvars no\nend\n", &back) &&
	    !identity_unpack("identity token yes ml yes train no no\nvars no\n", &back), "what it would not have made is none");
	id = (struct identity){ .kind = IDENTITY_CALLER };
	text = identity_pack(&id);
	is_str(text, "identity caller no no no no\nvars no\nend\n", "one of nobody's");
	ok(identity_unpack(text, &back) && back.id.team == NULL && back.id.instance_vars == NULL, "comes back as that");
	known_free(&back);
	free(text);
}

static void
test_long(void)
{
	struct identity id = { .kind = IDENTITY_CLAIM, .team = "ml", .pipeline = "train" };
	struct instance_vars vars = { .there = true };
	char value[IDENTITY_VARS_MAX + 1], *text;

	memset(value, 'x', sizeof(value));
	value[sizeof(value) - 1] = '\0';
	ok(strlist_add(&vars.name, "a", SIZE_MAX) && strlist_add(&vars.value, value, SIZE_MAX), "variables");
	id.instance_vars = &vars;
	ok(identity_pack(&id) == NULL, "that are too long are not remembered");
	vars.value.v[0][IDENTITY_VARS_MAX - 1] = '\0';
	text = identity_pack(&id);
	ok(text != NULL, "a byte less is not too long");
	free(text);
	instance_vars_free(&vars);
}

int
main(void)
{
	test_round_trip();
	test_long();
	return done_testing();
}
