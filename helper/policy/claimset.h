/*
 * Claims of tokens, by name: those that a token has, or those that gpuhelper.conf or a policy requires. A value is text
 * that shows its type: a string is a quotation mark and then its bytes; a whole number is decimal; a boolean is «true»
 * or «false». The words «list», «group» and «fraction» stand for values that nobody can require. «absent» says that a
 * token does not have the claim, so that this is told from a set that does not know; where «absent» is required, null
 * will do as well.
 */
#ifndef GPUHELPER_POLICY_CLAIMSET_H
#define GPUHELPER_POLICY_CLAIMSET_H

#include "../base/lines.h"
#include "../base/text.h"

/* In a policy a name may be there several times: each of its values will do. */
struct claim_set {
	struct strlist name, value;
};

void claim_set_free(struct claim_set *s);

/* As lines of this name (lines.h), none for an empty set. */
void claim_set_lines(struct lines *t, const char *line, struct claim_set *s);

#endif
