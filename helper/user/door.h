/* The two ways to the helper: systemd's socket, and the program's own setuid bit. */
#ifndef GPUHELPER_USER_DOOR_H
#define GPUHELPER_USER_DOOR_H

#include "../pure/why.h"

#define DOOR_SOCKET_PATH GPUHELPER_RUNDIR "/gpuhelper.sock"
#define DOOR_HELPER GPUHELPER_LIBEXEC "/gpuhelper"

/*
 * A connection to the socket, if it lies in a directory that only root can have
 * made it in, is root's, and root listens.  -1: *why says what is the matter
 * with it; WHY_ABSENT if it is not there at all.
 */
int door_connect(struct why *why);

/* 0 if the setuid helper may work when this process starts it; -1 with what keeps it from that. */
int door_check_setuid(struct why *why);

/* Neither is any good: one line of both reasons. */
int door_refuse_both(const struct why *by_setuid, const struct why *by_socket, struct why *why);

#endif
