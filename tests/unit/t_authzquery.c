/*
 * What the helper asks gpuhelper-engine about a request, and the answer, are read back as they were written; and which
 * answers the helper accepts (ask/authzquery.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/authzquery.h"
#include "ask/enginequeryread.h"
#include "base/cleanup.h"
#include "rnd.h"
#include "tap.h"

#define GPUS 3
#define ONCE "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static const char bytes[] = "any\0bytes\nend\n";
static struct issuer_setting issuers[2];
static const struct settings settings = { .max_wait = 60, .issuer = issuers, .issuers = 2 };
static const struct client worker = { 1000, "ci", true, true };
static const struct authz_query ask = { .who = { 1000, "ci", true, true }, .now = 1790000000 };

/* Questions. */

static void
make_ask(struct authz_query *a)
{
	static char jwks[] = "{ }", token[] = "a.b.c", gpus[] = "", folders[] = "/srv/a b", visible[] = "0,1";
	static struct found_keys keys[2] = { { .text = jwks, .fetched = 5 }, { .why = { WHY_CONFIG, "none" } } };

	*a = (struct authz_query){ .who = worker, .untrusted = { .token = token, .gpus = gpus, .folders = folders,
		.rocr_visible = visible }, .is_run = true, .now = 1790000000, .keys = keys, .issuers = 2 };
}

static void
test_question(void)
{
	struct authz_query a, back;
	size_t size, len, i, good = 0;
	autofree char *packed = NULL, *other = NULL;
	const char *read = NULL;

	make_ask(&a);
	packed = authz_query_pack(&a, bytes, sizeof(bytes), &size);
	ok(authz_query_unpack(packed, size, &back, &read, &len) && strcmp(back.untrusted.token, "a.b.c") == 0 &&
	    strcmp(back.untrusted.gpus, "") == 0 && strcmp(back.untrusted.folders, "/srv/a b") == 0 &&
	    back.untrusted.team == NULL && back.untrusted.cuda_visible == NULL &&
	    strcmp(back.untrusted.rocr_visible, "0,1") == 0, "a request's words are read back");
	ok(back.who.uid == 1000 && strcmp(back.who.user, "ci") == 0 && back.who.member && back.who.rootful && back.is_run &&
	    !back.privileged && back.packed_attribution == NULL && back.now == 1790000000 && back.issuers == 2 &&
	    strcmp(back.keys[0].text, "{ }") == 0 && back.keys[1].text == NULL && back.keys[1].why.code == WHY_CONFIG,
	    "  so are who asks, and the keys");
	ok(len == sizeof(bytes) && memcmp(read, bytes, len) == 0, "  and gpuhelper-read's bytes");
	authz_query_free(&back);
	for (i = 0; i < size - sizeof(bytes); i++) {
		good += authz_query_unpack(packed, i, &back, &read, &len);
		authz_query_free(&back);
	}
	is_int((long long)good, 0, "  no question is accepted that ends before these");
	other = malloc(size);
	memcpy(other, packed, size);
	*(char *)memmem(other, size, GPUHELPER_VERSION, strlen(GPUHELPER_VERSION)) = '9';
	ok(!authz_query_unpack(other, size, &back, &read, &len), "  nor one of another version");
	authz_query_free(&back);
}

/* Answers. */

/* The judge's report. */
static struct gpu gpus[GPUS];
static const struct inventory report = { .gpu = gpus, .gpus = GPUS };

static void
make_report(void)
{
	unsigned i;

	for (i = 0; i < GPUS; i++) {
		gpus[i] = (struct gpu){ .node = { { "/dev/nvidiaX", 195, i, .needed_for = 0 } }, .nodes = 1, .place = i };
		gpus[i].node[0].path[11] = (char)('0' + i);
		snprintf(gpus[i].pci, sizeof(gpus[i].pci), "0000:%02x:00.0", i + 1);
	}
}

