/*
 * judge/match.c: whom a policy covers and what it allows. The test has tables; then it compares
 * random policies and requests with a second, slower implementation that shares no code with the
 * first.
 */
#include <limits.h>

#include "base/cleanup.h"
#include "gpu/gpufind.h"
#include "judge/instancevar.h"
#include "judge/match.h"
#include "nomem.h"
#include "policy/claimsetadd.h"
#include "policy/policydecide.h"
#include "policy/varsjson.h"
#include "read/conf/policyread.h"
#include "rnd.h"
#include "tap.h"

#define COUNT(t) (sizeof(t) / sizeof((t)[0]))
#define UUID_A "GPU-11111111-2222-3333-4444-555555555555"

static uint64_t seed = 7;

/*
 * A host with two NVIDIA GPUs and an excluded one, an AMD GPU and an integrated one, and no Intel
 * GPU.
 */
static struct gpu gpus[] = {
	{ .vendor = GPU_NVIDIA, .pci = "0000:3b:00.0", .uuid = UUID_A },
	{ .vendor = GPU_NVIDIA, .pci = "0000:3c:00.0", .uuid = "GPU-22222222-2222-3333-4444-555555555555" },
	{ .vendor = GPU_NVIDIA, .pci = "0000:af:00.0", .unusable = "excluded by the driver", .rank = UINT_MAX },
	{ .vendor = GPU_AMD, .pci = "0000:03:00.0", .uuid = "0x1111222233334444" },
	{ .vendor = GPU_AMD, .pci = "0000:04:00.0", .integrated = true },
};
static struct inventory host = { .gpu = gpus, .gpus = COUNT(gpus) };

static bool
load(struct policy *p, const char *text)
{
	autofaults struct faults f = { 0 };

	if (policy_parse("p", text, strlen(text), p, &f))
		return true;
	return ok(false, "the policy parses: %s: %s", text, f.n > 0 ? f.v[0].text : "");
}

/* The tables' pipeline is team/pipe, with the job fit. */
static const struct identity token = { IDENTITY_TOKEN, "team", "pipe", "fit", NULL, "https://ci", NULL };
static const struct identity claim = { IDENTITY_CLAIM, "team", "pipe", "fit", NULL, NULL, NULL };
static const struct identity silent = { IDENTITY_CALLER, NULL, NULL, NULL, NULL, NULL, NULL };
static const struct client root = { 0, "root", true, true };
static const struct client worker = { 1000, "worker", true, true };
static const struct client stranger = { 1001, "stranger", false, true };
static const struct client nameless = { 1002, NULL, false, true };

static const struct settings sole = { .max_wait = 60 }, several = { .max_wait = 60, .several_issuers = true };

#define F " folders = ( { path = \"/srv/x\"; } );"

static void
test_covers(void)
{
	static const struct {
		const char *policy;
		const struct client *who;
		const struct identity *id;
		const char *why;	/* NULL: covered */
	} t[] = {
		{ "pipeline = \"team/pipe\";" F, &root, &token, NULL },
		{ "pipeline = \"team/pipe\";" F, &worker, &token, NULL },
		{ "pipeline = \"team/pipe\";" F, &stranger, &token, "p: the caller is not in group gpuhelper" },
		{ "pipeline = \"team/pipe\";" F, &nameless, &token, "p: the caller is not in group gpuhelper" },
		{ "pipeline = \"team/pipe\"; callers = [ \"stranger\" ];" F, &stranger, &token, NULL },
		{ "pipeline = \"team/pipe\"; callers = [ \"stranger\" ];" F, &root, &token,
		    "p: user root is not among its callers" },
		{ "pipeline = \"team/pipe\"; callers = [ \"strange\", \"strangers\", \"Stranger\" ];" F, &stranger,
		    &token,
		    "p: user stranger is not among its callers" },
		{ "pipeline = \"team/pipe\"; callers = [ \"*\" ];" F, &worker, &token,
		    "p: user worker is not among its callers" },
		{ "pipeline = \"team/pipe\"; callers = [ ];" F, &root, &token,
		    "p: user root is not among its callers" },
		{ "pipeline = \"team/pipe\"; callers = [ \"x\" ];" F, &nameless, &token,
		    "p: user (without a name) is not among its callers" },
		/* the kind of proof */
		{ "pipeline = \"team/pipe\";" F, &root, &claim, "p: it requires a token, and a claim is not one" },
		{ "pipeline = \"team/pipe\"; identity = \"token\";" F, &root, &claim,
		    "p: it requires a token, and a claim is not one" },
		{ "pipeline = \"team/pipe\";" F, &root, &silent,
		    "p: it requires identity \"token\", and the container has none" },
		{ "pipeline = \"team/pipe\"; identity = \"claim\";" F, &root, &claim, NULL },
		{ "pipeline = \"team/pipe\"; identity = \"claim\";" F, &root, &token, NULL },
		{ "pipeline = \"team/pipe\"; identity = \"claim\";" F, &root, &silent,
		    "p: it requires identity \"claim\", and the container has none" },
		{ "identity = \"caller\";" F, &worker, &silent, NULL },
		{ "identity = \"caller\";" F, &worker, &claim, NULL },
		{ "identity = \"caller\";" F, &worker, &token, NULL },
		{ "identity = \"caller\";" F, &stranger, &silent, "p: the caller is not in group gpuhelper" },
		{ "identity = \"caller\"; callers = [ \"stranger\" ];" F, &stranger, &silent, NULL },
		{ "identity = \"caller\"; callers = [ \"worker\" ];" F, &root, &silent,
		    "p: user root is not among its callers" },
		/* the token's issuer */
		{ "pipeline = \"team/pipe\"; issuer = \"https://ci\";" F, &root, &token, NULL },
		{ "pipeline = \"team/pipe\"; issuer = \"https://ci/\";" F, &root, &token,
		    "p: it accepts only tokens of issuer https://ci/" },
		{ "pipeline = \"team/pipe\"; issuer = \"https://c*\";" F, &root, &token,
		    "p: it accepts only tokens of issuer https://c*" },
		{ "pipeline = \"team/pipe\"; issuer = \"https://ci\";" F, &root, &claim,
		    "p: it requires a token, and a claim is not one" },
		/* the pipeline */
		{ "pipeline = \"team/pip\";" F, &root, &token, "p: it is for pipeline team/pip" },
		{ "pipeline = \"team/pipes\";" F, &root, &token, "p: it is for pipeline team/pipes" },
		{ "pipeline = \"Team/pipe\";" F, &root, &token, "p: it is for pipeline Team/pipe" },
		{ "pipeline = \"other/pipe\";" F, &root, &token, "p: it is for pipeline other/pipe" },
		{ "pipeline = \"*/*\";" F, &root, &token, NULL },
		{ "pipeline = \"t?am/p*\";" F, &root, &token, NULL },
		{ "pipeline = \"*/pip?e\";" F, &root, &token, "p: it is for pipeline */pip?e" },
		/* the job */
		{ "pipeline = \"team/pipe\"; jobs = [ \"fit\" ];" F, &root, &token, NULL },
		{ "pipeline = \"team/pipe\"; jobs = [ \"x\", \"f*\" ];" F, &root, &token, NULL },
		{ "pipeline = \"team/pipe\"; jobs = [ \"fi\", \"fits\", \"?it?\" ];" F, &root, &token,
		    "p: job \"fit\" is not among its jobs" },
		{ "pipeline = \"team/pipe\"; jobs = [ \"*\" ];" F, &root, &token, NULL },
	};
	struct why why;
	size_t i;

	for (i = 0; i < COUNT(t); i++) {
		autopolicy struct policy p = { 0 };

		why = (struct why){ 0 };
		if (!load(&p, t[i].policy))
			continue;
		ok(policy_covers(&p, t[i].who, t[i].id, &sole, &why) == (t[i].why == NULL),
		    "policy %s %s %s", t[i].policy, t[i].why == NULL ? "covers" : "does not cover",
		    t[i].who->user ? t[i].who->user : "a user without a name");
		is_str(why.text, t[i].why != NULL ? t[i].why : "", "  the message says why");
	}
}

/* An issuer may name any pipeline, so one of several must be named by the policy that believes it. */
static void
test_covers_one_issuer(void)
{
	autopolicy struct policy open = { 0 }, named = { 0 }, claimed = { 0 }, anyone = { 0 };
	struct why why = { 0 };

	if (!load(&open, "pipeline = \"team/pipe\"; identity = \"token\";" F) ||
	    !load(&named, "pipeline = \"team/pipe\"; issuer = \"https://ci\";" F) ||
	    !load(&claimed, "pipeline = \"team/pipe\"; identity = \"claim\";" F) ||
	    !load(&anyone, "identity = \"caller\";" F))
		return;
	ok(policy_covers(&open, &root, &token, &sole, &why), "of one issuer, a policy needs not name it");
	ok(!policy_covers(&open, &root, &token, &several, &why), "of several issuers, it must");
	is_str(why.text, "p: gpuhelper.conf has several issuers, and the policy does not say whose tokens it accepts: add "
	    "issuer = \"URL\" there", "  the message says why");
	ok(policy_covers(&named, &root, &token, &several, &why), "one that names it covers its tokens");
	ok(policy_covers(&claimed, &root, &token, &several, &why) && policy_covers(&claimed, &root, &claim, &several, &why),
	    "one that takes a claim takes a token of any issuer");
	ok(policy_covers(&anyone, &root, &token, &several, &why), "one for every container is not concerned");
	ok(policy_misses(&open, &root, &token, &several) == NULL, "no part of the question is said to be what is missing");
}

