/*
 * The text of a libconfig file, looked over before libconfig sees it: what its
 * versions would take differently, or would take for something that was not
 * meant, is a fault here.  Values in, faults out.
 */
#ifndef GPUHELPER_READ_CONFLOOK_H
#define GPUHELPER_READ_CONFLOOK_H

#include "../pure/conffault.h"

#define CONF_DEPTH_MAX 8		/* of brackets */
#define CONF_SETTINGS_MAX 16384		/* in one file */
#define CONF_GROUP_MAX 2048		/* in one group: libconfig takes time quadratic in these */

/*
 * Adds to *f what is wrong, at most one fault a line: what follows on a line is
 * mostly the first one's doing.  A text without a fault means the same to every libconfig.
 */
void conf_look_over(const char *text, size_t len, struct faults *f);

#endif
