/* The two ways to reach the helper: systemd's socket, and the program's setuid bit. */
#ifndef GPUHELPER_USER_DOOR_H
#define GPUHELPER_USER_DOOR_H

#include "../pure/why.h"

#define DOOR_SOCKET_PATH GPUHELPER_RUNDIR "/gpuhelper.sock"
#define DOOR_HELPER GPUHELPER_LIBEXEC "/gpuhelper"

/*
 * Connects to the socket. It must be root's, in a directory where only root can have made it, and root must
 * listen. Returns the connection, or -1 with *why; WHY_ABSENT if there is no socket.
 */
int door_connect(struct why *why);

/* Returns 0 if the setuid helper can work when this process starts it, or -1 with the reason that it can't. */
int door_check_setuid(struct why *why);

/* Neither way works: makes one line of both reasons. Returns -1. */
int door_refuse_both(const struct why *by_setuid, const struct why *by_socket, struct why *why);

#endif
