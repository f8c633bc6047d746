/* Removes what root's wrapper noted (births.h) of containers that are over. */
#ifndef GPUHELPER_USER_ASK_BIRTHSCLEAN_H
#define GPUHELPER_USER_ASK_BIRTHSCLEAN_H

#include "../command/argv.h"

/* Of the command's container. */
void births_forget(const struct command *c);
/* Of all containers. */
void births_clean(void);

#endif
