/* Frees a question that gpuhelper-judge has read (judgequery.h, grantquery.h). */
#include <stdlib.h>

#include "judgequery.h"

void
grant_query_free(struct grant_query *a)
{
	const char *text[] = { a->who.user, a->gpus, a->folders, a->cuda_visible, a->rocr_visible };
	size_t i;

	for (i = 0; i < sizeof(text) / sizeof(text[0]); i++)
		free((char *)(uintptr_t)text[i]);
	principal_free(&a->principal);
	policy_set_free(&a->policies);
	inventory_free(&a->inventory);
	*a = (struct grant_query){ .gpus = NULL };
}

void
judge_query_free(struct judge_query *a)
{
	size_t i;

	for (i = 0; i < a->issuers; i++)
		issuer_setting_free(&a->issuer[i]);
	free(a->issuer);
	grant_query_free(&a->grant);
	found_keys_free(a->keys, a->issuers);
	free(a->text);
	*a = (struct judge_query){ .verb = a->verb };
}
