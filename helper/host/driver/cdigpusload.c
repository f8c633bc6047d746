/* See cdigpus.h: for programs that load the specs in one step. The helper does not link this file. */
#include "cdigpus.h"

int
cdigpus_load(cdi_parser *parse, struct cdi_registry *r, struct inventory *inv, struct why *why)
{
	return cdi_registry_load(CDI_DIRS, true, parse, r, why) == -1 ? -1 : cdigpus_name(r, inv, why);
}
