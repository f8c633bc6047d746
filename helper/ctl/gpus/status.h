/* What the helper says of its leases and of who waits. */
#ifndef GPUHELPER_CTL_GPUS_STATUS_H
#define GPUHELPER_CTL_GPUS_STATUS_H

#include <jansson.h>
#include <stddef.h>

#include "../../base/why.h"

/* 0 if the helper answers; -1 with *why. */
int ctl_helper_answers(struct why *why);

/* The output of «status --json» (a new reference); NULL with *why. */
json_t *helper_status(struct why *why);
/*
 * The same in two steps, of which root may take the first: it gets the helper's reply as *len bytes and does not look
 * into them.  The caller frees them; NULL with *why.
 */
char *helper_status_unread(size_t *len, struct why *why);
/* The second step: reads that reply (a new reference); NULL with *why, also if the helper had refused. */
json_t *helper_status_read(const char *text, size_t len, struct why *why);
/* The same, but NULL if the helper has never run here: asking it would make its directories. */
json_t *status_now(void);
/* The leases that this user may see, in the form of «status --json» (a new reference); NULL if there are none. */
json_t *leases_now(void);

#endif
