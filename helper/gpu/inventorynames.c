/* See inventorynames.h: what CDI specs say. The helper does not link this file. */
#include "inventorynames.h"

#include "inventorylines.h"

void
inventory_names_lines(struct lines *t, struct inventory *inv)
{
	size_t i;

	lines_begin(t, "problems");
	fields_list(t, &inv->cdi_problem);
	lines_begin(t, "kinds");
	fields_list(t, &inv->cdi_problem_kind);
	if (inv->cdi_problem.n != inv->cdi_problem_kind.n)
		t->failed = true;
	for (i = 0; i < inv->gpus && !t->failed; i++) {
		lines_begin(t, "names");
		fields_list(t, &inv->gpu[i].cdi);
	}
	lines_begin(t, "others");
	fields_list(t, &inv->cdi_others);
}
