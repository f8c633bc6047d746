/* Finds misspelt names of what a container can ask for: a request that gpuhelper would silently ignore. */
#ifndef GPUHELPER_USER_SPEC_MISSPELT_H
#define GPUHELPER_USER_SPEC_MISSPELT_H

#include "../../lease/edits.h"
#include "../../lease/editsdriver.h"
#include "spec.h"

/*
 * Writes one line for the user about a variable or annotation whose name is nearly one of GPUHELPER_TOKEN,
 * GPUHELPER_GPUS and GPUHELPER_FOLDERS; "" if there is none.
 */
void misspelt_tell(const struct spec *s, char out[NOTE_MAX]);

#endif
