/*
 * The kinds of refusals in the audit log, by the record's code and the beginning of its reason.  A reason begins with
 * gpuhelper's own words; what a task wrote stands further on, so no task can choose the kind.
 */
#ifndef GPUHELPER_CTL_AUDIT_AUDITKIND_H
#define GPUHELPER_CTL_AUDIT_AUDITKIND_H

#include <stddef.h>

#include "../../base/why.h"

enum audit_kind { KIND_TOKEN, KIND_POLICY, KIND_BUSY, KIND_REQUEST, KIND_FOLDER, KIND_DRIVER, KIND_HOST,
	KIND_CONFIGURATION, KIND_INTERNAL, KIND_OTHER };
#define AUDIT_KINDS (KIND_OTHER + 1)

extern const struct audit_kind_text {
	const char *name;	/* a word, for programs */
	const char *meaning;	/* for people */
} audit_kinds[AUDIT_KINDS];

/*
 * Takes a record's members «code» (0: none) and «reason», as text or as it stands in JSON; it need not end where the
 * reason ends.  KIND_OTHER if the code is none of ours.
 */
enum audit_kind audit_kind_of(long code, const char *reason);

#endif
