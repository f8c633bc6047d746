/* See cdiproblem.h. */
#include "cdiproblem.h"

#include <string.h>

#include "../gpu/extranode.h"
#include "../gpu/extraword.h"

bool
cdi_problem_add(struct inventory *inv, const char *kind, const char *text)
{
	return strlist_has(&inv->cdi_problem_kind, kind) ||
	    (strlist_add(&inv->cdi_problem, text, SIZE_MAX) && strlist_add(&inv->cdi_problem_kind, kind, SIZE_MAX));
}

bool
cdi_kind_may_have(const char *kind, enum gpu_vendor v)
{
	const char *vendor = gpu_vendor_name(v), *slash = strchr(kind, '/'), *domain;
	const size_t len = strlen(vendor);

	if (slash == NULL)
		return true;
	if ((size_t)(slash - kind) < len + strlen(".com"))
		return false;
	domain = slash - strlen(".com") - len;
	return strncmp(domain, vendor, len) == 0 && strncmp(domain + len, ".com", strlen(".com")) == 0 &&
	    (domain == kind || domain[-1] == '.') && extra_kind_word(kind) == 0;
}

const char *
cdi_problem_of_gpus(const struct inventory *inv, enum gpu_vendor v)
{
	size_t i;

	for (i = 0; i < inv->cdi_problem_kind.n; i++)
		if (cdi_kind_may_have(inv->cdi_problem_kind.v[i], v))
			return inv->cdi_problem.v[i];
	return NULL;
}
