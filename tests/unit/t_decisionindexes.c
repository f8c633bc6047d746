/*
 * gpuhelper-judge's verdict is read back as it was written; and what the helper accepts of it
 * (ask/decisionindexes.h).
 */
#include <stdio.h>

#include "gpu/gpufind.h"
#include "judge/decide.h"
#include "policy/policydecide.h"
#include "rnd.h"
#include "tap.h"
#include "decisionmodel.h"

static struct policy_set policies;
static uint64_t seed = 11;

static unsigned
one_of(unsigned n)
{
	return (unsigned)rnd(n);
}

#define TOKEN (&model_ids[0])
#define CALLER (&model_ids[1])
#define CLAIM (&model_ids[2])

/* The judge's answer to a request as bytes, or NULL if it refuses. The caller frees the bytes. */
static char *
said_of(const char *gpus, const char *folders, const struct identity *id, struct why *why)
{
	struct grant_query a = { .who = model_worker, .principal = { .id = *id }, .gpus = gpus, .folders = folders,
		.settings = model_settings, .policies = policies, .files = 1, .inventory = model_host };
	autobuf struct buf b = { 0 }, question = { 0 };
	struct lines t = { .out = &b }, requested = { .out = &question };
	struct grant_query heard = { .gpus = NULL };
	struct decision_indexes v = { .policy = 0 };
	char *said = NULL;

	grant_query_lines(&requested, &a);
	ok(lines_finish(&requested), "the question is written");
	requested = (struct lines){ .at = question.p, .end = question.p + question.len };
	grant_query_lines(&requested, &heard);
	if (ok(lines_finish(&requested), "  the question is read") && decide_grant(&heard, &v, why) == 0) {
		decision_indexes_lines(&t, &v);
		said = lines_finish(&t) ? buf_take(&b) : NULL;
	}
	grant_query_free(&heard);
	decision_indexes_free(&v);
	return said;
}

static void
test_truth(void)
{
	static const struct {
		const char *gpus, *folders;
		const struct identity *id;
		const char *said;
	} t[] = {
		{ "1", NULL, CALLER, "verdict 0\ngpus 0 1 2 0 1\nend\n" },
		{ "2", "none", CALLER, "verdict 0\ngpus 0 2 2 0 1\nend\n" },
		{ "amd:1", "/srv/data", CALLER, "verdict 0\ngpus 1 1 1 4\nfolder 0 no -\nend\n" },
		{ "0000:af:00.0", "/srv/out/x:rw", CALLER, "verdict 0\ngpus 0 1 1 1\nfolder 1 yes /srv/out/x\nend\n" },
		{ NULL, "/srv/out:ro,/srv/sets/a1", CLAIM, "verdict 0\nfolder 1 no -\nfolder 2 no /srv/sets/a1\nend\n" },
		{ NULL, "/srv/proven", TOKEN, "verdict 1\nfolder 0 yes -\nend\n" },
		{ NULL, NULL, CALLER, "verdict 0\ngpus 0 2 2 0 1\ngpus 1 1 1 4\nfolder 0 no -\nfolder 1 yes -\nfolder 2 no -\nend\n" },
	};
	struct why why = { 0 };
	struct decision d;
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		autofree char *said = said_of(t[i].gpus, t[i].folders, t[i].id, &why);

		is_str(said != NULL ? said : why.text, t[i].said,
		    "the judge's verdict on the request is the expected one");
		if (said == NULL)
			continue;
		ok(model_accept(said, strlen(said), &policies, t[i].id, &d, &why) &&
		    model_may_have(&d, t[i].id),
		    "  the verdict is accepted: %s", why.text);
		decision_free(&d);
	}
	ok(said_of(NULL, "/srv/late", CALLER, &why) == NULL &&
	    strstr(why.text, "is broken") != NULL,
	    "the judge gives no verdict beyond a broken policy");
	ok(said_of("none", "/srv/nowhere", CALLER, &why) == NULL && why.code == WHY_CONFIG,
	    "the judge gives no verdict for a folder that no policy before the broken one gives");
}