/* The arrays of an answer that is written; freed with it. */
static void
make_answer(struct authz_answer *a)
{
	struct gpu_grant *want = calloc(2, sizeof(*want));
	struct granted_folder *folder = calloc(2, sizeof(*folder));
	unsigned i;

	*a = (struct authz_answer){ .policies = ANSWER_FIT, .specs = ANSWER_UNFIT, .identified = true, .judged = true,
		.whose = { .kind = IDENTITY_CLAIM, .team = strdup("ml"), .pipeline = strdup("train"), .identity = strdup("a\nend\n"),
		    .vars = strdup("{\"branch\":\"main\"}"), .vars_left_out = 3 },
		.policy = { .name = strdup("10-ml.conf"), .gpu = calloc(2, sizeof(struct gpu_rule)), .gpus = 2,
		    .folder = calloc(2, sizeof(struct folder_rule)), .folders = 2, .max_gpus = 3, .priority = 5,
		    .selinux_level = strdup("auto") },
		.host = &report, .grant = { .gpu = want, .gpus = 2, .wait = 9 },
		.folder = folder, .folders = 2 };
	(void)strlist_add(&a->policy.env, "A=b", SIZE_MAX);
	for (i = 0; i < 2; i++)
		a->policy.gpu[i] = (struct gpu_rule){ .has_vendor = true, .count = i + 1, .wait = 9, .capabilities = GPU_CAP_UTILITY };
	a->policy.folder[0] = (struct folder_rule){ .path = strdup("/srv/data"), .subfolders = true };
	a->policy.folder[1] = (struct folder_rule){ .path = strdup("/srv/out"), .writable = true };
	want[0] = (struct gpu_grant){ .rule = &a->policy.gpu[1], .count = 2, .n = 2 };
	want[0].candidate[0] = &gpus[2];
	want[0].candidate[1] = &gpus[0];
	want[1] = (struct gpu_grant){ .rule = &a->policy.gpu[0], .count = 1, .n = 1 };
	want[1].candidate[0] = &gpus[1];
	folder[0] = (struct granted_folder){ .rule = 0, .path = strdup("/srv/data/x") };
	folder[1] = (struct granted_folder){ .rule = 1, .writable = true };
	a->writers = (struct policy_set){ calloc(1, sizeof(*a->writers.v)), 1 };
	a->writers.v[0].policy.name = strdup("20-x.conf");
	a->writers.v[0].broken = strdup("is broken");
}

static char *
answer_text(struct authz_answer *a, size_t *len)
{
	autobuf struct buf b = { 0 };
	struct lines t = { .out = &b };

	authz_answer_lines(&t, a);
	if (!lines_finish(&t))
		return NULL;
	*len = b.len;
	return buf_take(&b);
}

static bool
answer_taken(const char *text, size_t len, struct authz_answer *a)
{
	struct lines t = { .at = text, .end = text + len };

	*a = (struct authz_answer){ .host = &report };
	authz_answer_lines(&t, a);
	return lines_finish(&t);
}

static void
test_answer(void)
{
	struct authz_answer a, back;
	size_t len, i, good = 0;
	autofree char *text = NULL;
	struct why why = { 0 };

	make_answer(&a);
	text = answer_text(&a, &len);
	authz_answer_free(&a);
	ok(answer_taken(text, len, &back) && authz_answer_accept(&back, &ask, &settings, &why) == 0, "an answer is accepted %s",
	    why.text);
	ok(back.policies == ANSWER_FIT && back.specs == ANSWER_UNFIT && back.identified && back.judged && !back.has_token &&
	    back.whose.kind == IDENTITY_CLAIM && strcmp(back.whose.pipeline, "train") == 0 && back.whose.job == NULL &&
	    strcmp(back.whose.identity, "a\nend\n") == 0 && strcmp(back.whose.vars, "{\"branch\":\"main\"}") == 0 &&
	    back.whose.vars_left_out == 3, "  with the pipeline");
	ok(strcmp(back.policy.name, "10-ml.conf") == 0 && back.policy.max_gpus == 3 && strcmp(back.policy.env.v[0], "A=b") == 0 &&
	    strcmp(back.policy.selinux_level, "auto") == 0 && strcmp(back.writers.v[0].broken, "is broken") == 0,
	    "  the policy");
	ok(back.grant.gpus == 2 && back.grant.wait == 9 && back.grant.gpu[0].rule == &back.policy.gpu[1] &&
	    back.grant.gpu[0].n == 2 && back.grant.gpu[0].candidate[0] == &gpus[2] &&
	    back.grant.gpu[1].candidate[0] == &gpus[1], "  the GPUs");
	ok(back.grant.folders == 2 && strcmp(back.grant.folder[0].path, "/srv/data/x") == 0 && !back.grant.folder[0].writable &&
	    strcmp(back.grant.folder[0].base, "/srv/data") == 0 && strcmp(back.grant.folder[1].target, "/srv/out") == 0 &&
	    back.grant.folder[1].writable, "  and the folders");
	authz_answer_free(&back);
	for (i = 0; i < len; i++) {
		good += answer_taken(text, i, &back);
		authz_answer_free(&back);
	}
	is_int((long long)good, 0, "no truncated answer is accepted");
}

