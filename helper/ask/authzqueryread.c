/* See authzquery.h: what only gpuhelper-engine calls. The helper does not link this file. */
#include <stdlib.h>
#include <string.h>

#include "authzquery.h"
#include "enginequery.h"
#include "enginequeryread.h"

bool
authz_query_unpack(const char *question, size_t size, struct authz_query *a, const char **read, size_t *len)
{
	struct lines t;

	*a = (struct authz_query){ .now = 0 };
	if (!unpack_with(question, size, &t, read, len))
		return false;
	authz_query_lines(&t, a);
	return lines_finish(&t);
}

void
authz_query_free(struct authz_query *a)
{
	struct untrusted *w = &a->untrusted;
	char *const text[] = { (char *)(uintptr_t)a->who.user, w->team, w->pipeline, w->job, w->instance_vars, w->gpus,
		w->folders, w->cuda_visible, w->rocr_visible, a->packed_attribution };
	size_t i;

	for (i = 0; i < sizeof(text) / sizeof(text[0]); i++)
		free(text[i]);
	if (w->token != NULL)
		explicit_bzero(w->token, strlen(w->token));
	free(w->token);
	found_keys_free(a->keys, a->issuers);
	*a = (struct authz_query){ .now = 0 };
}
