/*
 * What gpuhelper-read has parsed, as lines (lines.h): settings and policies (tablespec.h: CDI specs). Each function
 * writes or reads a value; a value that was read must be freed in any case. tablecheck.h checks whether the contents
 * are allowed.
 */
#ifndef GPUHELPER_ASK_TABLE_H
#define GPUHELPER_ASK_TABLE_H

#include "../base/lines.h"
#include "../policy/policyset.h"
#include "../policy/settings.h"

void settings_lines(struct lines *t, struct settings *s);
/* The words of one issuer, and further lines. */
void issuer_lines(struct lines *t, struct issuer_setting *i);
/* The words of one rule, a struct gpu_rule. */
void gpu_rule_words(struct lines *t, void *rule);
/* The same for a struct folder_rule. */
void folder_rule_words(struct lines *t, void *rule);
/* What a policy gives: quotas, rules, label, variables. For whom it is, and its name, are not among these lines. */
void policy_terms_lines(struct lines *t, struct policy *p);
void policy_set_lines(struct lines *t, struct policy_set *s);

#endif
