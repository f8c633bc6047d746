/* Messages for the person who reads the build log. */
#ifndef GPUHELPER_USER_COMMAND_MESSAGE_H
#define GPUHELPER_USER_COMMAND_MESSAGE_H

#include <stdbool.h>

#include "../../base/why.h"
#include "argv.h"

/*
 * Writes one line to stderr and, if the engine gave --log, a record of level «error» to that file, in the
 * form of runc's records: JSON with --log-format json, otherwise text as logrus writes it. containerd, podman
 * and guardian show the last such record. The line begins with «gpuhelper: », unless podman will put that before it.
 */
void report_error(const struct command *c, const struct why *why);
/* The same for a notice: its level is «info», so that no engine shows it as the failure. */
void report_notice(const struct command *c, const char *text);
/* The same for a warning about a container that is made nevertheless: its level is «warning». */
void report_warning(const struct command *c, const char *text);
/*
 * True if the end of the engine's log has this text. True as well without a log: the runtime's error then went to
 * stderr, where the reader sees it together with ours.
 */
bool report_log_may_have(const struct command *c, const char *text);

#endif
