/* host/identity.c: what of an identity is remembered, and comes back. */
#include <stdlib.h>

#include "host/identity.h"
#include "pure/edits.h"
#include "tap.h"

static void
test_round_trip(void)
{
	struct identity id = { .kind = IDENTITY_TOKEN, .team = "ml", .pipeline = "train \"x\"", .job = "fit", .issuer = "https://ci" };
	struct known back;
	char *text;

	id.instance_vars = json_pack("{s:[i,s]}", "a", 1, "b\n");
	text = identity_pack(&id);
	ok(text != NULL && identity_unpack(text, &back), "there and back");
	ok(back.id.kind == IDENTITY_TOKEN && strcmp(back.id.team, "ml") == 0 && strcmp(back.id.pipeline, "train \"x\"") == 0 &&
	    strcmp(back.id.job, "fit") == 0 && strcmp(back.id.issuer, "https://ci") == 0 &&
	    json_equal(back.id.instance_vars, id.instance_vars), "the same");
	known_free(&back);
	free(text);
	json_decref((json_t *)(uintptr_t)id.instance_vars);
	ok(!identity_unpack("{}", &back) && !identity_unpack("", &back) && !identity_unpack("{\"kind\":\"king\"}", &back),
	    "what it would not have made is none");
}

/* A reply is made after it, with the same watch on memory. */
static void
test_long(void)
{
	struct identity id = { .kind = IDENTITY_CLAIM, .team = "ml", .pipeline = "train" };
	const struct reply reply = { .kind = REPLY_NOTED };
	char vars[IDENTITY_VARS_MAX + 1], *text;

	memset(vars, 'x', sizeof(vars));
	vars[sizeof(vars) - 1] = '\0';
	id.instance_vars = json_pack("{s:s}", "a", vars);
	ok(identity_pack(&id) == NULL && identity_pack(&id) == NULL, "vars that are too long are not remembered");
	text = reply_encode(&reply);
	is_str(text, "{\"reply\":\"noted\"}", "and nothing else comes of it");
	free(text);
	json_decref((json_t *)(uintptr_t)id.instance_vars);
}

int
main(void)
{
	test_round_trip();
	test_long();
	return done_testing();
}
