/*
 * ask/identity.c: which parts of an identity are kept, and that they are read back as they were
 * written.
 */
#include <stdlib.h>

#include "ask/identity.h"
#include "judge/instancevar.h"
#include "policy/claimsetadd.h"
#include "policy/instancevarstext.h"
#include "policy/policydecide.h"
#include "policy/varsjson.h"
#include "tap.h"

static void
test_round_trip(void)
{
	struct identity id = { .kind = IDENTITY_TOKEN, .team = "ml", .pipeline = "train \"x\"", .job = "fit", .issuer = "https://ci" };
	json_t *json = json_pack("{s:[i,s], s:{}}", "a", 1, "b\n", "none");
	struct claim_set claims = { .name = { .n = 0 } };
	struct instance_vars vars;
	struct principal back;
	char *text;

	ok(instance_vars_of(json, &vars), "instance_vars are read from JSON");
	id.instance_vars = &vars;
	id.claims = &claims;
	ok(claim_set_add(&claims, "ref", "\"main") && claim_set_add(&claims, "a b%", "-"), "claims are added");
	text = identity_pack(&id);
	ok(text != NULL && identity_unpack(text, &back), "an identity is packed and unpacked");
	ok(back.id.claims->name.n == 2 && strcmp(claim_set_value(back.id.claims, "ref"), "\"main") == 0 &&
	    strcmp(claim_set_value(back.id.claims, "a b%"), "-") == 0, "the claims are the same");
	ok(back.id.kind == IDENTITY_TOKEN && strcmp(back.id.team, "ml") == 0 && strcmp(back.id.pipeline, "train \"x\"") == 0 &&
	    strcmp(back.id.job, "fit") == 0 && strcmp(back.id.issuer, "https://ci") == 0 &&
	    back.id.instance_vars->name.n == 2, "the identity is the same");
	is_str(instance_var(back.id.instance_vars, "a"), "[1,\"b\\n\"]", "a variable is the same");
	is_str(instance_var(back.id.instance_vars, "none"), "{}", "another variable is the same");
	principal_free(&back);
	free(text);
	instance_vars_free(&vars);
	claim_set_free(&claims);
	json_decref(json);
	ok(!identity_unpack("{}", &back) && !identity_unpack("", &back) &&
	    !identity_unpack("identity king yes ml yes train no no\nvars no\nend\n", &back) &&
	    !identity_unpack("identity token yes ml yes train no no\nvars no\n", &back),
	    "malformed texts are refused");
	id = (struct identity){ .kind = IDENTITY_CALLER };
	text = identity_pack(&id);
	is_str(text, "identity caller no no no no\nvars no\nend\n",
	    "an identity without a pipeline is packed");
	ok(identity_unpack(text, &back) && back.id.team == NULL && back.id.instance_vars == NULL,
	    "an identity without a pipeline is unpacked");
	principal_free(&back);
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
	ok(strlist_add(&vars.name, "a", SIZE_MAX) && strlist_add(&vars.value, value, SIZE_MAX),
	    "a long variable is added");
	id.instance_vars = &vars;
	ok(identity_pack(&id) == NULL,
	    "an identity with variables that are too long is not packed");
	vars.value.v[0][IDENTITY_VARS_MAX - 1] = '\0';
	text = identity_pack(&id);
	ok(text != NULL, "an identity with variables of the greatest length is packed");
	free(text);
	instance_vars_free(&vars);
}

static void
add_var(struct instance_vars *v, const char *name, size_t value)
{
	char text[2048];

	memset(text, 'x', value);
	text[0] = text[value - 1] = '"';
	text[value] = '\0';
	v->there = true;
	ok(strlist_add(&v->name, name, SIZE_MAX) && strlist_add(&v->value, text, SIZE_MAX),
	    "a variable of %zu bytes is added", value);
}

static void
test_shown(void)
{
	json_t *json = json_pack("{s:s, s:i, s:s}", "branch", "a\"b\\\n\",\"event\":\"grant", "pr", 17, "na\"me\n", "\xe2\x80\xae");
	autobuf struct buf b = { 0 };
	struct instance_vars vars;
	json_t *back;
	int i;

	ok(instance_vars_of(json, &vars) && instance_vars_show(&vars, &b) == 0,
	    "variables are shown");
	back = json_loads(b.p, 0, NULL);
	ok(back != NULL && json_equal(json, back),
	    "they are shown as the JSON object from which they were read: %s", b.p);
	ok(strchr(b.p, '\n') == NULL, "they are shown on one line");
	json_decref(back);
	json_decref(json);
	instance_vars_free(&vars);
	b.len = 0;
	ok(instance_vars_show(&vars, &b) == 0, "no variables are shown");
	is_str(b.p, "{}", "no variables are shown as an empty object");

	b.len = 0;
	add_var(&vars, "branch", VARS_SHOWN_MAX - 2 - 11);
	ok(instance_vars_show(&vars, &b) == 0 && b.len <= VARS_SHOWN_MAX,
	    "a variable of the greatest length is shown: %zu", b.len);
	add_var(&vars, "pr", 4);
	b.len = 0;
	ok(instance_vars_show(&vars, &b) == 1,
	    "the longest variable is left out if there is a shorter one");
	is_str(b.p, "{\"pr\":\"xx\"}", "the shorter variable is shown although it comes later");
	for (i = 0; i < 200; i++)
		add_var(&vars, "pr", 20);
	b.len = 0;
	ok(instance_vars_show(&vars, &b) > 1 && b.len <= VARS_SHOWN_MAX &&
	    b.len > VARS_SHOWN_MAX - 30,
	    "many variables are truncated: %zu", b.len);
	back = json_loads(b.p, 0, NULL);
	ok(back != NULL, "the result is still valid JSON");
	json_decref(back);
	instance_vars_free(&vars);
}

int
main(void)
{
	test_round_trip();
	test_long();
	test_shown();
	return done_testing();
}