static void
test_others(void)
{
	struct authz_answer a = { .searched = true }, back;
	autofree char *no = NULL, *token = NULL;
	size_t len;

	refuse(&a.why, WHY_DENIED, "no policy covers it");
	a.whose.kind = IDENTITY_CALLER;
	no = answer_text(&a, &len);
	ok(answer_taken(no, len, &back) && back.why.code == WHY_DENIED && strcmp(back.why.text, "no policy covers it") == 0 &&
	    back.searched && back.policy.name == NULL, "a refusal is read back");
	authz_answer_free(&back);
	a.has_token = a.identified = true;
	a.issuer = 1;
	a.whose = (struct attribution){ .kind = IDENTITY_TOKEN, .team = strdup("t"), .pipeline = strdup("p"), .exp = 2, .once = ONCE };
	token = answer_text(&a, &len);
	ok(answer_taken(token, len, &back) && back.has_token && back.issuer == 1 &&
	    back.whose.kind == IDENTITY_TOKEN && back.whose.exp == 2 && strcmp(back.whose.once, ONCE) == 0,
	    "  so is one of a valid token");
	authz_answer_free(&back);
	authz_answer_free(&a);
}

struct lie {
	const char *from, *to, *what;
};

static void
test_lies(void)
{
	static const struct lie lies[] = {
		{ "authz " GPUHELPER_VERSION, "authz 9", "another version" },
		{ "policy 10-ml.conf", "policy -", "a policy without a name" },
		{ "policy 10-ml.conf", "policy %FF", "a policy whose name is not UTF-8" },
		{ "quota 3", "quota 9999", "more GPUs than any quota" },
		{ "env A=b", "env A", "a variable without =" },
		{ "env A=b", "env GPUHELPER_GPUS=all", "a variable of gpuhelper's" },
		{ "env A=b", "env A=%FF", "a variable that is not UTF-8" },
		{ "- auto", "- s0:c1,c2,c3,x", "a level that is none" },
		{ "/srv/data no", "/proc no", "a rule for /proc" },
		{ "/srv/data no", "/ no", "a rule for /" },
		{ "no /srv/data/x", "no /srv/other", "a folder outside of its rule" },
		{ "no /srv/data/x", "no /srv/data/../x", "a folder whose path is not clean" },
		{ "no /srv/data/x", "no /srv/data/*", "a pattern as a folder beneath a rule's" },
		{ "no /srv/data/x", "yes /srv/data/x", "a folder for writing that its rule gives for reading" },
		{ "given 0 ", "given 2 ", "a folder by a rule that does not exist" },
		{ "want 1 2 2 2 0", "want 2 2 2 2 0", "GPUs by a rule that does not exist" },
		{ "want 1 2 2 2 0", "want 1 0 2 2 0", "no GPU" },
		{ "want 1 2 2 2 0", "want 1 3 2 2 0", "more GPUs than candidates" },
		{ "want 1 2 2 2 0", "want 0 2 2 2 0", "more GPUs than the rule gives" },
		{ "want 1 2 2 2 0", "want 1 2 2 3 0", "a GPU that does not exist" },
		{ "want 1 2 2 2 0", "want 1 2 2 4294967295 0", "a GPU far beyond the report" },
		{ "want 1 2 2 2 0", "want 1 2 65 2 0", "more candidates than may be" },
		{ "grant 9", "grant 61", "a wait of more than max_wait" },
	};
	struct authz_answer a, back;
	size_t len, i;
	autofree char *text = NULL;
	struct why why = { 0 };

	make_answer(&a);
	text = answer_text(&a, &len);
	authz_answer_free(&a);
	for (i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		const char *at = strstr(text, lies[i].from);
		autobuf struct buf evil = { 0 };

		if (at == NULL) {
			ok(false, "«%s» is found in the answer: %s", lies[i].from, text);
			continue;
		}
		buf_add(&evil, text, (size_t)(at - text));
		buf_puts(&evil, lies[i].to);
		buf_puts(&evil, at + strlen(lies[i].from));
		ok(!answer_taken(evil.p, evil.len, &back) || (authz_answer_accept(&back, &ask, &settings, &why) == -1 &&
		    why.code == WHY_BUG), "refused: %s", lies[i].what);
		authz_answer_free(&back);
	}
	back = (struct authz_answer){ .has_token = true, .issuer = 2, .host = &report,
	    .whose = { .kind = IDENTITY_TOKEN, .exp = INT64_MAX, .once = ONCE } };
	ok(authz_answer_accept(&back, &ask, &settings, &why) == -1 && strstr(why.text, "proof") != NULL,
	    "refused: an issuer that is not in gpuhelper.conf");
}