/* Claims: exact bytes and exact types, one of a list, patterns within one component, and all of them. */
static void
test_covers_claims(void)
{
#define CI "pipeline = \"team/pipe\"; issuer = \"https://ci\"; claims = "
	static const struct {
		const char *policy, *name, *value;	/* the token's claim, besides event = "push" */
		const char *why;			/* NULL: covered */
	} t[] = {
		{ CI "{ ref = \"main\"; };" F, "ref", "\"main", NULL },
		{ CI "{ ref = \"main\"; };" F, "ref", "\"Main", "p: claim \"ref\" is \"Main\", and the policy is for \"main\"" },
		{ CI "{ ref = \"main\"; };" F, "ref", "\"main ", "p: claim \"ref\" is \"main \", and the policy is for \"main\"" },
		{ CI "{ ref = \"main\"; };" F, "Ref", "\"main", "p: claim \"ref\" is not known, and the policy is for \"main\"" },
		{ CI "{ ref = \"main\"; };" F, "ref", "null", "p: claim \"ref\" is null, and the policy is for \"main\"" },
		{ CI "{ ref = \"list\"; };" F, "ref", "list", "p: claim \"ref\" is a list, and the policy is for \"list\"" },
		{ CI "{ ref = \"main\"; };" F, "ref", "group", "p: claim \"ref\" is a group, and the policy is for \"main\"" },
		{ CI "{ ok = true; };" F, "ok", "true", NULL },
		{ CI "{ ok = true; };" F, "ok", "\"true", "p: claim \"ok\" is \"true\", and the policy is for true" },
		{ CI "{ ok = \"true\"; };" F, "ok", "true", "p: claim \"ok\" is true, and the policy is for \"true\"" },
		{ CI "{ ok = true; };" F, "ok", "1", "p: claim \"ok\" is 1, and the policy is for true" },
		{ CI "{ id = 7; };" F, "id", "7", NULL },
		{ CI "{ id = 7; };" F, "id", "\"7", "p: claim \"id\" is \"7\", and the policy is for 7" },
		{ CI "{ id = 7; };" F, "id", "fraction", "p: claim \"id\" is a fraction, and the policy is for 7" },
		{ CI "{ id = 7; };" F, "id", "77", "p: claim \"id\" is 77, and the policy is for 7" },
		{ CI "{ ref = \"main\"; };" F, "ref", "\"x\", and the policy is for \"y",
		    "p: claim \"ref\" is \"x', and the policy is for 'y\", and the policy is for \"main\"" },
		/* a list is alternatives */
		{ CI "{ ref = [ \"main\", \"next\" ]; };" F, "ref", "\"next", NULL },
		{ CI "{ ref = [ \"main\", \"next\" ]; };" F, "ref", "\"mainnext",
		    "p: claim \"ref\" is \"mainnext\", and the policy is for \"main\" or another that it lists" },
		{ CI "{ id = ( 7, \"7\" ); };" F, "id", "\"7", NULL },
		/* patterns */
		{ CI "{ ref = \"refs/heads/v*\"; };" F, "ref", "\"refs/heads/v1.0", NULL },
		{ CI "{ ref = \"refs/heads/v*\"; };" F, "ref", "\"refs/heads/v1/x",
		    "p: claim \"ref\" is \"refs/heads/v1/x\", and the policy is for \"refs/heads/v*\"" },
		{ CI "{ ref = \"refs/*/v?\"; };" F, "ref", "\"refs/heads/v1", NULL },
		{ CI "{ ref = \"*\"; };" F, "ref", "\"a/b", "p: claim \"ref\" is \"a/b\", and the policy is for \"*\"" },
		{ CI "{ ref = \"*\"; };" F, "ref", "7", "p: claim \"ref\" is 7, and the policy is for \"*\"" },
		{ CI "{ ref = \"*\"; };" F, "ref", "null", "p: claim \"ref\" is null, and the policy is for \"*\"" },
		{ CI "{ ref = \"v*\"; };" F, "ref", "\"v\x01", "p: claim \"ref\" is \"v?\", and the policy is for \"v*\"" },
		{ CI "{ ref = \"v*\"; };" F, "ref", "\"v\xc2\x85", "p: claim \"ref\" is \"v?\", and the policy is for \"v*\"" },
		/* what must not be there */
#define NO_TAG CI "( { claim = \"tag\"; absent = true; }, { claim = \"ref\"; value = \"main\"; } );" F
		{ NO_TAG, "ref", "\"main", "p: claim \"tag\" is not known, and the policy is for a token without it" },
		{ CI "( { claim = \"tag\"; absent = true; } );" F, "tag", "absent", NULL },
		{ CI "( { claim = \"tag\"; absent = true; } );" F, "tag", "null", NULL },
		{ CI "( { claim = \"tag\"; absent = true; } );" F, "tag", "\"v1", "p: claim \"tag\" is \"v1\", and the policy is for a token without it" },
		{ CI "( { claim = \"tag\"; absent = true; } );" F, "tag", "\"null", "p: claim \"tag\" is \"null\", and the policy is for a token without it" },
		{ CI "( { claim = \"tag\"; absent = true; } );" F, "tag", "false", "p: claim \"tag\" is false, and the policy is for a token without it" },
		/* all must match */
		{ CI "{ event = \"push\"; ref = \"main\"; };" F, "ref", "\"main", NULL },
		{ CI "{ event = \"pull_request\"; ref = \"main\"; };" F, "ref", "\"main",
		    "p: claim \"event\" is \"push\", and the policy is for \"pull_request\"" },
		{ CI "( { claim = \"a.b/c\"; value = \"main\"; }, { claim = \"event\"; value = [ \"push\" ]; } );" F, "a.b/c",
		    "\"main", NULL },
	};
	struct identity id = token;
	struct why why;
	size_t i;

	for (i = 0; i < COUNT(t); i++) {
		autopolicy struct policy p = { 0 };
		struct claim_set has = { .name = { .n = 0 } };

		id.claims = &has;
		why = (struct why){ 0 };
		if (load(&p, t[i].policy) && claim_set_add(&has, "event", "\"push") && claim_set_add(&has, t[i].name, t[i].value)) {
			ok(policy_covers(&p, &root, &id, &sole, &why) == (t[i].why == NULL), "claims %zu: %s", i, why.text);
			is_str(why.text, t[i].why != NULL ? t[i].why : "", "  the message says why");
			is_str(policy_misses(&p, &root, &id, &sole), t[i].why != NULL ? "these claims" : NULL, "  and what is missed");
			id.claims = NULL;
			ok(!policy_covers(&p, &root, &id, &sole, &why), "  an identity without claims is not covered");
		} else
			ok(false, "claims %zu: the policy is read", i);
		claim_set_free(&has);
	}
}

/* Names with slashes, an unknown job, and incomplete identities. */
static void
test_covers_odd(void)
{
	const struct identity slash = { IDENTITY_TOKEN, "team", "a/b", "fit", NULL, NULL, NULL };
	const struct identity no_job = { IDENTITY_TOKEN, "team", "pipe", NULL, NULL, NULL, NULL };
	const struct identity half = { IDENTITY_TOKEN, "team", NULL, NULL, NULL, NULL, NULL };
	const struct identity other = { IDENTITY_TOKEN, NULL, "pipe", NULL, NULL, NULL, NULL };
	autopolicy struct policy all = { 0 }, exact = { 0 }, jobs = { 0 }, issuer = { 0 };
	struct why why;

	if (!load(&all, "pipeline = \"*/*\";" F) || !load(&exact, "pipeline = \"team/a/b\";" F) ||
	    !load(&jobs, "pipeline = \"team/pipe\"; jobs = [ \"*\" ];" F) ||
	    !load(&issuer, "pipeline = \"team/pipe\"; issuer = \"https://ci\";" F))
		return;
	ok(!policy_covers(&all, &root, &slash, &sole, &why), "* does not match a slash in a name");
	ok(policy_covers(&exact, &root, &slash, &sole, &why), "a name with a slash is matched literally");
	ok(!policy_covers(&jobs, &root, &no_job, &sole, &why),
	    "a policy with jobs does not cover an unknown job");
	is_str(why.text, "p: job \"(none)\" is not among its jobs", "  the message says why");
	ok(policy_covers(&all, &root, &no_job, &sole, &why),
	    "a policy without jobs covers an unknown job");
	ok(!policy_covers(&issuer, &root, &no_job, &sole, &why),
	    "a policy with an issuer does not cover a token of an unknown issuer");
	is_str(why.text, "p: it accepts only tokens of issuer https://ci", "  the message says why");
	ok(!policy_covers(&all, &root, &half, &sole, &why) && !policy_covers(&all, &root, &other, &sole, &why),
	    "an incomplete identity is not covered");
}

