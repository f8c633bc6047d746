/* Where the sources of a container's mounts lead on the host, as the runtime will follow them. */
#ifndef GPUHELPER_USER_SOURCES_H
#define GPUHELPER_USER_SOURCES_H

#include "spec.h"

/*
 * Refuses (-1 with *why) a source that brings the helper's own state or policy into the container, that leads through a
 * process's directory in /proc or through root.path (to the runtime it would be another place), or that is not there;
 * and a device's path that leads through one of these two.  Where the caller may not look, the source passes.  Else 0.
 */
int sources_check(const struct spec *s, struct why *why);

#endif
