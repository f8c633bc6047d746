/* First processes of containers, as /proc shows them. */
#ifndef GPUHELPER_CTL_WORKER_FIRSTPROCESS_H
#define GPUHELPER_CTL_WORKER_FIRSTPROCESS_H

#include <stdbool.h>

#include "../../kernel/processid.h"

/* What follows a key of /proc/PID/status, given as "\nCapBnd:"; NULL without it. */
const char *status_after(const char *status, const char *key);

/* True for the first process of a PID namespace beneath ours: the last of its numbers is 1, and it has others. */
bool status_is_first(const char *status);

/* Finds the only such process whose parent is this one.  False if there is none, or several. */
bool first_process_of(pid_t parent, struct process_id *out);

#endif