static void
test_instance_vars(void)
{
	static const struct {
		const char *policy, *vars;
		bool covers;
	} t[] = {
		{ "branch = \"main\";", "{\"branch\":\"main\"}", true },
		{ "branch = \"main\";", "{\"branch\":\"main\",\"pr\":7}", true },
		{ "branch = \"main\";", "{\"branch\":\"Main\"}", false },
		{ "branch = \"main\";", "{\"branch\":[\"main\"]}", false },
		{ "branch = \"main\";", "{\"Branch\":\"main\"}", false },
		{ "branch = \"main\";", "{\"pr\":\"main\"}", false },
		{ "branch = \"main\";", "{}", false },
		{ "branch = \"main\";", NULL, false },
		{ "branch = \"*\";", "{\"branch\":\"main\"}", false },
		{ "n = 7;", "{\"n\":7}", true }, { "n = 7;", "{\"n\":\"7\"}", false },
		    { "n = 7;", "{\"n\":7.0}", false },
		{ "n = 0;", "{\"n\":false}", false }, { "n = 0;", "{\"n\":null}", false },
		{ "yes = true;", "{\"yes\":true}", true }, { "yes = true;", "{\"yes\":1}", false },
		{ "a = { b = { c = [ 1, 2 ]; }; };", "{\"a\":{\"b\":{\"c\":[1,2]}}}", true },
		{ "a = { b = { c = [ 1, 2 ]; }; };", "{\"a\":{\"b\":{\"c\":[2,1]}}}", false },
		{ "a = { b = { c = [ 1, 2 ]; }; };", "{\"a\":{\"b\":{\"c\":[1,2]},\"d\":1}}", false },
		{ "a = { b = { c = [ 1, 2 ]; }; };", "{\"a\":{\"b\":{\"c\":[1]}}}", false },
		{ "a = { };", "{\"a\":{}}", true }, { "a = { };", "{\"a\":{\"b\":1}}", false },
		    { "a = [ ];", "{\"a\":[]}", true },
		{ "a = ( 1, \"x\", { y = true; } );", "{\"a\":[1,\"x\",{\"y\":true}]}", true },
		{ "", "{\"branch\":\"main\"}", true }, { "", NULL, true },
		{ "a = 1; b = 2;", "{\"a\":1}", false }, { "a = 1; b = 2;", "{\"b\":2,\"a\":1}", true },
	};
	struct identity id = token;
	struct why why;
	size_t i;

	for (i = 0; i < COUNT(t); i++) {
		autopolicy struct policy p = { 0 };
		autobuf struct buf b = { 0 };
		json_t *json = t[i].vars != NULL ? json_loads(t[i].vars, 0, NULL) : NULL;
		struct instance_vars vars;

		buf_printf(&b, "pipeline = \"team/pipe\"; instance_vars = { %s };" F, t[i].policy);
		ok(instance_vars_of(json, &vars), "instance_vars are read");
		id.instance_vars = vars.there ? &vars : NULL;
		if (load(&p, b.p))
			ok(policy_covers(&p, &root, &id, &sole, &why) == t[i].covers,
			    "a policy with instance_vars { %s } %s %s", t[i].policy,
			    t[i].covers ? "covers" : "does not cover",
			    t[i].vars ? t[i].vars : "a pipeline without any");
		instance_vars_free(&vars);
		json_decref(json);
	}
}

static void
test_vendors(void)
{
	autopolicy struct policy p = { 0 }, none = { 0 };

	if (!load(&p, "pipeline = \"a/b\"; gpus = ( { vendor = \"intel\"; }, { vendor = \"nvidia\"; }, { vendor = "
	    "\"intel\"; } );") ||
	    !load(&none, "pipeline = \"a/b\";" F))
		return;
	is_int(policy_vendors(&p), 1U << GPU_INTEL | 1U << GPU_NVIDIA,
	    "the vendors of a policy's rules are found");
	is_int(policy_vendors(&none), 0, "a policy without GPU rules has no vendors");
}

/*
 * "2[3b:00.0 3c:00.0] | /srv/x:ro=/x wait 5": the counts with their candidates, the folders, the
 * seconds.
 */
static char *
describe(const struct grant *g)
{
	struct buf b = { 0 };
	size_t i, k;

	for (i = 0; i < g->gpus; i++) {
		buf_printf(&b, "%u[", g->gpu[i].count);
		for (k = 0; k < g->gpu[i].n; k++)
			buf_printf(&b, "%s%s", k ? " " : "", g->gpu[i].candidate[k]->pci + 5);
		buf_puts(&b, "] ");
	}
	buf_puts(&b, "|");
	for (i = 0; i < g->folders; i++)
		buf_printf(&b, " %s:%s%s=%s", g->folder[i].path, g->folder[i].writable ? "rw" : "ro",
		    g->folder[i].rule->submounts ? "+" : "", g->folder[i].target);
	if (g->wait > 0)
		buf_printf(&b, " wait %u", g->wait);
	return buf_take(&b);
}

struct case_ {
	const char *policy, *gpus, *folders;
	const char *grant, *why;	/* one of the two */
};

static void
check_cases(const struct case_ *t, size_t n, const char *head, const struct client *who, const struct settings *settings)
{
	struct why why;
	size_t i;

	for (i = 0; i < n; i++) {
		autopolicy struct policy p = { 0 };
		autogrant struct grant g = { 0 };
		autofree char *says = NULL;
		autobuf struct buf b = { 0 };
		autorequested struct requested a = { 0 };
		enum verdict_kind v;

		why = (struct why){ 0 };
		buf_printf(&b, "pipeline = \"team/pipe\";\n%s%s", head, t[i].policy);
		if (!load(&p, b.p) || !ok(requested_parse(t[i].gpus, t[i].folders, &a, &why) == 0,
		    "the request is read: %s", why.text))
			continue;
		v = policy_decide(&p, who, &a, &host, settings, &g, &why);
		ok(v == (t[i].grant != NULL ? VERDICT_GRANT : VERDICT_LACKS),
		    "policy %s: GPUs %s, folders %s: %s",
		    t[i].policy,
		    t[i].gpus ? t[i].gpus : "-", t[i].folders ? t[i].folders : "-", t[i].grant ? "granted" : "refused");
		if (v == VERDICT_GRANT)
			is_str(says = describe(&g), t[i].grant, "  the grant is exactly this");
		else
			is_str(why.text, t[i].why, "  the message says why");
	}
}

#define NO_NVIDIA(n) "p:2: this host has " n " of the nvidia GPUs that this rule names (gpuhelperctl devices lists " \
    "them)"
#define NO_ID(id) "p: this host has no GPU \"" id "\" of a vendor that this policy gives (gpuhelperctl devices lists " \
    "them)"

