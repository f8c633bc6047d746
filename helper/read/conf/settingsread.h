/* Parses the text of gpuhelper.conf. */
#ifndef GPUHELPER_READ_CONF_SETTINGSREAD_H
#define GPUHELPER_READ_CONF_SETTINGSREAD_H

#include "../../policy/conffault.h"
#include "../../policy/settings.h"

/*
 * Parses the text on top of the defaults. Returns false if *f has errors; *s must then not be used. The
 * caller calls settings_free() in any case.
 */
bool settings_parse(const char *text, size_t len, struct settings *s, struct faults *f);

/*
 * Finds the runtime in a file that does not parse, on a line of its own, so that containers can still be
 * stopped. Returns its path, which the caller frees, or NULL.
 */
char *settings_salvage_runtime(const char *text);

#endif
