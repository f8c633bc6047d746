/* Removes what root's wrapper noted (recorddir.h) of containers that are over. */
#ifndef GPUHELPER_USER_ASK_RECORDCLEAN_H
#define GPUHELPER_USER_ASK_RECORDCLEAN_H

#include <stdbool.h>

#include "../command/argv.h"

/* True if there are any of the command's container. */
bool records_are_there(const struct command *c);
/* Of the command's container. */
void records_forget(const struct command *c);
/* Of all containers. */
void records_clean(void);

#endif
