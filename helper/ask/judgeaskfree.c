/* Frees a question that gpuhelper-judge has read (judgeask.h, grantask.h). */
#include <stdlib.h>

#include "judgeask.h"

void
grant_ask_free(struct grant_ask *a)
{
	const char *text[] = { a->who.user, a->gpus, a->folders, a->cuda_visible, a->rocr_visible };
	size_t i;

	for (i = 0; i < sizeof(text) / sizeof(text[0]); i++)
		free((char *)(uintptr_t)text[i]);
	origin_free(&a->origin);
	policy_set_free(&a->policies);
	inventory_free(&a->inventory);
	*a = (struct grant_ask){ .gpus = NULL };
}

void
judge_ask_free(struct judge_ask *a)
{
	size_t i;

	for (i = 0; i < a->issuers; i++)
		issuer_setting_free(&a->issuer[i]);
	free(a->issuer);
	grant_ask_free(&a->grant);
	found_keys_free(a->keys, a->issuers);
	free(a->text);
	*a = (struct judge_ask){ .verb = a->verb };
}