/* Devices in CDI specs that are no GPUs: the judge only passes them on to the user. */
static void
test_others(void)
{
	static const char other[] = "nvidia.com/gpu=all has nodes of several GPUs";
	struct grant_query a = { .who = model_worker, .principal = { .id = *CALLER }, .inventory = model_host },
	    heard = { .gpus = NULL };
	autobuf struct buf b = { 0 };
	struct lines t = { .out = &b };
	struct inventory copy = { 0 };
	struct why why;

	if (!ok(strlist_add(&a.inventory.cdi_others, other, SIZE_MAX), "a device that is no GPU is noted"))
		return;
	grant_query_lines(&t, &a);
	ok(lines_finish(&t), "  the question with it is written");
	t = (struct lines){ .at = b.p, .end = b.p + b.len };
	grant_query_lines(&t, &heard);
	ok(lines_finish(&t) && heard.inventory.cdi_others.n == 1 && strcmp(heard.inventory.cdi_others.v[0], other) == 0,
	    "  and read");
	ok(inventory_copy(&heard.inventory, GPUS_ALL, &copy, &why) == 0 && copy.cdi_others.n == 1 &&
	    copy.cdi_others.v[0] != heard.inventory.cdi_others.v[0], "  a copy of the inventory has its own");
	inventory_free(&copy);
	grant_query_free(&heard);
	strlist_free(&a.inventory.cdi_others);
}

/* Checks a correct verdict with another host or caller. */
static void
is_taken(const char *said, const struct judge_bounds *b, const char *why_not, const char *what)
{
	struct why why = { 0 };
	struct decision d;
	const bool taken = model_accept_within(said, strlen(said), b, &d, &why);

	ok(taken == (why_not == NULL) && (taken || strstr(why.text, why_not) != NULL), "%s%s%s", what, taken ? "" : ": ",
	    taken ? "" : why.text);
	decision_free(&d);
}

/* Limits that the helper knows itself, whatever the judge says. */
static void
test_bounds(void)
{
	static const char nvidia[] = "verdict 0\ngpus 0 1 2 0 1\nend\n", amd[] = "verdict 0\ngpus 1 1 1 4\nend\n";
	const struct client rootless = { 1000, "worker", true, false }, stranger = { 1001, "stranger", true, true };
	const struct settings lax = { .max_wait = 60, .unenforced = true }, several = { .several_issuers = true };
	struct judge_bounds b = { &model_worker, CALLER, &model_settings, &policies, &model_host, GPUS_ALL, NULL, NULL,
		false };
	const struct policy_set few = { policies.v, 4 };
	struct inventory faulty = model_host;

	is_taken(nvidia, &b, NULL, "two GPUs to choose from");
	b.cuda_visible = "0";
	is_taken(nvidia, &b, "outside the worker's bound",
	    "two GPUs to choose from, of which the worker has one");
	is_taken("verdict 0\ngpus 0 1 1 0\nend\n", &b, NULL, "the GPU that the worker has");
	b.cuda_visible = "";
	is_taken("verdict 0\ngpus 0 1 1 0\nend\n", &b, "outside the worker's bound",
	    "a GPU for a worker that has no NVIDIA GPU");
	is_taken(amd, &b, NULL, "an AMD GPU for a worker whose AMD GPUs are not bound");
	b.cuda_visible = "?";
	is_taken(nvidia, &b, "neither a number nor a whole UUID", "a malformed bound");
	b.cuda_visible = NULL;
	b.vendors = 0;
	is_taken(nvidia, &b, "GPUs of a vendor that was not looked for",
	    "a GPU of a host that was not looked at");
	is_taken("verdict 0\nfolder 0 no -\nend\n", &b, NULL,
	    "a folder of a host that was not looked at");
	b.vendors = 1U << GPU_NVIDIA;
	is_taken(amd, &b, "GPUs of a vendor that was not looked for",
	    "a GPU of a vendor that was not looked for");
	b.vendors = GPUS_ALL;
	refuse(&faulty.fault[GPU_AMD], WHY_IO, "amdkfd is broken");
	b.inventory = &faulty;
	is_taken(amd, &b, "amdkfd is broken", "a GPU of a vendor with a fault");
	b.inventory = &model_host;
	b.who = &rootless;
	is_taken(nvidia, &b, "without a device cgroup", "an exclusive GPU without a device cgroup");
	is_taken(amd, &b, "gives every AMD GPU or none",
	    "one of several AMD GPUs without a device cgroup");
	b.id = TOKEN;
	is_taken("verdict 1\nfolder 0 yes -\nend\n", &b, NULL, "a policy that names no issuer, of the only one");
	b.privileged = true;
	is_taken("verdict 1\nfolder 0 yes -\nend\n", &b, NULL, "a privileged container, by a policy that allows it");
	is_taken("verdict 0\nfolder 0 no -\nend\n", &b, "it does not say privileged = true", "one by a policy that does not");
	b.privileged = false;
	b.settings = &several;
	is_taken("verdict 1\nfolder 0 yes -\nend\n", &b, "several issuers", "a policy that names no issuer, of several");
	b.id = CALLER;
	b.settings = &lax;
	is_taken(nvidia, &b, NULL, "an exclusive GPU without a device cgroup, if root allows it");
	b.policies = &few;
	is_taken("verdict 4\nend\n", &b, "no such policy", "a policy beyond the last");
	b.policies = &policies;
	b.who = &stranger;
	is_taken(nvidia, &b, "is not among its callers", "a policy that does not name the user");
}

