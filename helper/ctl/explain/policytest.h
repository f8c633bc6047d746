/* A file of tests for the policies: requests, and the outcomes that the administrator expects. */
#ifndef GPUHELPER_CTL_EXPLAIN_POLICYTEST_H
#define GPUHELPER_CTL_EXPLAIN_POLICYTEST_H

#include "../../base/text.h"
#include "../../policy/conffault.h"

/* Strings that the file does not set are NULL. */
struct policy_test {
	unsigned line;
	char *name;
	char *pipeline, *job, *instance_vars, *claims, *identity, *issuer;	/* as the options of «explain» */
	char *gpus, *folders, *user;
	bool privileged;		/* the container is */
	unsigned expect;		/* an enum outcome (inquiry.h) */
	char *policy;			/* the name of the policy that must grant */
	char *reason;			/* text that the refusal must contain */
	bool has_gpus, has_folders;	/* the grant must be exactly given_gpus, given_folders */
	unsigned given_gpus;
	struct strlist given_folders;	/* "PATH:ro" or "PATH:rw" */
};

struct policy_tests {
	struct policy_test *v;
	size_t n;
};

/* Parses the text.  False if it has errors, which are in *f.  The caller calls policy_tests_free() in any case. */
bool policy_tests_parse(const char *text, size_t len, struct policy_tests *out, struct faults *f);
void policy_tests_free(struct policy_tests *t);
#define autopolicytests __attribute__((cleanup(policy_tests_free)))

#endif
