/* See engineask.h: what only gpuhelper-engine calls. The helper does not link this file. */
#include <stdlib.h>
#include <string.h>

#include "engineask.h"

bool
engine_specs_unpack(const char *question, size_t size, struct engine_specs *s, const char **answer, size_t *len)
{
	struct lines t;
	uint64_t head;

	*s = (struct engine_specs){ .n = 0 };
	if (size < sizeof(head))
		return false;
	memcpy(&head, question, sizeof(head));
	question += sizeof(head);
	size -= sizeof(head);
	if (head > size)
		return false;
	t = (struct lines){ .at = question, .end = question + head };
	engine_specs_lines(&t, s);
	*answer = question + head;
	*len = size - head;
	return lines_finish(&t);
}

void
engine_specs_free(struct engine_specs *s)
{
	size_t i;

	for (i = 0; i < s->n; i++) {
		free(s->v[i].path);
		strlist_free(&s->v[i].problems);
	}
	free(s->v);
	strlist_free(&s->problems);
	*s = (struct engine_specs){ .n = 0 };
}

void
engine_ask_free(struct engine_ask *a)
{
	size_t i;

	for (i = 0; i < a->wants; i++) {
		free(a->want[i].rule.kind);
		strlist_free(&a->want[i].rule.devices);
	}
	free(a->want);
	inventory_free(&a->inventory);
	*a = (struct engine_ask){ .wants = 0 };
}