/* False verdicts from a judge that a request has taken over. The last case is a control. */
static void
test_lies(void)
{
	static const struct {
		const char *said, *what;
		const struct identity *id;
		const char *why;	/* NULL: it is not parsed as a verdict */
	} t[] = {
		{ "verdict 2\nfolder 0 no -\nend\n",
		    "another user's policy", CALLER, "not among its callers" },
		{ "verdict 1\nfolder 0 yes -\nend\n",
		    "a policy that requires a token, without a token", CALLER,
		    "the container has none" },
		{ "verdict 1\nfolder 0 yes -\nend\n",
		    "a policy that requires a token, with a claim", CLAIM, "a claim is not one" },
		{ "verdict 3\nfolder 0 no -\nend\n",
		    "a policy for another issuer's tokens", TOKEN, "it accepts only tokens of issuer" },
		{ "verdict 4\nend\n", "a broken policy", CALLER, "it passes over a broken policy" },
		{ "verdict 5\nfolder 0 no -\nend\n",
		    "a policy after a broken one", CALLER, "it passes over a broken policy" },
		{ "verdict 6\nend\n",
		    "a policy that does not exist", CALLER, "it passes over a broken policy" },
		{ "verdict 4294967295\nend\n",
		    "the greatest number as a policy", CALLER, "it passes over a broken policy" },
		{ "verdict 0\ngpus 2 1 1 0\nend\n",
		    "a rule that does not exist", CALLER, "GPUs by a rule that does not exist" },
		{ "verdict 0\ngpus 0 1 1 2\nend\n",
		    "a GPU that the rule does not name", CALLER,
		    "a GPU that the rule does not give" },
		{ "verdict 0\ngpus 0 1 1 3\nend\n",
		    "an unusable GPU", CALLER, "a GPU that the rule does not give" },
		{ "verdict 0\ngpus 0 1 1 4\nend\n",
		    "another vendor's GPU", CALLER, "a GPU that the rule does not give" },
		{ "verdict 0\ngpus 1 1 1 5\nend\n",
		    "an integrated GPU", CALLER, "a GPU that the rule does not give" },
		{ "verdict 0\ngpus 0 1 1 6\nend\n",
		    "a GPU that does not exist", CALLER,
		    "a GPU that does not exist, or one twice" },
		{ "verdict 0\ngpus 0 1 1 4294967295\nend\n",
		    "the greatest number as a GPU", CALLER, "a GPU that does not exist" },
		{ "verdict 0\ngpus 0 3 2 0 1\nend\n",
		    "more GPUs than the rule's count", CALLER, "more or fewer GPUs" },
		{ "verdict 0\ngpus 0 2 2 0 1\ngpus 0 1 1 0\nend\n",
		    "more GPUs than the rule's count, in two parts", CALLER, "more or fewer GPUs" },
		{ "verdict 0\ngpus 0 4294967295 2 0 1\nend\n",
		    "a count that overflows", CALLER, "more or fewer GPUs" },
		{ "verdict 0\ngpus 0 2 2 0 1\ngpus 0 4294967295 1 0\nend\n",
		    "counts whose sum overflows", CALLER, "more or fewer GPUs" },
		{ "verdict 0\ngpus 0 2 1 0\nend\n",
		    "a higher count than candidates", CALLER, "more or fewer GPUs" },
		{ "verdict 0\ngpus 0 2 2 0 0\nend\n",
		    "a candidate that is named twice", CALLER,
		    "a GPU that does not exist, or one twice" },
		{ "verdict 0\ngpus 0 0 1 0\nend\n", "a count of 0", CALLER, "more or fewer GPUs" },
		{ "verdict 0\ngpus 0 1 65 0\nend\n", "too many candidates", CALLER, NULL },
		{ "verdict 0\nfolder 3 no -\nend\n",
		    "a folder rule that does not exist", CALLER,
		    "a folder by a rule that does not exist" },
		{ "verdict 0\nfolder 0 yes -\nend\n",
		    "rw for a folder that the rule gives read-only", CALLER, "rw for a folder" },
		{ "verdict 0\nfolder 0 no /srv/data/x\nend\n",
		    "a folder beneath one without subfolders", CALLER,
		    "a folder that the rule does not give" },
		{ "verdict 0\nfolder 0 no /srv\nend\n",
		    "a folder above the rule's", CALLER, "a folder that the rule does not give" },
		{ "verdict 0\nfolder 1 yes /srv/out/../other\nend\n",
		    "a path that leads out of the rule's folder", CALLER,
		    "a folder that the rule does not give" },
		{ "verdict 0\nfolder 1 yes /srv/out/..\nend\n",
		    "a path that leads up from the rule's folder", CALLER,
		    "a folder that the rule does not give" },
		{ "verdict 0\nfolder 1 yes /srv/out//x\nend\n",
		    "another spelling of the path", CALLER,
		    "a folder that the rule does not give" },
		{ "verdict 0\nfolder 1 yes /srv/outside\nend\n",
		    "a folder whose name only begins like the rule's", CALLER,
		    "a folder that the rule does not give" },
		{ "verdict 0\nfolder 1 yes /srv/out/*\nend\n",
		    "a pattern that the judge made", CALLER,
		    "a folder that the rule does not give" },
		{ "verdict 0\nfolder 2 no /srv/sets/*\nend\n",
		    "a wider pattern than the rule's", CALLER,
		    "a folder that the rule does not give" },
		{ "verdict 0\nfolder 2 no /srv/sets/a/b\nend\n",
		    "a folder beneath one that matches the pattern", CALLER,
		    "a folder that the rule does not give" },
		{ "verdict 0\nfolder 2 no /srv/sets/b\nend\n",
		    "a folder that does not match the pattern", CALLER,
		    "a folder that the rule does not give" },
		{ "verdict 0\nfolder 1 no relative\nend\n",
		    "a relative path", CALLER, "a folder that the rule does not give" },
		{ "verdict 0\nfolder 1 no /etc/shadow\nend\n",
		    "another file", CALLER, "a folder that the rule does not give" },
		{ "verdict 0\n", "no end", CALLER, NULL },
		{ "verdict 0\nend\nend\n", "two ends", CALLER, NULL },
		{ "verdict 0\nfolder 1 no -\ngpus 0 1 1 0\nend\n", "another order", CALLER, NULL },
		{ "verdict -1\nend\n", "a negative number", CALLER, NULL },
		{ "verdict 00\nend\n", "a number with a leading zero", CALLER, NULL },
	};
	struct why why;
	struct decision d;
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		ok(!model_accept(t[i].said, strlen(t[i].said), &policies, t[i].id, &d, &why) && d.verdict != VERDICT_GRANT &&
		    strstr(why.text, t[i].why != NULL ? t[i].why : "no verdict") != NULL,
		    "this verdict is refused: %s: %s", t[i].what, why.text);
		decision_free(&d);
	}
	ok(model_accept("verdict 0\nend\n", 14, &policies, CALLER, &d, &why),
	    "control: a verdict that gives nothing of a policy is accepted");
	decision_free(&d);
}