static void
test_gpus(void)
{
	static const struct settings settings = { .max_wait = 240 };
	static const struct case_ t[] = {
		/* a request for everything */
		{ "gpus = ( { vendor = \"nvidia\"; } );", NULL, NULL, "1[3b:00.0 3c:00.0] |", NULL },
		{ "gpus = ( { vendor = \"nvidia\"; count = 2; } );", NULL, NULL, "2[3b:00.0 3c:00.0] |", NULL },
		{ "gpus = ( { vendor = \"nvidia\"; count = 64; } );", NULL, NULL, "2[3b:00.0 3c:00.0] |", NULL },
		{ "gpus = ( { vendor = \"nvidia\"; devices = [ \"1\" ]; } );", NULL, NULL, "1[3c:00.0] |", NULL },
		{ "gpus = ( { vendor = \"nvidia\"; devices = [ \"2\" ]; } );", NULL, NULL, NULL, NO_NVIDIA("0") },
		{ "gpus = ( { vendor = \"nvidia\"; devices = [ \"0000:af:00.0\" ]; } );", NULL, NULL, NULL,
		    NO_NVIDIA("0") },
		{ "gpus = ( { vendor = \"nvidia\"; devices = [ \"0000:03:00.0\" ]; } );", NULL, NULL, NULL,
		    NO_NVIDIA("0") },
		{ "gpus = ( { vendor = \"nvidia\"; devices = [ \"3B:00.0\", \"" UUID_A "\" ]; count = 2; } );", NULL,
		    NULL,
		    "1[3b:00.0] |", NULL },
		{ "gpus = ( { vendor = \"nvidia\"; devices = [ \"all\" ]; }, { vendor = \"amd\"; } );", NULL, NULL,
		    "1[3b:00.0 3c:00.0] 1[03:00.0] |", NULL },
		{ "gpus = ( { vendor = \"amd\"; devices = [ \"0\" ]; } );", NULL, NULL, "1[03:00.0] |", NULL },
		{ "gpus = ( { vendor = \"amd\"; count = 2; } );", NULL, NULL, "1[03:00.0] |", NULL },
		{ "gpus = ( { vendor = \"amd\"; devices = [ \"1\" ]; } );", NULL, NULL, NULL,
		    "p:2: this host has 0 of the amd GPUs that this rule names (gpuhelperctl devices lists them)" },
		{ "gpus = ( { vendor = \"intel\"; } );", NULL, NULL, NULL, "p:2: no intel GPU can be granted: no driver" },
		{ "gpus = ( { vendor = \"nvidia\"; }, { vendor = \"intel\"; } );", NULL, NULL, NULL,
		    "p:2: no intel GPU can be granted: no driver" },
		/* a request for all GPUs */
		{ "gpus = ( { vendor = \"nvidia\"; } );", "all", NULL, "1[3b:00.0 3c:00.0] |", NULL },
		{ F, "all", NULL, NULL, "p: it gives no GPUs" },
		/* a request for nothing */
		{ "gpus = ( { vendor = \"nvidia\"; } );", "none", NULL, "|", NULL },
		{ F, "none", "none", "|", NULL },
		/* counts, over one rule and over several */
		{ "gpus = ( { vendor = \"nvidia\"; count = 2; } );", "1", NULL, "1[3b:00.0 3c:00.0] |", NULL },
		{ "gpus = ( { vendor = \"nvidia\"; count = 2; } );", "2", NULL, "2[3b:00.0 3c:00.0] |", NULL },
		{ "gpus = ( { vendor = \"nvidia\"; count = 2; } );", "3", NULL, NULL,
		    "p: 3 GPUs asked for, and it gives a container at most 2" },
		{ "gpus = ( { vendor = \"nvidia\"; count = 8; } );", "3", NULL, NULL, NO_NVIDIA("2") },
		{ "gpus = ( { vendor = \"nvidia\"; count = 2; } );", "1,nvidia:1", NULL,
		    "1[3b:00.0 3c:00.0] 1[3b:00.0 3c:00.0] |", NULL },
		{ "gpus = ( { vendor = \"nvidia\"; count = 2; } );", "1,nvidia:1,nvidia:1", NULL, NULL,
		    "p: 1 nvidia GPU asked for, and it gives a container at most 0" },
		/* ranks, in requests and in policies */
		{ "gpus = ( { vendor = \"nvidia\"; count = 2; } );", "#1", NULL, "1[3c:00.0] |", NULL },
		{ "gpus = ( { vendor = \"nvidia\"; count = 2; } );", "#0,#1", NULL, "1[3b:00.0] 1[3c:00.0] |", NULL },
		{ "gpus = ( { vendor = \"nvidia\"; count = 2; devices = [ \"#1\" ]; } );", "#1", NULL, "1[3c:00.0] |", NULL },
		{ "gpus = ( { vendor = \"nvidia\"; count = 2; devices = [ \"#1\" ]; } );", "#0", NULL, NULL,
		    "p: it does not give GPU \"#0\", or not that many" },
		{ "gpus = ( { vendor = \"amd\"; } );", "#0", NULL, "1[03:00.0] |", NULL },
		{ "gpus = ( { vendor = \"nvidia\"; count = 2; } );", "#9", NULL, NULL,
		    "p: this host has no GPU \"#9\" of a vendor that this policy gives (gpuhelperctl devices lists them)" },
		{ "gpus = ( { vendor = \"nvidia\"; count = 2; } );", "#1,0000:3c:00.0", NULL, NULL,
		    "GPUHELPER_GPUS names GPU 0000:3c:00.0 twice, as \"0000:3c:00.0\" too" },
		{ "gpus = ( { vendor = \"nvidia\"; }, { vendor = \"amd\"; } );", "2", NULL,
		    "1[3b:00.0 3c:00.0] 1[03:00.0] |", NULL },
		{ "gpus = ( { vendor = \"nvidia\"; }, { vendor = \"amd\"; } );", "3", NULL, NULL,
		    "p: 3 GPUs asked for, and it gives a container at most 2" },
		{ "gpus = ( { vendor = \"nvidia\"; }, { vendor = \"amd\"; } );", "amd:1", NULL, "1[03:00.0] |", NULL },
		{ "gpus = ( { vendor = \"nvidia\"; }, { vendor = \"amd\"; } );", "amd:1,nvidia:1", NULL,
		    "1[03:00.0] 1[3b:00.0 3c:00.0] |", NULL },
		{ "gpus = ( { vendor = \"nvidia\"; }, { vendor = \"amd\"; } );", "amd:2", NULL, NULL,
		    "p: 2 amd GPUs asked for, and it gives a container at most 1" },
		{ "gpus = ( { vendor = \"nvidia\"; } );", "amd:1", NULL, NULL,
		    "p: 1 amd GPU asked for, and it gives a container at most 0" },
		{ "gpus = ( { vendor = \"nvidia\"; devices = [ \"0\" ]; }, { vendor = \"nvidia\"; devices = [ \"1\" ]; "
		    "} );", "2", NULL,
		    "1[3b:00.0] 1[3c:00.0] |", NULL },
		{ "gpus = ( { vendor = \"nvidia\"; devices = [ \"9\" ]; }, { vendor = \"nvidia\"; devices = [ \"1\" ]; "
		    "} );", "1", NULL,
		    "1[3c:00.0] |", NULL },
		{ "gpus = ( { vendor = \"intel\"; } );", "1", NULL, NULL, "p:2: no intel GPU can be granted: no driver" },
		{ F, "1", NULL, NULL, "p: 1 GPU asked for, and it gives a container at most 0" },
		/* named GPUs */
		{ "gpus = ( { vendor = \"nvidia\"; count = 2; } );", "0000:3c:00.0", NULL, "1[3c:00.0] |", NULL },
		{ "gpus = ( { vendor = \"nvidia\"; count = 2; } );", "3C:00.0," UUID_A, NULL, "1[3c:00.0] 1[3b:00.0] |",
		    NULL },
		{ "gpus = ( { vendor = \"nvidia\"; count = 2; } );", "3c:00.0,1", NULL,
		    "1[3c:00.0] 1[3b:00.0 3c:00.0] |", NULL },
		{ "gpus = ( { vendor = \"nvidia\"; count = 2; } );", "3c:00.0,2", NULL, NULL,
		    "p: 2 GPUs asked for, and it gives a container at most 1" },
		{ "gpus = ( { vendor = \"nvidia\"; count = 1; } );", "3c:00.0,3b:00.0", NULL, NULL,
		    "p: it does not give GPU \"3b:00.0\", or not that many" },
		{ "gpus = ( { vendor = \"nvidia\"; devices = [ \"0\" ]; count = 2; } );", "3c:00.0", NULL, NULL,
		    "p: it does not give GPU \"3c:00.0\", or not that many" },
		{ "gpus = ( { vendor = \"nvidia\"; count = 2; } );", "0000:03:00.0", NULL, NULL,
		    "p: it does not give GPU \"0000:03:00.0\", or not that many" },
		{ "gpus = ( { vendor = \"nvidia\"; count = 2; } );", "0000:af:00.0", NULL, NULL,
		    "p: GPU \"0000:af:00.0\" can't be given: excluded by the driver" },
		{ "gpus = ( { vendor = \"nvidia\"; count = 2; } );", "0000:55:00.0", NULL, NULL,
		    NO_ID("0000:55:00.0") },
		{ "gpus = ( { vendor = \"amd\"; count = 2; } );", "0x1111222233334444", NULL, "1[03:00.0] |", NULL },
		{ "gpus = ( { vendor = \"amd\"; count = 2; } );", "0x111122223333444", NULL, NULL,
		    NO_ID("0x111122223333444") },
		{ "gpus = ( { vendor = \"amd\"; count = 2; } );", "0000:04:00.0", NULL, NULL,
		    "p: it does not give GPU \"0000:04:00.0\", or not that many" },
		{ "gpus = ( { vendor = \"nvidia\"; count = 4; } );", "3c:00.0,0000:3c:00.0", NULL, NULL,
		    "GPUHELPER_GPUS names GPU 0000:3c:00.0 twice, as \"0000:3c:00.0\" too" },
		{ "gpus = ( { vendor = \"nvidia\"; count = 4; } );", UUID_A ",3c:00.0,3b:00.0", NULL, NULL,
		    "GPUHELPER_GPUS names GPU 0000:3b:00.0 twice, as \"3b:00.0\" too" },
		/* the time to wait */
		{ "gpus = ( { vendor = \"nvidia\"; wait = 30; }, { vendor = \"amd\"; wait = 20; } );", NULL, NULL,
		    "1[3b:00.0 3c:00.0] 1[03:00.0] | wait 20", NULL },
		{ "gpus = ( { vendor = \"nvidia\"; wait = 20; }, { vendor = \"amd\"; wait = 30; } );", NULL, NULL,
		    "1[3b:00.0 3c:00.0] 1[03:00.0] | wait 20", NULL },
		{ "gpus = ( { vendor = \"nvidia\"; wait = 20; }, { vendor = \"amd\"; wait = 30; } );", "amd:1", NULL,
		    "1[03:00.0] | wait 30", NULL },
		{ "gpus = ( { vendor = \"nvidia\"; wait = 9000; } );", NULL, NULL, "1[3b:00.0 3c:00.0] | wait 240",
		    NULL },
		{ "gpus = ( { vendor = \"nvidia\"; wait = 9000; }, { vendor = \"amd\"; } );", NULL, NULL,
		    "1[3b:00.0 3c:00.0] 1[03:00.0] |", NULL },
		{ "gpus = ( { vendor = \"nvidia\"; wait = 9000; } );", "none", NULL, "|", NULL },
	};

	check_cases(t, COUNT(t), "", &root, &settings);
}

static void
test_integrated(void)
{
	static const struct settings settings = { .allow_integrated = true };
	static const struct case_ t[] = {
		{ "gpus = ( { vendor = \"amd\"; count = 2; wait = 5; } );", NULL, NULL, "2[03:00.0 04:00.0] |", NULL },
		{ "gpus = ( { vendor = \"amd\"; devices = [ \"1\" ]; } );", NULL, NULL, "1[04:00.0] |", NULL },
		{ "gpus = ( { vendor = \"amd\"; } );", "0000:04:00.0", NULL, "1[04:00.0] |", NULL },
	};

	check_cases(t, COUNT(t), "", &root, &settings);
}

