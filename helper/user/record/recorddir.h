/*
 * The directory in which root's wrapper notes what it saw of the containers that it made (containerrecord.h), and what
 * it checked of their grants (grantrecord.h). The directory is root's alone.
 */
#ifndef GPUHELPER_USER_RECORD_RECORDDIR_H
#define GPUHELPER_USER_RECORD_RECORDDIR_H

#include <stdbool.h>

#include "../../base/text.h"
#include "../../base/why.h"

#define RECORD_DIR GPUHELPER_RUNDIR "/births"

/* True if this process is the host's root, who alone writes there. */
bool record_dir_is_hosts_root(void);

/*
 * Opens the directory, and locks it for a change, until it is closed: else one process could remove the record that
 * another has just written for a container of the same name. Makes it if it is missing. -1 with *why.
 */
int record_dir_open(struct why *why);

/* Writes a file there instead of the one before it. Returns 0, or -1 with *why. */
int record_dir_write(const char *name, const struct buf *text, struct why *why);

#endif
