/*
 * Checks values that no file may have. Nobody can check that an administrator wrote what gpuhelper-read
 * (root/child/reader.h) reports, but gpuhelper-engine checks that an administrator may write it; of the settings, and
 * of the policy that grants, so does the helper.
 */
#ifndef GPUHELPER_ASK_PARSEDCHECK_H
#define GPUHELPER_ASK_PARSEDCHECK_H

#include "../base/why.h"
#include "../policy/policyset.h"
#include "../policy/settings.h"

/* 0, or -1 with *why of WHY_BUG, because the parser should have refused the value. */
int parsed_check(const struct settings *s, const struct policy_set *p, struct why *why);
/* The same for the settings alone. */
int parsed_check_settings(const struct settings *s, struct why *why);
/* The same for what a policy gives, whomever it is for. */
int parsed_check_grants(const struct policy *p, struct why *why);

/* Used by the checks. Always -1. */
int parsed_refuse(const char *file, const char *what, struct why *why);
#define TABLE_SECONDS_MAX 86400

#endif
