/* The reasons of refusals in the audit log, by the code of the record. */
#ifndef GPUHELPER_CTL_AUDITREASON_H
#define GPUHELPER_CTL_AUDITREASON_H

#include <stddef.h>

#include "../pure/why.h"

#define AUDIT_REASONS 9

struct audit_reason {
	enum why_code code;
	const char *name;	/* a word, for programs */
	const char *meaning;	/* for people */
};
extern const struct audit_reason audit_reasons[AUDIT_REASONS];

/* The index of the one with this code; of the last one for all codes that are none. */
size_t audit_reason_of(long code);

#endif