/* Verdicts with random numbers and words: an accepted verdict gives no more than the policies. */
static void
test_random(void)
{
	static const char *const words[] = { "0", "1", "2", "3", "4", "5", "-", "yes", "no", "/srv/out", "/srv/out/a", "/srv/data",
		"/srv/sets/a*", "/srv/sets/ab", "/srv/proven", "/srv/late", "/srv/out/../late", "\ngpus", "\nfolder", "\nend" };
	size_t taken = 0, wrong = 0, i;
	struct why why;
	unsigned n;

	for (n = 0; n < 200000; n++) {
		const struct identity *id = &model_ids[rnd(IDENTITY_KINDS)];
		char text[400];
		size_t len = (size_t)snprintf(text, sizeof(text), "verdict %u", one_of(8) == 0 ? one_of(7) : one_of(2));
		struct decision d;
		unsigned lines = one_of(4);

		for (i = 0; i < lines; i++)
			len += (size_t)(one_of(2) == 0 ?
			    snprintf(text + len, sizeof(text) - len, "\ngpus %u %u %u %u", one_of(3), one_of(3), 1U, one_of(7)) :
			    snprintf(text + len, sizeof(text) - len, "\nfolder %u %s %s", one_of(4), words[7 + one_of(2)], words[6 + one_of(11)]));
		if (one_of(20) == 0)
			len += (size_t)snprintf(text + len, sizeof(text) - len, " %s", words[one_of(20)]);
		len += (size_t)snprintf(text + len, sizeof(text) - len, "\nend\n");
		if (model_accept(text, len, &policies, id, &d, &why)) {
			taken++;
			if (!model_may_have(&d, id)) {
				printf("# taken: %s\n", text);
				wrong++;
			}
		}
		decision_free(&d);
	}
	ok(taken > 1000 && wrong == 0,
	    "of %u verdicts %zu are accepted, and %zu of these give too much", n, taken, wrong);
}

int
main(void)
{
	if (!ok(model_policies(&policies), "the policies are parsed"))
		return done_testing();
	test_truth();
	test_others();
	test_bounds();
	test_lies();
	test_random();
	policy_set_free(&policies);
	return done_testing();
}
