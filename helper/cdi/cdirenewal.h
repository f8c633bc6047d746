/* What to do about a CDI spec that no longer suits its host, for a message. */
#ifndef GPUHELPER_CDI_CDIRENEWAL_H
#define GPUHELPER_CDI_CDIRENEWAL_H

#include "../gpu/gpu.h"
#include "cdi.h"

#define CDI_RENEWAL_MAX 320

/*
 * Writes to «out», to follow a colon, the command that writes the file anew, if a tool wrote it: nvidia-ctk, or
 * gpuhelperctl under the name that its manual gives. Otherwise somebody wrote it by hand, and no command may overwrite
 * it: «out» then says to fix it, or to write another file. Returns «out».
 */
const char *cdi_renewal(const char *path, const struct cdi_spec *s, enum gpu_vendor v, char out[CDI_RENEWAL_MAX]);

#endif
