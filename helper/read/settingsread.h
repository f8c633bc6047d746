/* The text of gpuhelper.conf, read. */
#ifndef GPUHELPER_READ_SETTINGSREAD_H
#define GPUHELPER_READ_SETTINGSREAD_H

#include "../pure/conffault.h"
#include "../pure/settings.h"

/* Reads the file's text over the defaults.  False: *f says what is wrong, *s is then not to be used. */
bool settings_parse(const char *text, size_t len, struct settings *s, struct faults *f);

/*
 * Of a file that does not parse, the runtime it names on a line of its own, so
 * that containers can still be stopped; NULL if there is none.  The caller frees.
 */
char *settings_salvage_runtime(const char *text);

#endif
