/* Frees a question that gpuhelper-engine has read (pickquery.h). The helper does not link this file. */
#include <stdlib.h>

#include "enginequeryread.h"
#include "pickquery.h"

static void
free_earlier(struct earlier *e)
{
	size_t i;

	free(e->id);
	free(e->pipeline);
	free(e->policy);
	for (i = 0; i < e->demands; i++)
		free(e->demand[i].candidate);
	free(e->demand);
}

void
pick_query_free(struct pick_query *a)
{
	size_t i;

	for (i = 0; i < a->holders; i++) {
		free(a->holder[i].id);
		free(a->holder[i].pipeline);
		free(a->holder[i].policy);
		free(a->holder[i].gpu);
	}
	for (i = 0; i < a->before; i++)
		free_earlier(&a->earlier[i]);
	free(a->holder);
	free(a->earlier);
	free(a->openers.v);
	free(a->from);
	free(a->drained);
	free(a->pipeline);
	*a = (struct pick_query){ .demands = 0 };
}
