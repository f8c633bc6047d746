/* See policy.h. */
#include "policy.h"

const char *
gpu_rule_vendor(const struct gpu_rule *r)
{
	return r->kind != NULL ? r->kind : gpu_vendor_name(r->vendor);
}