/* A host without a device cgroup cannot enforce everything. */
static void
test_unenforced(void)
{
	static const struct settings settings = { .allow_integrated = true };
	static const struct settings lenient = { .allow_integrated = true, .unenforced = true };
	static const struct client rootless = { 1000, "worker", true, false };
#define NOT_ONE "p:2: without a device cgroup (rootless) nothing holds a GPU to one container: say sharing = " \
    "\"shared\" there, " \
    "or unenforced = \"allow\" in gpuhelper.conf"
#define NOT_SOME "p:2: without a device cgroup (rootless) /dev/kfd gives every AMD GPU or none: ask for all, or say " \
    "unenforced = \"allow\" in gpuhelper.conf"
	static const struct case_ strict[] = {
		{ "gpus = ( { vendor = \"nvidia\"; } );", NULL, NULL, NULL, NOT_ONE },
		{ "gpus = ( { vendor = \"nvidia\"; } );", "1", NULL, NULL, NOT_ONE },
		{ "gpus = ( { vendor = \"nvidia\"; } );", "3b:00.0", NULL, NULL, NOT_ONE },
		{ "gpus = ( { vendor = \"nvidia\"; sharing = \"shared\"; } );", NULL, NULL, "1[3b:00.0 3c:00.0] |",
		    NULL },
		{ "gpus = ( { vendor = \"amd\"; sharing = \"shared\"; } );", NULL, NULL, NULL, NOT_SOME },
		{ "gpus = ( { vendor = \"amd\"; sharing = \"shared\"; count = 2; } );", NULL, NULL,
		    "2[03:00.0 04:00.0] |", NULL },
		{ "gpus = ( { vendor = \"amd\"; sharing = \"shared\"; count = 2; } );", "1", NULL, NULL, NOT_SOME },
		{ "gpus = ( { vendor = \"amd\"; sharing = \"shared\"; count = 2; } );", "0000:03:00.0", NULL, NULL,
		    NOT_SOME },
		{ "gpus = ( { vendor = \"amd\"; sharing = \"shared\"; count = 2; } );", "2", NULL,
		    "2[03:00.0 04:00.0] |", NULL },
		{ "gpus = ( { vendor = \"nvidia\"; } );", "none", NULL, "|", NULL },
	};
	static const struct case_ allowed[] = {
		{ "gpus = ( { vendor = \"nvidia\"; } );", NULL, NULL, "1[3b:00.0 3c:00.0] |", NULL },
		{ "gpus = ( { vendor = \"amd\"; } );", NULL, NULL, "1[03:00.0 04:00.0] |", NULL },
	};
	struct settings no_integrated = { 0 };
	static const struct case_ hidden[] = {
		{ "gpus = ( { vendor = \"amd\"; sharing = \"shared\"; count = 2; } );", NULL, NULL, NULL, NOT_SOME },
	};

	check_cases(strict, COUNT(strict), "", &rootless, &settings);
	check_cases(allowed, COUNT(allowed), "", &rootless, &lenient);
	check_cases(hidden, COUNT(hidden), "", &rootless, &no_integrated);
}

static void
test_folders(void)
{
	static const struct settings settings = { 0 };
#define NOT_GIVEN(path) "p: it does not give folder " path
	static const struct case_ t[] = {
		/* a request for everything */
		{ "folders = ( { path = \"/srv/a\"; } );", NULL, NULL, "| /srv/a:ro=/srv/a", NULL },
		{ "folders = ( { path = \"/srv/a\"; access = \"rw\"; target = \"/t\"; submounts = true; } );", NULL,
		    NULL,
		    "| /srv/a:rw+=/t", NULL },
		{ "folders = ( { path = \"/srv/a*\"; }, { path = \"/srv/?\"; target = \"/t\"; } );", NULL, NULL,
		    "| /srv/a*:ro=/srv /srv/?:ro=/t", NULL },
		{ "folders = ( { path = \"/sr*\"; } );", NULL, NULL, "| /sr*:ro=", NULL },
		{ "folders = ( { path = \"/srv/a\"; }, { path = \"/srv/b\"; access = \"rw\"; } );", NULL, "all",
		    "| /srv/a:ro=/srv/a /srv/b:rw=/srv/b", NULL },
		{ "gpus = ( { vendor = \"nvidia\"; } );", NULL, "all", NULL, "p: it gives no folders" },
		{ "gpus = ( { vendor = \"nvidia\"; } );", "none", "none", "|", NULL },
		/* a request for a folder, and paths that only resemble the folder's */
		{ "folders = ( { path = \"/srv/a\"; } );", NULL, "/srv/a", "| /srv/a:ro=/srv/a", NULL },
		{ "folders = ( { path = \"/srv/a\"; } );", NULL, "/srv/a:ro", "| /srv/a:ro=/srv/a", NULL },
		{ "folders = ( { path = \"/srv/a\"; } );", NULL, "/srv/a:rw", NULL,
		    "p:2: it gives folder /srv/a read-only, and rw was asked for" },
		{ "folders = ( { path = \"/srv/a\"; } );", NULL, "/srv/ab", NULL, NOT_GIVEN("/srv/ab") },
		{ "folders = ( { path = \"/srv/a\"; } );", NULL, "/srv", NULL, NOT_GIVEN("/srv") },
		{ "folders = ( { path = \"/srv/a\"; } );", NULL, "/", NULL, NOT_GIVEN("/") },
		{ "folders = ( { path = \"/srv/a\"; } );", NULL, "/srv/a/b", NULL, NOT_GIVEN("/srv/a/b") },
		{ "folders = ( { path = \"/srv\"; subfolders = true; } );", NULL, "/srvx", NULL, NOT_GIVEN("/srvx") },
		{ "folders = ( { path = \"/srv\"; subfolders = true; } );", NULL, "/srvx/a", NULL,
		    NOT_GIVEN("/srvx/a") },
		{ "folders = ( { path = \"/srv/a\"; access = \"rw\"; } );", NULL, "/srv/a", "| /srv/a:rw=/srv/a",
		    NULL },
		{ "folders = ( { path = \"/srv/a\"; access = \"rw\"; } );", NULL, "/srv/a:ro", "| /srv/a:ro=/srv/a",
		    NULL },
		{ "folders = ( { path = \"/srv/a\"; access = \"rw\"; } );", NULL, "/srv/a:rw", "| /srv/a:rw=/srv/a",
		    NULL },
		{ "folders = ( { path = \"/srv/a\"; } );", NULL, "/srv/a,/srv/b", NULL, NOT_GIVEN("/srv/b") },
		{ "gpus = ( { vendor = \"nvidia\"; } );", NULL, "/srv/a", NULL, NOT_GIVEN("/srv/a") },
		/* folders beneath the rule's folder, and elsewhere */
		{ "folders = ( { path = \"/srv/a\"; subfolders = true; } );", NULL, "/srv/a/b/c",
		    "| /srv/a/b/c:ro=/srv/a/b/c", NULL },
		{ "folders = ( { path = \"/srv/a\"; subfolders = true; target = \"/t\"; } );", NULL,
		    "/srv/a,/srv/a/b/c:ro",
		    "| /srv/a:ro=/t /srv/a/b/c:ro=/t/b/c", NULL },
		{ "folders = ( { path = \"/srv/a\"; target = \"/t\"; } );", NULL, "/t", NULL, NOT_GIVEN("/t") },
		/* patterns */
		{ "folders = ( { path = \"/srv/a*\"; access = \"rw\"; } );", NULL, "/srv/ab:rw", "| /srv/ab:rw=/srv/ab",
		    NULL },
		{ "folders = ( { path = \"/srv/a*\"; target = \"/t\"; } );", NULL, "/srv/ab", "| /srv/ab:ro=/t/ab",
		    NULL },
		{ "folders = ( { path = \"/srv/*\"; } );", NULL, "/srv/a/b", NULL, NOT_GIVEN("/srv/a/b") },
		{ "folders = ( { path = \"/srv/*\"; } );", NULL, "/srv", NULL, NOT_GIVEN("/srv") },
		{ "folders = ( { path = \"/srv/*\"; } );", NULL, "/srvx/a", NULL, NOT_GIVEN("/srvx/a") },
		{ "folders = ( { path = \"/srv/a?\"; } );", NULL, "/srv/a", NULL, NOT_GIVEN("/srv/a") },
		{ "folders = ( { path = \"/srv/*\"; } );", NULL, "/srv/.ssh", NULL, NOT_GIVEN("/srv/.ssh") },
		{ "folders = ( { path = \"/srv/.s*\"; } );", NULL, "/srv/.ssh", NULL, NOT_GIVEN("/srv/.ssh") },
		{ "folders = ( { path = \"/srv/.ssh\"; } );", NULL, "/srv/.ssh", "| /srv/.ssh:ro=/srv/.ssh", NULL },
		/* of several rules, the one that gives most is used */
		{ "folders = ( { path = \"/srv/a\"; }, { path = \"/srv\"; subfolders = true; access = \"rw\"; target = "
		    "\"/t\"; } );", NULL,
		    "/srv/a", "| /srv/a:rw=/t/a", NULL },
		{ "folders = ( { path = \"/srv/a\"; target = \"/1\"; }, { path = \"/srv/a*\"; target = \"/2\"; } );",
		    NULL, "/srv/a",
		    "| /srv/a:ro=/1", NULL },
		{ "folders = ( { path = \"/srv/a\"; access = \"rw\"; target = \"/1\"; }, { path = \"/srv/*\"; access = "
		    "\"rw\"; } );", NULL,
		    "/srv/a:ro", "| /srv/a:ro=/1", NULL },
	};

	check_cases(t, COUNT(t), "", &root, &settings);
}

