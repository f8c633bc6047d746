/* See instancevars.h. Must parse no JSON. */
#include "instancevars.h"

void
instance_vars_free(struct instance_vars *v)
{
	strlist_free(&v->name);
	strlist_free(&v->value);
	v->there = false;
}
