/* See speccapability.h. Only reads the document. */
#include "speccapability.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "../../base/text.h"

const char *const capability_sets[] = { "bounding", "effective", "permitted", "inheritable", "ambient", NULL };

/* With the kernel's numbers (linux/capability.h), because older headers lack some of the names. */
static const struct {
	const char *name;
	unsigned bit;
} strong[] = {
	{ "CAP_SYS_ADMIN", 21 }, { "CAP_SYS_MODULE", 16 }, { "CAP_SYS_RAWIO", 17 }, { "CAP_DAC_READ_SEARCH", 2 },
	{ "CAP_SYS_PTRACE", 19 }, { "CAP_BPF", 39 },
	/*
	 * kexec_load(2) loads another kernel; the clock decides when a token expires; kprobes can read every
	 * register
	 */
	{ "CAP_SYS_BOOT", 22 }, { "CAP_SYS_TIME", 25 }, { "CAP_PERFMON", 38 },
};
#define STRONG (sizeof(strong) / sizeof(strong[0]))

bool
capability_is_strong(const char *name)
{
	size_t i;

	if (!text_starts(name, "CAP_") || name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_")] != '\0')
		return true;
	for (i = 0; i < STRONG; i++)
		if (strcmp(strong[i].name, name) == 0)
			return true;
	return false;
}

const char *
capability_strong_in(uint64_t set)
{
	size_t i;

	for (i = 0; i < STRONG; i++)
		if (set >> strong[i].bit & 1)
			return strong[i].name;
	return NULL;
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
			snprintf(first, size, "%s", name != NULL ? name : "a capability that is not a string");
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
