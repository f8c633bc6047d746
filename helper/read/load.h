/* Finds and reads gpuhelper.conf, with the caller's own rights. */
#ifndef GPUHELPER_READ_LOAD_H
#define GPUHELPER_READ_LOAD_H

#include "../host/own/etc.h"
#include "../policy/conffault.h"
#include "../policy/settings.h"

/*
 * Reads the settings in DIR/gpuhelper.conf; without that file, the defaults. «strict» as in trust.h. Returns
 * 0, or -1 with *why if the file can't be read or trusted, or (the first fault) does not parse. *f, if not
 * NULL, gets all faults. *text, if not NULL, gets the text of a file that could be read but not parsed; the
 * caller frees it. The caller calls settings_free() in any case.
 */
int settings_load(const char *dir, bool strict, struct settings *s, struct faults *f, char **text, struct why *why);

#endif
