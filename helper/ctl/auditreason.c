/* See auditreason.h. */
#include "auditreason.h"

const struct audit_reason audit_reasons[AUDIT_REASONS] = {
	{ WHY_USAGE, "usage", "the helper was called wrongly" },
	{ WHY_DATA, "bad-request", "the request, its bundle or its token was wrong" },
	{ WHY_ABSENT, "absent", "no such GPU, module or runtime" },
	{ WHY_BUG, "internal", "short of memory, or a fault of gpuhelper" },
	{ WHY_IO, "host", "the host did not let the helper read or write" },
	{ WHY_AGAIN, "busy", "no GPU was free in time" },
	{ WHY_DENIED, "policy", "no policy allows it, or the identity was not proven" },
	{ WHY_CONFIG, "configuration", "/etc/gpuhelper was wrong" },
	{ WHY_NONE, "other", "the record names no code that is known" },
};

size_t
audit_reason_of(long code)
{
	size_t i;

	for (i = 0; i < AUDIT_REASONS - 1 && (long)audit_reasons[i].code != code; i++)
		;
	return i;
}
