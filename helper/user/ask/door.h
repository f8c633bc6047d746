/*
 * The two ways to reach the helper: systemd's socket, and the program's setuid bit. And the socket that has the
 * issuers' keys fetched.
 */
#ifndef GPUHELPER_USER_ASK_DOOR_H
#define GPUHELPER_USER_ASK_DOOR_H

#include <stdbool.h>

#include "../../policy/settings.h"

#define DOOR_SOCKET_PATH GPUHELPER_RUNDIR "/gpuhelper.sock"
#define DOOR_KEYS_PATH GPUHELPER_RUNDIR "/keys.sock"
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

enum open_door {
	OPEN_NONE,
	OPEN_SOCKET,
	OPEN_SETUID,
};
/*
 * Chooses between both, as gpuhelper.conf says: the socket first, if it is there. OPEN_SOCKET: *fd is the connection.
 * OPEN_SETUID: the helper can work when this process starts it. OPEN_NONE with *why.
 */
enum open_door door_choose(enum door_setting setting, int *fd, struct why *why);

/* True if this host has a socket for door_ask_for_keys(). */
bool door_leads_to_keys(void);

/*
 * Has systemd start the service that fetches the keys of all issuers, unless it did so within the last minute. Does not
 * wait for the keys. Returns 0, or -1 with *why if nobody can be asked.
 */
int door_ask_for_keys(struct why *why);

#endif
