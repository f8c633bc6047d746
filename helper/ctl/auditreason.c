/* See auditreason.h. */
#include "auditreason.h"

const struct audit_reason audit_reasons[AUDIT_REASONS] = {
	{ WHY_USAGE, "usage", "wrong command line of the helper" },
	{ WHY_DATA, "bad-request", "bad request, bundle or token" },
	{ WHY_UNSIGNED, "unsigned", "no key of this host has signed the token" },
	{ WHY_ABSENT, "absent", "no such GPU, module or runtime" },
	{ WHY_BUG, "internal", "out of memory, or a bug in gpuhelper" },
	{ WHY_IO, "host", "the helper could not read or write something on the host" },
	{ WHY_AGAIN, "busy", "no GPU was free in time" },
	{ WHY_DENIED, "policy", "no policy allows the request, or the identity was not proven" },
	{ WHY_CONFIG, "configuration", "errors in /etc/gpuhelper" },
	{ WHY_NONE, "other", "the record has no known code" },
};

size_t
audit_reason_of(long code)
{
	size_t i;

	for (i = 0; i < AUDIT_REASONS - 1 && (long)audit_reasons[i].code != code; i++)
		;
	return i;
}