/*
 * Partitions share an address. A name means the first of them, and does not include one of another
 * container.
 */
static void
test_partitions(void)
{
	static struct gpu parts[] = {
		{ .vendor = GPU_AMD, .pci = "0000:44:00.0", .partition = 0, .rank = 0 },
		{ .vendor = GPU_AMD, .pci = "0000:44:00.0", .partition = 1, .rank = 1 },
		{ .vendor = GPU_AMD, .pci = "0000:44:00.0", .partition = 2, .rank = 2 },
	};
	const struct inventory inv = { .gpu = parts, .gpus = COUNT(parts) };
	static const struct settings settings = { 0 };
	autopolicy struct policy p = { 0 };
	autogrant struct grant g = { 0 };
	autorequested struct requested a = { 0 };
	struct why why;

	if (!load(&p, "pipeline = \"a/b\"; gpus = ( { vendor = \"amd\"; devices = [ \"44:00.0\" ]; count = 2; } );"))
		return;
	requested_parse("44:00.0", NULL, &a, &why);
	ok(policy_decide(&p, &root, &a, &inv, &settings, &g, &why) == VERDICT_GRANT && g.gpus == 1 &&
	    g.gpu[0].count == 1 &&
	    g.gpu[0].n == 1, "a name requests one partition");
	grant_free(&g);
	requested_free(&a);
	requested_parse("2", NULL, &a, &why);
	ok(policy_decide(&p, &root, &a, &inv, &settings, &g, &why) == VERDICT_GRANT && g.gpus == 1 &&
	    g.gpu[0].count == 2 &&
	    g.gpu[0].n == 3, "a count requests any of the partitions");
}

#define GIVES "; this host can give kind nvidia.com/gpu"

/* Why a rule of a CDI kind gives no GPU. */
static void
test_kinds(void)
{
	static const char *const names[] = { "nvidia.com/gpu=0", "nvidia.com/gpu=1", "nvidia.com/gpu=mig", "nvidia.com/gpu=part", "amd.com/gpu=0" };
	static const char *const others[] = { "management.nvidia.com/gpu=all has nodes of several GPUs",
		"nvidia.com/gpu=all has nodes of several GPUs", "intel.com/gpu=x has no node of a GPU of this host" };
	struct gpu some[] = {
		{ .vendor = GPU_NVIDIA, .pci = "0000:3b:00.0" },
		{ .vendor = GPU_NVIDIA, .pci = "0000:3c:00.0", .unusable = "excluded by the driver" },
		{ .vendor = GPU_NVIDIA, .pci = "0000:3d:00.0", .has_instances = true },
		{ .vendor = GPU_NVIDIA, .pci = "0000:3d:00.0", .part = "1:0" },
		{ .vendor = GPU_AMD, .pci = "0000:04:00.0", .integrated = true },
	};
	struct inventory inv = { .gpu = some, .gpus = COUNT(some) };
	static const struct { const char *rule, *gpus, *why; } t[] = {
		{ "vendor = \"nvidia.com/imex-channel\"; devices = [ \"0\" ];", "1", "nvidia.com/imex-channel devices are no GPUs: nodes = "
		    "[ \"imex\" ] in a rule of the GPU's kind (vendor = \"nvidia.com/gpu\") gives their nodes with the GPU" },
		{ "vendor = \"nvidia.com/gds\";", "1", "nvidia.com/gds devices are no GPUs: nodes = [ \"nvidia-fs\" ] in a rule of the "
		    "GPU's kind (vendor = \"nvidia.com/gpu\") gives their nodes with the GPU" },
		{ "vendor = \"management.nvidia.com/gpu\";", "1", "no GPU of this host is a device of kind management.nvidia.com/gpu: "
		    "management.nvidia.com/gpu=all has nodes of several GPUs" GIVES },
		{ "vendor = \"management.nvidia.com/gpu\"; devices = [ \"all\" ];", "1", "no GPU of this host is a "
		    "device of kind management.nvidia.com/gpu: management.nvidia.com/gpu=all has nodes of several GPUs" GIVES },
		{ "vendor = \"management.nvidia.com/gpu\"; devices = [ \"0\" ];", "1", "no GPU of this host is one of the "
		    "management.nvidia.com/gpu devices that this rule names (gpuhelperctl cdi list)" },
		{ "vendor = \"nvidia.com/gpu\"; devices = [ \"7\" ];", "1", "no GPU of this host is one of the nvidia.com/gpu devices that "
		    "this rule names (gpuhelperctl cdi list)" },
		{ "vendor = \"nvidia.com/gpu\"; devices = [ \"1\" ];", "1", "GPU 0000:3c:00.0 can't be given: excluded by the driver" },
		{ "vendor = \"nvidia.com/gpu\"; devices = [ \"mig\" ];", "1", "GPU 0000:3d:00.0 has MIG instances: name those "
		    "(gpuhelperctl devices lists them), or say mig = \"whole\"" },
		{ "vendor = \"amd.com/gpu\";", "1", "GPU 0000:04:00.0 is integrated: to grant it, set allow_integrated = true in "
		    "gpuhelper.conf" },
		{ "vendor = \"nvidia.com/gpu\"; devices = [ \"part\" ]; mig = \"whole\";", "1", "the rule says mig = \"whole\", and "
		    "names only parts of GPU 0000:3d:00.0: name the GPU" },
		{ "vendor = \"nvidia.com/gpu\"; count = 3;", "3", "2 of the nvidia.com/gpu devices that this rule names can be given "
		    "(gpuhelperctl cdi list, gpuhelperctl devices)" },
		{ "vendor = \"intel.com/gpu\";", "1", "no GPU of this host is a device of kind intel.com/gpu: intel.com/gpu=x has no node of a GPU of "
		    "this host: no driver" GIVES },
		{ "vendor = \"intel.com/npu\";", "1", "no CDI spec has a device of kind intel.com/npu (gpuhelperctl cdi list): no driver" GIVES },
		{ "vendor = \"acme.com/gpu\";", "1", "no CDI spec has a device of kind acme.com/gpu (gpuhelperctl cdi list)" GIVES },
	};
	static const struct settings settings = { 0 };
	struct why why;
	size_t i;

	snprintf(inv.absent[GPU_INTEL], sizeof(inv.absent[GPU_INTEL]), "no driver");
	for (i = 0; i < COUNT(some); i++)
		strlist_add(&some[i].cdi, names[i], SIZE_MAX);
	for (i = 0; i < COUNT(others); i++)
		strlist_add(&inv.cdi_others, others[i], SIZE_MAX);
	for (i = 0; i < COUNT(t); i++) {
		autobuf struct buf text = { 0 }, says = { 0 };
		autopolicy struct policy p = { 0 };
		autogrant struct grant g = { 0 };
		autorequested struct requested a = { 0 };

		buf_printf(&text, "pipeline = \"team/pipe\";\ngpus = ( { %s } );", t[i].rule);
		buf_printf(&says, "p:2: %s", t[i].why);
		if (!load(&p, text.p) || !ok(requested_parse(t[i].gpus, NULL, &a, &why) == 0, "the request is read"))
			continue;
		if (ok(policy_decide(&p, &root, &a, &inv, &settings, &g, &why) == VERDICT_LACKS, "refused: %s", t[i].rule))
			is_str(why.text, says.p, "  the message says why");
	}
	for (i = 0; i < COUNT(some); i++)
		strlist_free(&some[i].cdi);
	strlist_free(&inv.cdi_others);
}

/* More GPUs than a want has room for. */
static void
test_many(void)
{
	static struct gpu many[100];
	const struct inventory inv = { .gpu = many, .gpus = COUNT(many) };
	static const struct settings settings = { 0 };
	autopolicy struct policy p = { 0 };
	autogrant struct grant g = { 0 };
	autorequested struct requested a = { 0 };
	struct why why;
	unsigned i;

	for (i = 0; i < COUNT(many); i++) {
		many[i] = (struct gpu){ .vendor = GPU_NVIDIA, .rank = i };
		snprintf(many[i].pci, sizeof(many[i].pci), "0000:%02x:00.0", i);
	}
	if (!load(&p, "pipeline = \"a/b\"; gpus = ( { vendor = \"nvidia\"; count = 64; } );"))
		return;
	requested_parse("64", NULL, &a, &why);
	ok(policy_decide(&p, &root, &a, &inv, &settings, &g, &why) == VERDICT_GRANT && g.gpu[0].n == 64 &&
	    g.gpu[0].count == 64, "64 of 100 GPUs are granted");
}

/*
 * The second implementation. From the parsed policy, the parsed request and the host it says what
 * is wrong with a grant, or returns NULL.
 */
struct reading {
	const struct policy *p;
	const struct client *who;
	const struct requested *a;
	const struct settings *s;
	const struct grant *g;
};

