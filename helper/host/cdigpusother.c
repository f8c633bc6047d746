/* See cdigpus.h. */
#include <stdio.h>

#include "../pure/cdigpu.h"
#include "../pure/furthernode.h"
#include "cdigpus.h"

bool
cdigpus_note_other(const struct cdi_entry *e, struct inventory *inv)
{
	struct strlist *l = &inv->cdi_others;
	const char *kind = e->file->spec.kind;
	char line[256];

	/* no device of such a kind is a GPU, which a rule's vendor says without its devices */
	if (further_kind_word(kind) != 0)
		return true;
	/* devices of a kind follow one another */
	if (l->n > 0 && cdi_name_is_of(l->v[l->n - 1], kind))
		return true;
	snprintf(line, sizeof(line), "%.200s %s", e->name, cdi_no_gpu(e->device, inv));
	return strlist_add(l, line, SIZE_MAX);
}
