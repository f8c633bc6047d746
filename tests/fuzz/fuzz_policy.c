/*
 * libFuzzer entry for helper/read/{conf,policyread}.c and helper/judge/match.c: every file is a policy or has a
 * reported fault, and a policy gives no more than it may.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../helper/ask/parsed.h"
#include "../../helper/ask/parsedcheck.h"
#include "../../helper/base/path.h"
#include "../../helper/judge/match.h"
#include "../../helper/read/conf/policyread.h"
#include "ask/parsedpolicy.h"
#include "fuzz.h"
#include "libconfig_leak.h"
#include "policy/claimsetadd.h"
#include "policy/faultsrefuse.h"
#include "policy/policydecide.h"

static struct gpu gpus[] = {
	{ .vendor = GPU_NVIDIA, .pci = "0000:3b:00.0", .uuid = "GPU-11111111-2222-3333-4444-555555555555" },
	{ .vendor = GPU_NVIDIA, .pci = "0000:3c:00.0" },
	{ .vendor = GPU_AMD, .pci = "0000:03:00.0", .uuid = "0x1111222233334444" },
	{ .vendor = GPU_INTEL, .pci = "0000:00:02.0", .integrated = true },
};

static void
check_claims(const struct policy *p)
{
	const char *value;
	size_t i;

	must(p->claims.name.n == p->claims.value.n && p->claims.name.n <= CLAIMS_MAX);
	must(p->claims.name.n == 0 || (p->issuer != NULL && p->identity == IDENTITY_TOKEN));
	for (i = 0; i < p->claims.name.n; i++) {
		value = p->claims.value.v[i];
		must(*p->claims.name.v[i] != '\0' && strcmp(p->claims.name.v[i], "sub") != 0 && strcmp(p->claims.name.v[i], "iss") != 0);
		must((*value == '"' && value[1] != '\0') || strcmp(value, "true") == 0 || strcmp(value, "false") == 0 ||
		    strcmp(value, "absent") == 0 || value[strspn(value, "-0123456789")] == '\0');
	}
}

static void
check_folders(const struct policy *p)
{
	const struct folder_rule *r;
	struct why why;
	size_t i;

	for (i = 0; i < p->folders; i++) {
		r = &p->folder[i];
		must(r->path != NULL && path_check(r->path, &why) == 0 && strcmp(r->path, "/") != 0);
		must(r->target == NULL || (path_check(r->target, &why) == 0 && !glob_is(r->target)));
		must(!glob_match(r->path, "/proc") && !glob_match(r->path, "/sys") && !glob_match(r->path, "/dev") &&
		    !glob_match(r->path, "/etc") && !glob_match(r->path, "/run") && !glob_match(r->path,
		    "/etc/gpuhelper") &&
		    !glob_match(r->path, "/run/gpuhelper"));
		must(!path_is_beneath(r->path, "/proc") && !path_is_beneath(r->path, "/run/gpuhelper"));
	}
}

static void
check_policy(const struct policy *p)
{
	static const struct client root = { 0, "root", true, true };
	static const struct identity id = { IDENTITY_TOKEN, "a", "b", "c", NULL, NULL, NULL };
	static const struct requested everything = { .everything = true };
	static const struct settings settings = { .max_wait = 60, .allow_integrated = true };
	const struct inventory inv = { .gpu = gpus, .gpus = sizeof(gpus) / sizeof(gpus[0]) };
	struct grant g;
	struct why why;
	size_t i, k;

	must((p->identity == IDENTITY_CALLER) == (p->pipeline == NULL) && (p->team == NULL) == (p->pipeline == NULL));
	must(p->jobs.n > 0 || !p->has_jobs);
	for (i = 0; i < p->gpus; i++)
		must(p->gpu[i].has_vendor && p->gpu[i].count >= 1 && p->gpu[i].count <= 64 && p->gpu[i].wait <= 86400 &&
		    (p->gpu[i].share_limit == 0 || p->gpu[i].sharing == SHARING_SHARED) &&
		    (p->gpu[i].nodes == 0 || p->gpu[i].kind != NULL));
	for (i = 0; i < p->env.n; i++)
		must(strchr(p->env.v[i], '=') != NULL && strncmp(p->env.v[i], "GPUHELPER_", 10) != 0);
	check_claims(p);
	check_folders(p);
	(void)policy_covers(p, &root, &id, &settings, &why);
	if (policy_decide(p, &root, &everything, &inv, &settings, &g, &why) == VERDICT_GRANT) {
		must(g.wait <= 60 && g.folders == p->folders);
		for (i = 0; i < g.gpus; i++)
			for (k = 0; k < g.gpu[i].n; k++)
				must(g.gpu[i].count <= g.gpu[i].n &&
				    g.gpu[i].candidate[k]->vendor == g.gpu[i].rule->vendor);
	}
	grant_free(&g);
}

/* The helper accepts what its reader makes of the file. */
static void
check_table(const struct policy *p)
{
	struct policy_entry e = { .policy = *p };
	struct policy_set set = { &e, 1 }, back = { 0 };
	struct settings settings = { .max_wait = 1 };
	struct buf b = { 0 }, again = { 0 };
	struct lines out = { .out = &b }, in, more = { .out = &again };
	struct why why;

	must(parsed_check(&settings, &set, &why) == 0);
	policy_set_lines(&out, &set);
	must(lines_finish(&out));
	in = (struct lines){ .at = b.p, .end = b.p + b.len };
	policy_set_lines(&in, &back);
	must(lines_finish(&in) && back.n == 1);
	policy_set_lines(&more, &back);
	must(lines_finish(&more) && again.len == b.len && memcmp(again.p, b.p, b.len) == 0);
	policy_set_free(&back);
	buf_free(&again);
	buf_free(&b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct faults f = { 0 };
	struct policy p;
	struct why why;
	char *text = malloc(size + 1);

	if (text == NULL)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	if (policy_parse("10-x.conf", text, size, &p, &f)) {
		must(f.errors == 0);
		check_policy(&p);
		check_table(&p);
	} else {
		must(f.errors > 0 && f.n > 0);
		must(faults_refuse(&f, "10-x.conf", &why) == -1 && why.code == WHY_CONFIG);
		must(text_is_utf8(why.text, strlen(why.text)) && strchr(why.text, '\n') == NULL);
	}
	policy_free(&p);
	faults_free(&f);
	free(text);
	return 0;
}
