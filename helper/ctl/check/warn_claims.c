/*
 * See warn_parts.h: what the tokens of each CI do not say by themselves. A policy that does not ask for it covers jobs
 * that its author hardly means: a pull request's, a fork's, another organization's. The claims are those of the CIs'
 * manuals; a CI is known by its issuer's URL, or by the claim that names its projects.
 */
#include <string.h>

#include "../../base/text.h"
#include "../../judge/claimvalue.h"
#include "../../policy/claimsetadd.h"
#include "../ctl.h"
#include "warn.h"
#include "warn_parts.h"

enum ci {
	CI_GITHUB = 1, CI_FORGEJO = 2, CI_GITLAB = 4, CI_BUILDKITE = 8, CI_CIRCLECI = 16, CI_BITBUCKET = 32,
};

#define FORGEJO_PATH "/api/actions"

static bool
named(const char *claim, const char *name)
{
	return claim != NULL && strcmp(claim, name) == 0;
}

/* 0: Concourse, or a CI that this file does not know. */
static unsigned
ci_of(const struct issuer_setting *i)
{
	if (ends_with(i->url, FORGEJO_PATH))
		return CI_FORGEJO;
	if (strstr(i->url, "://token.actions.") != NULL || ends_with(i->url, "/_services/token") ||
	    named(i->claims.pipeline, "repository"))
		return CI_GITHUB;
	if (text_starts(i->url, "https://agent.buildkite.com"))
		return CI_BUILDKITE;
	if (text_starts(i->url, "https://oidc.circleci.com/"))
		return CI_CIRCLECI;
	if (text_starts(i->url, "https://api.bitbucket.org/"))
		return CI_BITBUCKET;
	return named(i->claims.pipeline, "project_path") || named(i->claims.team, "namespace_path") ? CI_GITLAB : 0;
}

/* True if the policy asks for this claim. One that takes any text says nothing. */
static bool
policy_asks(const struct policy *p, const char *name)
{
	bool asks = false;
	size_t i;

	for (i = 0; i < p->claims.name.n; i++)
		if (strcmp(p->claims.name.v[i], name) == 0) {
			if (strcmp(p->claims.value.v[i], "\"*") == 0)
				return false;
			asks = true;
		}
	return asks;
}

static bool
asks_for(const struct policy *p, const struct issuer_setting *i, const char *name)
{
	return policy_asks(p, name) || claim_set_value(&i->claims.require, name) != NULL ||
	    (named(i->claims.team, name) && strcmp(p->team, "*") != 0) ||
	    (named(i->claims.pipeline, name) && strcmp(p->pipeline, "*") != 0);
}

/* True if the policy takes this text as the value of a claim that it asks for. */
static bool
takes(const struct policy *p, const char *name, const char *text)
{
	size_t i;

	for (i = 0; i < p->claims.name.n; i++)
		if (strcmp(p->claims.name.v[i], name) == 0 && claim_value_matches(text, p->claims.value.v[i]))
			return true;
	return false;
}

#define NEEDS_MAX 3

static const struct trap {
	unsigned ci;
	const char *needs[NEEDS_MAX];	/* one of these claims will do */
	const char *text;
} traps[] = {
	{ CI_GITHUB | CI_FORGEJO, { "event_name" },
	    "without event_name it covers pull requests: their tokens name the same repository, and those of "
	    "pull_request_target have the ref of its base. Say event_name = \"push\"" },
	{ CI_GITHUB | CI_FORGEJO, { "ref" },
	    "without ref it covers every branch and tag, so whoever may push any writes what runs here. Say ref = "
	    "\"refs/heads/main\"" },
	{ CI_GITHUB | CI_FORGEJO, { "repository_id", "repository_owner_id" },
	    "without repository_id or repository_owner_id it covers whoever registers the name of the owner or "
	    "repository anew: a name can become free, an id can't" },
	{ CI_GITLAB, { "ref_protected" },
	    "without ref_protected it covers every branch and merge request, so whoever may push any writes what runs"
	    " here. Say ref_protected = \"true\"" },
	{ CI_GITLAB, { "job_project_id" },
	    "without job_project_id (from GitLab 18.3) it does not say where the job runs: a fork's merge request can"
	    " run in the parent project, on its runners" },
	{ CI_GITLAB, { "project_id", "namespace_id", "job_project_id" },
	    "without project_id it covers whoever registers the name of the group or project anew: a name can become "
	    "free, an id can't" },
	{ CI_BUILDKITE, { "organization_slug", "organization_id" },
	    "without organization_id it covers every organization: one issuer signs for all of Buildkite" },
	{ CI_BUILDKITE, { "organization_id", "pipeline_id" },
	    "without organization_id or pipeline_id it covers whoever registers the name anew: request the token with"
	    " --claim organization_id,pipeline_id" },
	{ CI_CIRCLECI, { "oidc.circleci.com/vcs-origin" },
	    "without oidc.circleci.com/vcs-origin it covers pull requests of forks, where their builds get secrets: "
	    "they have the same project" },
	{ CI_CIRCLECI, { "oidc.circleci.com/project-id" },
	    "without oidc.circleci.com/project-id it covers whoever registers the name of the repository anew: a name"
	    " can become free, an id can't" },
	{ CI_BITBUCKET, { "branchName", "deploymentEnvironmentUuid" },
	    "without branchName or deploymentEnvironmentUuid it covers every branch, so whoever may push any writes "
	    "what runs here" },
};

