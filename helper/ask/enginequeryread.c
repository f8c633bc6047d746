/* See enginequeryread.h: what only gpuhelper-engine calls. The helper does not link this file. */
#include "enginequeryread.h"

#include <stdlib.h>
#include <string.h>

bool
unpack_with(const char *message, size_t size, struct lines *t, const char **bytes, size_t *len)
{
	uint64_t head;

	if (size < sizeof(head))
		return false;
	memcpy(&head, message, sizeof(head));
	message += sizeof(head);
	size -= sizeof(head);
	if (head > size)
		return false;
	*t = (struct lines){ .at = message, .end = message + head };
	*bytes = message + head;
	*len = size - head;
	return true;
}

void
engine_query_free(struct engine_query *a)
{
	struct edits folders = { .mount = a->folder, .mounts = a->folders };

	pick_query_free(&a->pick);
	free(a->granted);
	edits_free(&folders);
	*a = (struct engine_query){ .verb = ENGINE_AUTHZ };
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
