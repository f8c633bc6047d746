/* The reasons for refusals in the audit log, by the record's code. */
#ifndef GPUHELPER_CTL_AUDITREASON_H
#define GPUHELPER_CTL_AUDITREASON_H

#include <stddef.h>

#include "../pure/why.h"

#define AUDIT_REASONS 10

struct audit_reason {
	enum why_code code;
	const char *name;	/* a word, for programs */
	const char *meaning;	/* for people */
};
extern const struct audit_reason audit_reasons[AUDIT_REASONS];

/* The index of the reason with this code; the last index if the code is unknown. */
size_t audit_reason_of(long code);

#endif
