/* See cdiproblem.h: for the judge. The helper does not link this file. */
#include <string.h>

#include "cdiproblem.h"

const char *
cdi_problem_of_kind(const struct inventory *inv, const char *kind)
{
	size_t i;

	for (i = 0; i < inv->cdi_problem_kind.n; i++)
		if (inv->cdi_problem_kind.v[i][0] == '\0' || strcmp(inv->cdi_problem_kind.v[i], kind) == 0)
			return inv->cdi_problem.v[i];
	return NULL;
}
