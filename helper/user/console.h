/*
 * Writes lines to a task's terminal before the task's own output. The runtime makes the terminal and sends it to
 * the engine over a socket (docs/terminals.md of runc, «--console-socket»). A user sees nothing that is written
 * elsewhere.
 */
#ifndef GPUHELPER_USER_CONSOLE_H
#define GPUHELPER_USER_CONSOLE_H

#include <stdbool.h>
#include <sys/un.h>

#define CONSOLE_PATH_MAX sizeof(((struct sockaddr_un *)NULL)->sun_path)

/*
 * Starts a process that takes the terminal from the runtime over a socket of its own, writes the lines to the
 * terminal, and passes the terminal on to the engine's socket. *path gets the path of the new socket; the
 * caller is to become the runtime with that socket as its --console-socket. Returns false if this is not
 * possible: the runtime should then get the engine's socket.
 */
bool console_tell(const char *engine, const char *lines, char path[CONSOLE_PATH_MAX]);

#endif