/* Whether this name means this GPU, for the names of the host's GPUs in the tables above. */
static bool
means(const char *name, size_t gpu)
{
	static const char *const spellings[COUNT(gpus)][6] = {
		{ "0", "0000:3b:00.0", "3b:00.0", UUID_A, "all", "3B:00.0" },
		{ "1", "0000:3c:00.0", "3c:00.0", "GPU-22222222-2222-3333-4444-555555555555", "all", "3C:00.0" },
		{ "0000:af:00.0", "af:00.0", "", "", "", "" },
		{ "0", "0000:03:00.0", "03:00.0", "0x1111222233334444", "all", "" },
		{ "1", "0000:04:00.0", "04:00.0", "all", "", "" },
	};
	size_t i;

	for (i = 0; i < 6; i++)
		if (spellings[gpu][i] != NULL && strcmp(spellings[gpu][i], name) == 0)
			return true;
	return false;
}

static bool
lists(const struct reading *r, const struct gpu_rule *rule, size_t gpu)
{
	size_t i;

	if (gpus[gpu].vendor != rule->vendor || gpu == 2 || (gpu == 4 && !r->s->allow_integrated))
		return false;
	for (i = 0; i < rule->devices.n; i++)
		if (means(rule->devices.v[i], gpu))
			return true;
	return rule->devices.n == 0;
}

static const char *
wrong_gpus(const struct reading *r)
{
	unsigned total = 0, per_rule[8] = { 0 }, asked = 0, least = UINT_MAX;
	size_t i, k, rule;

	for (i = 0; i < r->g->gpus; i++) {
		const struct gpu_grant *w = &r->g->gpu[i];

		rule = (size_t)(w->rule - r->p->gpu);
		if (rule >= r->p->gpus)
			return "a want has no rule of the policy";
		if (w->count == 0 || w->count > w->n)
			return "a want has a higher count than candidates";
		for (k = 0; k < w->n; k++)
			if (!lists(r, w->rule, (size_t)(w->candidate[k] - gpus)))
				return "a candidate is not in the rule";
		if (!r->who->rootful && !r->s->unenforced && w->rule->sharing == SHARING_EXCLUSIVE)
			return "a GPU is exclusive, and nothing enforces this";
		if (!r->who->rootful && !r->s->unenforced && w->rule->vendor == GPU_AMD && w->count < 2)
			return "only some AMD GPUs are given, and nothing enforces this";
		per_rule[rule] += w->count;
		total += w->count;
		least = w->rule->wait < least ? w->rule->wait : least;
	}
	for (i = 0; i < r->p->gpus; i++)
		if (per_rule[i] > r->p->gpu[i].count)
			return "more GPUs are given than the rule's count";
	if (total > 0 && r->g->wait != (least < r->s->max_wait ? least : r->s->max_wait))
		return "the wait is not the shortest";
	if (total == 0 && r->g->wait != 0)
		return "there is a wait without GPUs";
	if (r->a->everything || r->a->all_gpus)
		return NULL;
	for (i = 0; i < r->a->counts; i++)
		asked += r->a->count[i].n;
	return total != asked + r->a->gpu_ids.n ?
	    "the number of GPUs is not the requested one" : NULL;
}

/* Each GPU that is requested by name is a want of its own. */
static const char *
wrong_names(const struct reading *r)
{
	size_t i, k;

	for (i = 0; i < r->a->gpu_ids.n; i++) {
		for (k = 0; k < r->g->gpus; k++)
			if (r->g->gpu[k].n == 1 && means(r->a->gpu_ids.v[i],
			    (size_t)(r->g->gpu[k].candidate[0] - gpus)))
				break;
		if (k == r->g->gpus)
			return "a GPU that was requested by name is missing";
	}
	for (i = 0; i < r->a->gpu_ids.n; i++)
		for (k = 0; k < i; k++)
			if (r->g->gpu[i].candidate[0] == r->g->gpu[k].candidate[0])
				return "a GPU is given twice";
	return NULL;
}

/* Where a rule mounts a folder. Returns false if the rule does not give the folder. */
static bool
gives(const struct folder_rule *rule, const char *path, char target[256])
{
	const char *last = strrchr(rule->path, '/') + 1, *name = strrchr(path, '/') + 1;
	size_t n = strlen(rule->path), star = strcspn(last, "*");

	/* random_policy() makes only patterns of the form «xyz*» */
	if (last[star] == '*') {
		if (name - path != last - rule->path || strncmp(path, rule->path,
		    (size_t)(last - rule->path) + star) != 0 ||
		    *name == '.')
			return false;
		snprintf(target, 256, "%s/%s", rule->target, name);
	} else {
		if (strncmp(path, rule->path, n) != 0 || (path[n] != '\0' && (path[n] != '/' || !rule->subfolders)))
			return false;
		snprintf(target, 256, "%s%s", rule->target, path + n);
	}
	if (rule->target == NULL)
		snprintf(target, 256, "%s", path);
	return true;
}

/*
 * Whether this folder is really beneath the folder that it names as its base, and a rule gives that
 * one.
 */
static bool
beneath_rule(const struct reading *r, const struct folder_grant *w)
{
	size_t i, n = strlen(w->base);

	for (i = 0; i < r->p->folders; i++)
		if (r->p->folder[i].subfolders && strcmp(r->p->folder[i].path, w->base) == 0)
			return strncmp(w->path, w->base, n) == 0 && w->path[n] == '/';
	return false;
}

/* Whether a rule names exactly this path, literally or with a pattern. */
static bool
names_it(const struct reading *r, const char *path)
{
	char target[256];
	size_t i;

	for (i = 0; i < r->p->folders; i++)
		if (strcmp(r->p->folder[i].path, path) == 0 ||
		    (strchr(r->p->folder[i].path, '*') != NULL && gives(&r->p->folder[i], path, target)))
			return true;
	return false;
}

static const char *
wrong_folder(const struct reading *r, const struct folder_grant *w, const struct requested_folder *f)
{
	char target[256];
	bool given = false, writable = false;
	size_t i;

	for (i = 0; i < r->p->folders; i++)
		if (gives(&r->p->folder[i], w->path, target) && strcmp(target, w->target) == 0 &&
		    (!w->rule->submounts || r->p->folder[i].submounts)) {
			given = true;
			writable = writable || r->p->folder[i].writable;
		}
	if (!given)
		return "the policy does not give this folder at this place";
	if (w->base != NULL ? !beneath_rule(r, w) : !names_it(r, w->path))
		return "the folder is not the rule's own, and has no base";
	if (w->writable && !writable)
		return "the folder is writable, and the policy gives it read-only";
	if (strcmp(w->path, f->path) != 0)
		return "another folder was requested";
	if (w->writable && f->access == REQUESTED_RO)
		return "the folder is writable, and read-only was requested";
	if (!w->writable && f->access == REQUESTED_RW)
		return "the folder is read-only, and rw was requested";
	return NULL;
}

static const char *
wrong_folders(const struct reading *r)
{
	const char *wrong = NULL;
	size_t i;

	if (r->a->everything || r->a->all_folders) {
		if (r->g->folders != r->p->folders)
			return "a folder of the policy is missing";
		for (i = 0; i < r->g->folders; i++)
			if (strcmp(r->g->folder[i].path, r->p->folder[i].path) != 0 ||
			    r->g->folder[i].writable != r->p->folder[i].writable)
				return "a folder differs from the policy's";
		return NULL;
	}
	if (r->g->folders != r->a->folders)
		return "the number of folders is not the requested one";
	for (i = 0; i < r->g->folders && wrong == NULL; i++)
		wrong = wrong_folder(r, &r->g->folder[i], &r->a->folder[i]);
	return wrong;
}

/* A request gets at most what a request for everything gets. */
static const char *
wider_than_everything(const struct reading *r)
{
	static const struct requested everything = { .everything = true };
	autogrant struct grant all = { 0 };
	struct why why;
	size_t i, k, c, n;
	unsigned most;

	if (policy_decide(r->p, r->who, &everything, &host, r->s, &all, &why) != VERDICT_GRANT)
		return NULL;
	for (i = 0; i < r->g->gpus; i++) {
		for (k = 0, most = 0; k < all.gpus; k++) {
			if (all.gpu[k].rule != r->g->gpu[i].rule)
				continue;
			most += all.gpu[k].count;
			for (c = 0; c < r->g->gpu[i].n; c++) {
				for (n = 0; n < all.gpu[k].n && all.gpu[k].candidate[n] != r->g->gpu[i].candidate[c];
				    n++)
					;
				if (n == all.gpu[k].n)
					return
					    "a GPU is given that a request for everything does not "
					    "give";
			}
		}
		if (r->g->gpu[i].count > most)
			return "more GPUs are given than to a request for everything";
	}
	return NULL;
}

static const char *
wrong_grant(const struct reading *r)
{
	const char *wrong = wrong_gpus(r);

	wrong = wrong != NULL ? wrong : wrong_names(r);
	wrong = wrong != NULL ? wrong : wrong_folders(r);
	return wrong != NULL ? wrong : wider_than_everything(r);
}

/*
 * Whether this request should be granted. Answers only clear cases: one GPU rule, and a request for
 * counts or for everything.
 */
