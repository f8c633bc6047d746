/* Tells the person who reads the build log. */
#ifndef GPUHELPER_USER_REPORT_H
#define GPUHELPER_USER_REPORT_H

#include "../pure/why.h"
#include "argv.h"

/*
 * One line on stderr, and where the engine gave --log one record there in the
 * form of runc's own (JSON with --log-format json, else logrus text): containerd,
 * podman and guardian show the last one of level «error».
 */
void report_error(const struct command *c, const struct why *why);
/* A notice that must not be taken for the failure: level «info», and stderr only. */
void report_notice(const struct command *c, const char *text);

#endif
