/*
 * What gpuhelper-read has parsed, as lines (lines.h): settings and policies (parsedspec.h: CDI specs). Each function
 * writes or reads a value; a value that was read must be freed in any case. parsedcheck.h checks whether the contents
 * are allowed.
 */
#ifndef GPUHELPER_ASK_PARSED_H
#define GPUHELPER_ASK_PARSED_H

#include "../base/lines.h"
#include "../policy/policyset.h"
#include "../policy/settings.h"

void settings_lines(struct lines *t, struct settings *s);
/* The fields of one issuer, and further lines. */
void issuer_lines(struct lines *t, struct issuer_setting *i);
/* The fields of one rule, a struct gpu_rule. */
void gpu_rule_fields(struct lines *t, void *rule);
/* The same for a struct folder_rule. */
void folder_rule_fields(struct lines *t, void *rule);
/* What a policy gives: quotas, rules, label, variables. For whom it is, and its name, are not among these lines. */
void policy_grants_lines(struct lines *t, struct policy *p);
/* The fields of a struct policy_entry, and further lines: its name, and the folders that it gives for writing. */
void writer_lines(struct lines *t, void *entry);

#endif
