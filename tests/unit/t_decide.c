/* judge/decide.c: a policy without a verdict ends the search, so that no later one grants what the administrator did not mean. */
#include "judge/decide.h"
#include "policy/policydecide.h"
#include "read/conf/policyread.h"
#include "tap.h"

#define GPUS "gpus = ( { vendor = \"nvidia\"; } );"
#define FOLDER " folders = ( { path = \"/srv/x\"; } );"

static const struct client root = { 0, "root", true, true };
static const struct identity token = { IDENTITY_TOKEN, "ml", "train", "fit", NULL, "https://ci", NULL };
static const struct settings settings = { .max_wait = 60 };

static enum verdict_kind
verdict_of(const char *first, const char *second, const char *gpus, const char *folders, const struct why *blind,
    struct decision *d)
{
	const char *const text[] = { first, second };
	struct policy_entry entry[2] = { { .broken = NULL }, { .broken = NULL } };
	struct policy_set set = { entry, second != NULL ? 2 : 1 };
	autofaults struct faults f = { 0 };
	autorequested struct requested requested = { 0 };
	const struct inventory none = { 0 };
	const struct question q = { .who = &root, .id = &token, .requested = &requested, .settings = &settings, .policies = &set,
	    .files = set.n, .host = &none, .gpus_unknown = blind };
	struct why why = { 0 };
	enum verdict_kind v;
	size_t i;

	for (i = 0; i < set.n; i++)
		if (!policy_parse(i == 0 ? "10-first.conf" : "20-second.conf", text[i], strlen(text[i]), &entry[i].policy, &f))
			ok(false, "the policy parses: %s", f.n > 0 ? f.v[0].text : "");
	if (requested_parse(gpus, folders, &requested, &why) == -1)
		ok(false, "the question parses: %s", why.text);
	decide(&q, d, NULL, NULL);
	v = d->verdict;
	for (i = 0; i < set.n; i++)
		policy_free(&entry[i].policy);
	return v;
}

/* Why nothing covers this container; the command of the message must be safe in a shell. */
static void
refusal_is(const struct client *who, const struct identity *id, bool several, const char *policy, const char *text,
    const char *what)
{
	const struct settings both = { .max_wait = 60, .several_issuers = several };
	struct policy_entry entry = { .broken = NULL };
	const struct policy_set set = { &entry, 1 };
	autofaults struct faults f = { 0 };
	autorequested struct requested requested = { 0 };
	const struct inventory none = { 0 };
	const struct why sees = { 0 };
	const struct question q = { .who = who, .id = id, .requested = &requested, .settings = &both, .policies = &set,
		.files = 1, .host = &none, .gpus_unknown = &sees };
	struct why ignored;
	struct decision d;

	if (requested_parse("1", NULL, &requested, &ignored) == -1 || !policy_parse("10-a.conf", policy, strlen(policy), &entry.policy, &f))
		ok(false, "the policy parses: %s", f.n > 0 ? f.v[0].text : "");
	decide(&q, &d, NULL, NULL);
	is_str(d.why.text, text, "%s", what);
	decision_free(&d);
	policy_free(&entry.policy);
}