/* A proof that there is not, GPUs that can't be held, or that can't be used, are refused. */
static void
test_checks(void)
{
	static char token[] = "a.b.c";
	const struct authz_query with_token = { .who = worker, .untrusted.token = token, .now = 1790000000 };
	const struct authz_query of_lease = { .who = worker, .packed_attribution = token, .now = 1790000000 };
	const struct authz_query rootless = { .who = { 1000, "ci", true, false }, .now = 1790000000 };
	const struct inventory unknown = { .gpu = gpus, .gpus = GPUS, .fault[GPU_NVIDIA] = { WHY_BUG, "no GPU's node" } };
	struct settings unenforced = settings;
	struct authz_answer a;
	struct why why = { 0 };
	unsigned i;

	unenforced.unenforced = true;
	for (i = 0; i < 10; i++) {
		static const char *const what[] = { "a token's identity without a token is refused", "  a lease may remember it",
			"  a token that the request does not have is refused", "  so is one without what identifies it",
			"  so is an expired one", "  a valid one is accepted", "an exclusive GPU for a rootless caller is refused",
			"  where nothing must enforce it, it is accepted", "a GPU that can't be used is refused",
			"  so is one of a vendor whose GPUs are not known" };
		static const bool good[] = { false, true, false, false, false, true, false, true, false, false };
		const struct authz_query *asked = i == 1 ? &of_lease : i >= 3 && i <= 5 ? &with_token : i == 6 ||
		    i == 7 ? &rootless : &ask;

		make_answer(&a);
		if (i <= 5)
			a.whose.kind = IDENTITY_TOKEN;
		if (i >= 2 && i <= 5) {
			a.has_token = true;
			a.whose.exp = i == 4 ? 1 : 1790000001;
			memcpy(a.whose.once, ONCE, sizeof(ONCE));
		}
		if (i == 3)
			a.whose.once[0] = '\0';
		if (i == 8)
			snprintf(gpus[2].unusable, sizeof(gpus[2].unusable), "broken");
		if (i == 9)
			a.host = &unknown;
		ok((authz_answer_accept(&a, asked, i == 7 ? &unenforced : &settings, &why) == 0) == good[i], "%s", what[i]);
		authz_answer_free(&a);
		make_report();
	}
	make_answer(&a);
	a.grant.gpu[1].rule = a.grant.gpu[0].rule;
	ok(authz_answer_accept(&a, &ask, &settings, &why) == -1 && why.code == WHY_BUG, "two wants of one rule exceed what it gives");
	authz_answer_free(&a);
}

/* Each byte is changed to some others: the answer is refused, or is written back unchanged. */
static void
test_flipped(void)
{
	struct authz_answer a, back;
	size_t len, i, again_len, same = 0, taken = 0;
	autofree char *text = NULL, *evil = NULL;
	struct why why;

	make_answer(&a);
	text = answer_text(&a, &len);
	authz_answer_free(&a);
	evil = malloc(len + 1);
	for (i = 0; i < 40 * len; i++) {
		memcpy(evil, text, len + 1);
		evil[i % len] = (char)rnd(256);
		if (answer_taken(evil, len, &back)) {
			autofree char *again = answer_text(&back, &again_len);

			taken++;
			same += again != NULL && again_len == len && memcmp(again, evil, len) == 0;
			if (back.why.code == WHY_NONE)
				(void)authz_answer_accept(&back, &ask, &settings, &why);
		}
		authz_answer_free(&back);
	}
	ok(taken > 100 && same == taken, "of %zu answers with a changed byte, %zu are accepted, each written back unchanged",
	    40 * len, taken);
}

int
main(void)
{
	make_report();
	test_question();
	test_answer();
	test_others();
	test_lies();
	test_checks();
	test_flipped();
	return done_testing();
}
