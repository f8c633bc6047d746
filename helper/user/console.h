/*
 * A line for the user before a task's own output, where the task has a terminal:
 * the runtime makes that, and sends it to the engine over a socket (runc's
 * docs/terminals.md, «--console-socket»); what a process writes elsewhere is lost.
 */
#ifndef GPUHELPER_USER_CONSOLE_H
#define GPUHELPER_USER_CONSOLE_H

#include <stdbool.h>
#include <sys/un.h>

#define CONSOLE_PATH_MAX sizeof(((struct sockaddr_un *)NULL)->sun_path)

/*
 * Leaves a process behind that stands between the runtime, which this process is
 * about to become, and the engine's socket: takes the terminal over a socket of
 * its own, whose path *path gets, writes the line to it, and hands it on.  False:
 * it can't, and the runtime should have the engine's socket.
 */
bool console_tell(const char *engine, const char *line, char path[CONSOLE_PATH_MAX]);

#endif
