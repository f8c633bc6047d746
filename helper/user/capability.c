/* See capability.h. */
#include "capability.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "../pure/cleanup.h"
#include "../pure/text.h"

const char *const capability_sets[] = { "bounding", "effective", "permitted", "inheritable", "ambient", NULL };

bool
capability_is_strong(const char *name)
{
	static const char *const strong[] = { "CAP_SYS_ADMIN", "CAP_SYS_MODULE", "CAP_SYS_RAWIO", "CAP_DAC_READ_SEARCH",
		"CAP_SYS_PTRACE", "CAP_BPF",
		/* kexec_load(2) brings a kernel; the clock says when a token expires; kprobes read every register */
		"CAP_SYS_BOOT", "CAP_SYS_TIME", "CAP_PERFMON", NULL };
	size_t i;

	if (!text_starts(name, "CAP_") || name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_")] != '\0')
		return true;
	for (i = 0; strong[i] != NULL; i++)
		if (strcmp(strong[i], name) == 0)
			return true;
	return false;
}

bool
capabilities_are_strong(const struct doc *d, uint32_t process)
{
	char name[1];

	return capabilities_name_strong(d, process, name, sizeof(name));
}

bool
capabilities_name_strong(const struct doc *d, uint32_t process, char *first, size_t size)
{
	uint32_t caps = doc_get(d, process, "capabilities"), n;
	size_t i;

	for (i = 0; capability_sets[i] != NULL; i++)
		for (n = doc_first(d, doc_get(d, caps, capability_sets[i])); n != DOC_NONE; n = doc_next(d, n)) {
			autofree char *name = doc_string(d, n);

			if (name != NULL && !capability_is_strong(name))
				continue;
			snprintf(first, size, "%s", name != NULL ? name : "a capability that is no text");
			return true;
		}
	return false;
}

bool
capabilities_have(const struct doc *d, uint32_t process, const char *name)
{
	uint32_t caps = doc_get(d, process, "capabilities"), n;
	size_t i;

	for (i = 0; capability_sets[i] != NULL; i++)
		for (n = doc_first(d, doc_get(d, caps, capability_sets[i])); n != DOC_NONE; n = doc_next(d, n))
			if (doc_equals(d, n, name))
				return true;
	return false;
}
