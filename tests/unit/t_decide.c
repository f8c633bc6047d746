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
	return done_testing();
}
