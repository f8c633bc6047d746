/* Finds what libconfig calls a «syntax error», and says what was most likely meant. */
#ifndef GPUHELPER_READ_CONF_CONFHINT_H
#define GPUHELPER_READ_CONF_CONFHINT_H

#include <stdbool.h>
#include <stddef.h>

#include "../../policy/conffault.h"

/*
 * Adds the first fault of a text that conf_scan() found no fault in and that libconfig does not accept. False,
 * with nothing added, if none is found: libconfig's own message is all that is known then. Takes linear time.
 */
bool conf_hint(const char *text, size_t len, struct faults *f);

#endif