static void
test_refusals(void)
{
	static const struct client worker = { 1000, "worker", true, true }, nameless = { 1001, NULL, true, true };
	static const struct identity claim = { .kind = IDENTITY_CLAIM, .team = "ml", .pipeline = "train", .job = "fit" },
	    caller = { .kind = IDENTITY_CALLER }, evil = { .kind = IDENTITY_CLAIM, .team = "ml", .pipeline = "$(reboot)" },
	    option = { .kind = IDENTITY_CLAIM, .team = "-x", .pipeline = "train" },
	    evil_job = { .kind = IDENTITY_TOKEN, .team = "ml", .pipeline = "train", .job = "a;b" };
	static const char other[] = "pipeline = \"a/b\";" FOLDER,
	    eval[] = "pipeline = \"ml/train\"; jobs = [ \"eval\" ];" FOLDER;
	char name[101], longest[400];
	struct identity named = claim;

	refusal_is(&root, &claim, false, other, "no policy covers pipeline ml/train (by claim) for user root: see "
	    "gpuhelperctl explain --pipeline ml/train --identity claim --gpus all", "a claim");
	refusal_is(&worker, &token, false, other, "no policy covers pipeline ml/train (by token) for user worker: see "
	    "gpuhelperctl explain --pipeline ml/train --identity token --gpus all --user worker",
	    "a token, at another user's");
	refusal_is(&nameless, &token, true, other, "no policy covers pipeline ml/train (by token) for user (without a name): "
	    "see gpuhelperctl explain --pipeline ml/train --identity token --gpus all --issuer https://ci --user 1001",
	    "one of several issuers, at a user's without a name");
	refusal_is(&root, &token, false, eval, "no policy covers this job of pipeline ml/train (by token) for user root: see "
	    "gpuhelperctl explain --pipeline ml/train --identity token --gpus all --job fit", "another job");
	refusal_is(&root, &caller, false, other, "no policy covers a container of user root that proves no pipeline: pass "
	    "GPUHELPER_TOKEN, or see gpuhelperctl explain --identity caller --gpus all", "no pipeline");
	refusal_is(&root, &evil, false, other, "no policy covers pipeline ml/\"$(reboot)\" (by claim) for user root: see "
	    "gpuhelperctl explain --pipeline TEAM/PIPELINE --identity claim --gpus all",
	    "a name that a shell would not take as it is");
	refusal_is(&root, &option, false, other, "no policy covers pipeline -x/train (by claim) for user root: see "
	    "gpuhelperctl explain --pipeline TEAM/PIPELINE --identity claim --gpus all", "a name that looks like an option");
	refusal_is(&root, &evil_job, false, eval, "no policy covers this job of pipeline ml/train (by token) for user root: "
	    "see gpuhelperctl explain --pipeline ml/train --identity token --gpus all --job JOB", "such a job");
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	named.pipeline = name;
	snprintf(longest, sizeof(longest), "no policy covers pipeline ml/%s (by claim) for user root: see gpuhelperctl "
	    "explain --pipeline TEAM/PIPELINE --identity claim --gpus all", name);
	refusal_is(&root, &named, false, other, longest, "a long name stands in the line once");
}

int
main(void)
{
	static const char with[] = "pipeline = \"ml/train\"; " GPUS FOLDER, without[] = "pipeline = \"ml/train\";" FOLDER,
	    other[] = "pipeline = \"ml/other\"; " GPUS FOLDER;
	struct why blind = { 0 }, sees = { 0 };
	struct decision d;

	/* a broken CDI spec, say: the reason need not be an I/O error */
	refuse(&blind, WHY_CONFIG, "the driver does not answer");
	ok(verdict_of(without, NULL, NULL, NULL, &blind, &d) == VERDICT_GRANT, "a policy without GPUs grants on a blind host");
	decision_free(&d);
	/* «everything» of the first policy would have been a GPU and a folder; the second must not make it a folder */
	ok(verdict_of(with, without, NULL, NULL, &blind, &d) != VERDICT_GRANT, "after one with GPUs it does not decide");
	is_str(d.why.text, "the driver does not answer", "  the reason is the host's");
	decision_free(&d);
	ok(verdict_of(other, without, NULL, NULL, &blind, &d) == VERDICT_GRANT, "after one with GPUs for others it decides");
	decision_free(&d);
	ok(verdict_of(with, without, "none", "/srv/x", &blind, &d) == VERDICT_GRANT, "a request without GPUs needs no look at the host");
	decision_free(&d);
	ok(verdict_of(with, without, "1", "none", &sees, &d) != VERDICT_GRANT, "without any GPU there is no grant of one");
	decision_free(&d);
	test_refusals();
	return done_testing();
}
