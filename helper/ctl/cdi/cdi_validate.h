/* gpuhelperctl cdi: what its subcommands share. */
#ifndef GPUHELPER_CTL_CDI_CDI_VALIDATE_H
#define GPUHELPER_CTL_CDI_CDI_VALIDATE_H

#include <stdio.h>

#include "../../host/driver/cdidirs.h"
#include "../ctl.h"

/* The directories of CDI_DIRS, from which engines load specs. Ends with NULL. */
extern const char *const cdi_live_dirs[];

/* Prints a fault as «file:line:column: ...». */
void cdi_say_fault(FILE *out, const char *file, const struct cdi_fault *v);
json_t *cdi_fault_json(const char *file, const struct cdi_fault *v);

/*
 * Resolves each directory of the ":"-separated list, without those that are missing.  The caller frees; NULL with *why.
 */
char *cdi_spec_dirs(const char *given, struct why *why);

/*
 * Adds to *f, as CDI_WARNING, that containers with an NVIDIA GPU of the spec get no library that each program needs,
 * under any name by which a grant would mount it.
 */
void cdi_check_libraries(const struct cdi_spec *s, struct cdi_faults *f);

/*
 * True if the settings let gpuhelper run the hooks of specs (cdi_hooks = "allow"): only then do unsafe hooks make a
 * spec unsafe.  False without a configuration directory, which stands for the defaults.  True if the settings can't be
 * read, to be safe.
 */
bool cdi_hooks_run(const struct options *o);

/* Prints all problems on stderr, those of unsafe specs only if «unsafe».  Returns whether there was one. */
bool cdi_say_problems(const struct cdi_registry *r, bool unsafe);

#endif