static bool
must_be_granted(const struct reading *r)
{
	const struct gpu_rule *rule = r->p->gpu;
	unsigned have = 0, asked = 0;
	char target[256];
	size_t i, k;

	if (r->p->gpus != 1 || r->a->gpu_ids.n > 0 || !r->who->rootful || r->a->all_folders)
		return false;
	for (i = 0; i < COUNT(gpus); i++)
		have += lists(r, rule, i);
	for (i = 0; i < r->a->counts; i++) {
		if (r->a->count[i].has_vendor && r->a->count[i].vendor != rule->vendor)
			return false;
		asked += r->a->count[i].n;
	}
	if ((r->a->everything || r->a->all_gpus) && have == 0)
		return false;
	if (asked > rule->count || asked > have)
		return false;
	for (i = 0; i < r->a->folders; i++) {
		for (k = 0; k < r->p->folders; k++)
			if (gives(&r->p->folder[k], r->a->folder[i].path, target) &&
			    (r->p->folder[k].writable || r->a->folder[i].access != REQUESTED_RW))
				break;
		if (k == r->p->folders)
			return false;
	}
	return true;
}

static void
random_policy(struct buf *b)
{
	static const char *const vendors[] = { "nvidia", "amd", "intel" };
	static const char *const names[] = { "0", "1", "all", "0000:3b:00.0", "3c:00.0", UUID_A, "0000:af:00.0",
	    "03:00.0",
		"0x1111222233334444", "0000:04:00.0" };
	static const char *const paths[] = { "/srv/a", "/srv/ab", "/srv", "/srv/a/b", "/srv/a*", "/srv/*", "/opt/x" };
	uint64_t n = rnd(4), i, k;
	const char *path;

	buf_puts(b, "pipeline = \"a/b\"; gpus = (");
	for (i = 0; i < n; i++) {
		buf_printf(b, "%s{ vendor = \"%s\"; count = %u; wait = %u; sharing = \"%s\";", i ? "," : "",
		    vendors[rnd(8) % 3],
		    (unsigned)rnd(3) + 1, (unsigned)rnd(4) * 100, rnd(2) ? "shared" : "exclusive");
		if (rnd(2)) {
			buf_printf(b, " devices = [ \"%s\"", names[rnd(COUNT(names))]);
			for (k = rnd(3); k > 0; k--)
				buf_printf(b, ", \"%s\"", names[rnd(COUNT(names))]);
			buf_puts(b, " ];");
		}
		buf_puts(b, "}");
	}
	buf_puts(b, "); folders = (");
	n = rnd(4);
	for (i = 0; i < n; i++) {
		path = paths[rnd(COUNT(paths))];
		buf_printf(b, "%s{ path = \"%s\"; access = \"%s\"; submounts = %s;", i ? "," : "", path, rnd(2) ? "ro" :
		    "rw",
		    rnd(2) ? "true" : "false");
		if (strchr(path, '*') == NULL && rnd(2))
			buf_puts(b, " subfolders = true;");
		if (rnd(3) == 0)
			buf_printf(b, " target = \"/t%u\";", (unsigned)rnd(3));
		buf_puts(b, "}");
	}
	buf_puts(b, ");");
}

static void
random_ask(struct buf *g, struct buf *f)
{
	static const char *const gpu[] = { "1", "2", "3", "amd:1", "nvidia:2", "intel:1", "0000:3b:00.0", "3c:00.0",
	    UUID_A,
		"0000:af:00.0", "03:00.0", "04:00.0", "0000:99:00.0" };
	static const char *const folder[] = { "/srv/a", "/srv/ab", "/srv", "/srv/a/b", "/srv/a/b/c", "/srv/.a", "/srvx",
	    "/srv/abc",
		"/opt/x", "/opt", "/t0" };
	static const char *const access[] = { "", ":ro", ":rw" };
	uint64_t i;

	if (rnd(5) == 0)
		buf_puts(g, rnd(2) ? "all" : "none");
	else
		for (i = rnd(4); i > 0; i--)
			buf_printf(g, "%s%s", g->len ? "," : "", gpu[rnd(rnd(2) ? 6 : COUNT(gpu))]);
	if (rnd(5) == 0)
		buf_puts(f, rnd(2) ? "all" : "none");
	else
		for (i = rnd(3); i > 0; i--)
			buf_printf(f, "%s%s%s", f->len ? "," : "", folder[rnd(COUNT(folder))], access[rnd(3)]);
}

/* Tries one request with one policy. Returns what is wrong with the verdict, or NULL. */
static const char *
try_random(const struct policy *p, const struct client *who, const struct settings *s, struct buf *what, bool *granted)
{
	autobuf struct buf g = { 0 }, f = { 0 };
	autogrant struct grant grant = { 0 };
	autorequested struct requested a = { 0 };
	static struct why why;
	enum verdict_kind v;

	why = (struct why){ 0 };
	*granted = false;
	random_ask(&g, &f);
	buf_printf(what, " [%s] [%s]", g.p ? g.p : "", f.p ? f.p : "");
	if (requested_parse(g.p, f.p, &a, &why) == -1)
		return NULL;
	v = policy_decide(p, who, &a, &host, s, &grant, &why);
	const struct reading r = { p, who, &a, s, &grant };

	*granted = v == VERDICT_GRANT;
	if (v == VERDICT_GRANT)
		return wrong_grant(&r);
	if (v != VERDICT_LACKS || why.text[0] == '\0')
		return "a request is refused without a reason";
	return must_be_granted(&r) ? why.text : NULL;
}

static void
test_random(void)
{
	unsigned wrong = 0, grants = 0, refusals = 0;
	int i, k;

	for (i = 0; i < 6000; i++) {
		const struct settings s = { .allow_integrated = rnd(2), .unenforced = rnd(2),
		    .max_wait = (unsigned)rnd(3) * 120 };
		const struct client who = { 0, "root", true, rnd(4) > 0 };
		autofaults struct faults faults = { 0 };
		autobuf struct buf text = { 0 };
		autopolicy struct policy p = { 0 };

		random_policy(&text);
		if (!policy_parse("p", text.p, text.len, &p, &faults)) {
			ok(false, "a random policy parses: %s", text.p);
			return;
		}
		for (k = 0; k < 8; k++) {
			autobuf struct buf what = { 0 };
			const char *bad;
			bool granted;

			bad = try_random(&p, &who, &s, &what, &granted);
			grants += granted;
			refusals += !granted;
			if (bad != NULL && wrong++ < 3)
				ok(false, "%s:%s: %s", text.p, what.p, bad);
		}
	}
	is_int(wrong, 0,
	    "48000 random requests: each grant has what the policy lists and the request asks for");
	ok(grants > 8000 && refusals > 8000,
	    "enough verdicts of both kinds come up (%u granted, %u refused)", grants, refusals);
}

#if !defined(__SANITIZE_ADDRESS__)
/* A decision as text, or NULL. */
static char *
decision(void)
{
	static const struct settings settings = { .max_wait = 60 };
	static struct policy p;
	static struct requested a;
	autogrant struct grant g = { 0 };
	enum verdict_kind v;
	struct why why;
	long keep = fail_at;
	char *says = NULL;

	fail_at = -1;
	if (p.name == NULL && (!load(&p, "pipeline = \"a/b\"; gpus = ( { vendor = \"nvidia\"; wait = 9; }, "
	    "{ vendor = \"amd\"; } ); folders = ( { path = \"/srv/a\"; target = \"/t\"; subfolders = true; }, "
	    "{ path = \"/srv/b\"; } );") || requested_parse("3c:00.0,amd:1", "/srv/a/c,/srv/b:ro", &a, &why) == -1))
		return NULL;
	fail_at = keep;
	v = policy_decide(&p, &root, &a, &host, &settings, &g, &why);
	keep = fail_at;
	fail_at = -1;
	if (v == VERDICT_GRANT)
		says = describe(&g);
	else if (v != VERDICT_LACKS || why.code != WHY_BUG)
		says = strdup("another verdict");
	fail_at = keep;
	return says;
}

static void
test_memory(void)
{
	starve("a decision is made", decision);
}
#else
static void
test_memory(void)
{
	skip("when memory runs out", "a sanitizer has its own allocator");
}
#endif

/*
 * A long value is truncated between two characters, never inside an escape, which would change its
 * meaning.
 */
static void
check_described(void)
{
	static const struct { const char *unit, *what; } of[] = {
		{ "x", "letters" }, { "\\u001b", "escapes" }, { "\\\"", "quotes" }, { "\xc3\xa4",
		    "two-byte characters" },
	};
	char value[400], out[80], whole[80];
	size_t i, n;

	for (i = 0; i < COUNT(of); i++) {
		n = strlen(of[i].unit);
		strcpy(value, "\"a");
		while (strlen(value) + n < 200)
			strcat(value, of[i].unit);
		strcat(value, "\"");
		instance_var_describe(value, out);
		snprintf(whole, sizeof(whole), "%.*s\"", (int)(2 + 59 / n * n), value);
		ok(strcmp(out, whole) == 0,
		    "a long value of %s is truncated between two of them: %s", of[i].what, out);
	}
	instance_var_describe("\"dev\"", out);
	ok(strcmp(out, "\"dev\"") == 0, "a short value is shown whole");
}

int
main(void)
{
	check_described();
	inventory_rank(&host);
	snprintf(host.absent[GPU_INTEL], sizeof(host.absent[GPU_INTEL]), "no driver");
	test_covers();
	test_covers_claims();
	test_covers_odd();
	test_covers_one_issuer();
	test_instance_vars();
	test_vendors();
	test_gpus();
	test_integrated();
	test_unenforced();
	test_folders();
	test_partitions();
	test_kinds();
	test_many();
	test_random();
	test_memory();
	return done_testing();
}
