/* Talks to the helper. */
#ifndef GPUHELPER_USER_ASK_H
#define GPUHELPER_USER_ASK_H

#include <sys/types.h>

#include "../pure/edits.h"
#include "../pure/request.h"
#include "../pure/settings.h"

/* A question that was asked; after a grant the helper waits for ask_final(). */
struct asking {
	int fd;
	pid_t pid;		/* of the helper; -1 where it is behind the socket */
};

/* Connects to the helper or starts it, sends the request, reads the reply.  -1 with *why where there is none. */
int ask(const struct request *r, enum door_setting door, struct asking *a, struct reply *reply, struct why *why);
/* Makes a grant final: its changes are written down. */
int ask_final(struct asking *a, struct why *why);
/* Hangs up: a grant that is not final is taken back by the helper before this returns. */
void ask_end(struct asking *a);

/* True if /run/gpuhelper has a record of this container of ours, so that its lease is worth a look. */
int ask_is_leased(const char *runtime_root, const char *id);

#endif
