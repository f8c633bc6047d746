/* The environment variables, and annotations, that tokens come in: GPUHELPER_TOKEN, and token_variable of issuers. */
#ifndef GPUHELPER_USER_SPEC_TOKENNAMES_H
#define GPUHELPER_USER_SPEC_TOKENNAMES_H

#include "../../policy/settings.h"

/*
 * True for a name that only a request to gpuhelper uses. Any other name is the CI's own: its token may be for another
 * service, so by itself it requests nothing, and it stays in a container that requests nothing.
 */
bool token_name_is_ours(const char *name);

/*
 * Lists the names besides GPUHELPER_TOKEN; without «all» only those that are ours. NULL settings have none. False if
 * memory is short.
 */
bool token_names(const struct settings *s, bool all, struct strlist *out);

#endif