static void
warn_missing(struct checked *c, const struct issuer_setting *i, unsigned ci, unsigned line)
{
	const struct trap *t;
	size_t k;

	for (t = traps; t < traps + sizeof(traps) / sizeof(traps[0]); t++) {
		if ((t->ci & ci) == 0)
			continue;
		for (k = 0; k < NEEDS_MAX && t->needs[k] != NULL && !asks_for(&c->policy, i, t->needs[k]); k++)
			;
		if (k == NEEDS_MAX || t->needs[k] == NULL)
			fault_add(&c->faults, line, true, "%s", t->text);
	}
}

/* Warns of claims that say less than they seem to. */
static void
warn_present(struct checked *c, const struct issuer_setting *i, unsigned ci, unsigned line)
{
	const struct policy *p = &c->policy;

	if (ci == CI_GITHUB && asks_for(p, i, "job_workflow_ref") && !asks_for(p, i, "repository_id") &&
	    !asks_for(p, i, "repository_owner_id"))
		fault_add(&c->faults, line, true, "job_workflow_ref names the workflow that is called, not who calls it: without "
		    "repository_owner_id or repository_id, another owner's repository can call it");
	if ((ci & (CI_GITHUB | CI_FORGEJO)) != 0 && takes(p, "event_name", "\"pull_request_target"))
		fault_add(&c->faults, line, true, "event_name takes pull_request_target: its ref is that of the base, whatever the "
		    "pull request makes the job check out and run");
	if (ci == CI_BUILDKITE && asks_for(p, i, "build_branch") && !asks_for(p, i, "build_tag"))
		fault_add(&c->faults, line, true, "build_branch is also the name of a tag: add "
		    "{ claim = \"build_tag\"; absent = true; }");
}

void
warn_claims(struct checked *c, const struct settings *settings)
{
	const struct policy *p = &c->policy;
	unsigned line = key_line(c, "claims"), ci;
	size_t i;

	for (i = 0; p->identity == IDENTITY_TOKEN && i < settings->issuers; i++) {
		if (p->issuer != NULL ? strcmp(p->issuer, settings->issuer[i].url) != 0 : settings->several_issuers)
			continue;
		ci = ci_of(&settings->issuer[i]);
		line = line != 0 ? line : key_line(c, "pipeline");
		warn_missing(c, &settings->issuer[i], ci, line);
		warn_present(c, &settings->issuer[i], ci, line);
	}
}

void
warn_turns(struct checked *c, const struct issuer_setting *i)
{
	static const struct {
		unsigned ci;
		const char *claim;
	} jobs[] = {
		{ CI_GITHUB, "check_run_id" }, { CI_GITLAB, "job_id" }, { CI_BUILDKITE, "job_id" }, { CI_BITBUCKET, "stepUuid" },
		{ CI_FORGEJO, "run_id" },
	};
	size_t k;

	for (k = 0; i->claims.reuse_by != NULL && k < sizeof(jobs) / sizeof(jobs[0]); k++)
		if (jobs[k].ci == ci_of(i) && strcmp(jobs[k].claim, i->claims.reuse_by) != 0)
			fault_add(&c->faults, i->line, true, "reuse_by = \"%.80s\": containers of several jobs would wait for each other if "
			    "their tokens share that claim, and one job could use another's token; this CI names the job in \"%s\"",
			    i->claims.reuse_by, jobs[k].claim);
}
