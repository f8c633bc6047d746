/* What a container asks for, as its config.json says. */
#ifndef GPUHELPER_USER_SPEC_SPECREQUEST_H
#define GPUHELPER_USER_SPEC_SPECREQUEST_H

#include "../../ask/request.h"
#include "../../policy/settings.h"
#include "spec.h"

/*
 * Writes what the container asks for, by environment and annotations, to the fields of *r that the spec knows
 * (not id, runtime root, verb). The settings (NULL: none) name the variables that tokens come in. *asks is true if it
 * asks for anything; duplicates of GPUHELPER_*, two tokens and an unknown ociVersion are then refused. Returns 0, or -1
 * with *why.
 */
int spec_request(struct spec *s, const struct settings *settings, struct request *r, bool *asks, struct why *why);

/*
 * True if the text of a config.json has the name of something that a container can ask for. The name may stand
 * anywhere, so the container asks for nothing perhaps; and one that asks may spell it with JSON's escapes.
 */
bool spec_may_ask(const char *text, size_t len);

#endif
