/* A file of requests, each with the outcome that an administrator expects of the policies. */
#ifndef GPUHELPER_CTL_POLICYTEST_H
#define GPUHELPER_CTL_POLICYTEST_H

#include "../pure/conffault.h"
#include "../pure/text.h"

/* Strings are NULL where the file does not say them. */
struct policy_test {
	unsigned line;
	char *name;
	char *pipeline, *job, *instance_vars, *identity, *issuer;	/* as explain's options of these names */
	char *gpus, *folders, *user;
	unsigned expect;		/* an enum outcome (inquiry.h) */
	char *policy;			/* the file that must grant */
	char *reason;			/* a part of what a refusal must say */
	bool has_gpus, has_folders;	/* a grant must have these, and no others: */
	unsigned given_gpus;
	struct strlist given_folders;	/* "PATH:ro" or "PATH:rw" */
};

struct policy_tests {
	struct policy_test *v;
	size_t n;
};

/* Reads the text.  False where anything is wrong: *f says what.  policy_tests_free() in either case. */
bool policy_tests_parse(const char *text, size_t len, struct policy_tests *out, struct faults *f);
void policy_tests_free(struct policy_tests *t);
#define autopolicytests __attribute__((cleanup(policy_tests_free)))

#endif
