/* gpuhelper.conf, found and read, for whoever does that with his own rights. */
#ifndef GPUHELPER_READ_LOAD_H
#define GPUHELPER_READ_LOAD_H

#include "../host/etc.h"
#include "../pure/conffault.h"
#include "../pure/settings.h"

/*
 * The settings in DIR/gpuhelper.conf.  No file: the defaults.  «strict» as in trust.h.
 * -1 with *why where the file can't be read or trusted, or (the first fault)
 * does not parse; *f, if not NULL, gets all faults.  settings_free() in either
 * case.  *text, if not NULL, gets the text of a file that could be read but not
 * parsed (the caller frees).
 */
int settings_load(const char *dir, bool strict, struct settings *s, struct faults *f, char **text, struct why *why);

#endif
