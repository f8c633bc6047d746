/*
 * See door.h. Runs with the caller's rights. A request may hold a token, and the reply goes into a container.
 * So neither must ever go to, or come from, a socket that another user put in the place of root's.
 */
#include "door.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/path.h"
#include "../../host/file.h"
#include "../../host/trust.h"
#include "../command/namespace.h"

#define CONNECT_S 2	/* seconds, while the socket's queue is full */

/* A socket of systemd, by its path and its unit. */
struct listener {
	const char *path, *unit;
};

static const struct listener helper = { DOOR_SOCKET_PATH, "gpuhelper.socket" };
static const struct listener keys = { DOOR_KEYS_PATH, "gpuhelper-keys.socket" };

/* Opens the sockets' directory. Only root may be able to change it or a directory above. -1 with *why. */
static int
open_socket_dir(struct why *why)
{
	autofree char *dir = namespace_path(GPUHELPER_RUNDIR);
	int fd;

	if (dir == NULL)
		return refuse(why, WHY_ABSENT, "%s: %s", GPUHELPER_RUNDIR, strerror(errno));
	if (trust_pin_dir(dir, true, &fd, why) == TRUST_ABSENT)
		return refuse(why, WHY_ABSENT, "%s: %s", GPUHELPER_RUNDIR, strerror(ENOENT));
	return fd;
}

static int
check_socket(int dir, const struct listener *l, struct why *why)
{
	autoclose int fd = file_open_beneath(dir, path_last(l->path), O_PATH);
	struct stat st;

	if (fd == -1 && errno == ENOENT)
		return refuse(why, WHY_ABSENT, "there is no %s: systemctl enable --now %s", l->path, l->unit);
	if (fd == -1 || fstat(fd, &st) == -1)
		return refuse(why, WHY_IO, "%s: %s", l->path, strerror(errno));
	if (!S_ISSOCK(st.st_mode))
		return refuse(why, WHY_CONFIG, "%s is not a socket: remove it", l->path);
	/* the socket's mode says who may ask, so trust_check() does not apply */
	if (!trust_is_root(st.st_uid))
		return refuse(why, WHY_CONFIG, "%s belongs to uid %u, not to root: remove it", l->path, st.st_uid);
	return 0;
}

/* The listener is the process that called listen(2): systemd, with root's uid. */
static int
check_listener(int fd, const struct listener *l, struct why *why)
{
	struct ucred cred = { .uid = (uid_t)-1 };
	socklen_t size = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size) == -1 || !trust_is_root(cred.uid))
		return refuse(why, WHY_CONFIG, "uid %u listens at %s, not root", cred.uid, l->path);
	return 0;
}

static int
connect_in(int fd, int dir, const struct listener *l, struct why *why)
{
	const struct timeval limit = { .tv_sec = CONNECT_S };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char link[FILE_LINK_MAX];

	/* by the descriptor of the checked directory: its path may lead elsewhere by now */
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", file_link(dir, link),
	    path_last(l->path));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return check_listener(fd, l, why);
	switch (errno) {
	case EACCES:
		return refuse(why, WHY_DENIED, "uid %u may not connect to %s: add the worker's user to group gpuhelper, and start "
		    "the worker anew", namespace_outer_uid(), l->path);
	case ECONNREFUSED:
		return refuse(why, WHY_ABSENT, "nobody listens at %s: systemctl restart %s", l->path, l->unit);
	case EAGAIN:
		return refuse(why, WHY_AGAIN, "%s has too many connections for over %d s: try again", l->path, CONNECT_S);
	}
	return refuse(why, WHY_IO, "%s: %s", l->path, strerror(errno));
}

static int
connect_to(const struct listener *l, struct why *why)
{
	autoclose int dir = open_socket_dir(why);
	int fd;

	if (dir == -1 || check_socket(dir, l, why) == -1)
		return -1;
	if ((fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) == -1)
		return refuse(why, WHY_AGAIN, "socket: %s", strerror(errno));
	if (connect_in(fd, dir, l, why) == 0)
		return fd;
	close(fd);
	return -1;
}

int
door_connect(struct why *why)
{
	return connect_to(&helper, why);
}

bool
door_leads_to_keys(void)
{
	struct why ignored;
	autoclose int dir = open_socket_dir(&ignored);

	return dir != -1 && check_socket(dir, &keys, &ignored) == 0;
}

int
door_ask_for_keys(struct why *why)
{
	autoclose int fd = connect_to(&keys, why);

	/* nobody accepts the connection: systemd sees that one is there, and drops it later */
	return fd != -1 || why->code == WHY_AGAIN ? 0 : -1;
}

int
door_check_setuid(struct why *why)
{
	struct statvfs fs;
	struct stat st;

	if (access(DOOR_HELPER, X_OK) == -1 && errno == EACCES)
		return refuse(why, WHY_DENIED, "%s may not be executed by uid %u: add the worker's user to group gpuhelper, and "
		    "start the worker anew", DOOR_HELPER, namespace_outer_uid());
	if (stat(DOOR_HELPER, &st) == -1)
		return refuse(why, WHY_ABSENT, "%s: %s: is gpuhelper installed?", DOOR_HELPER, strerror(errno));
	if (namespace_has_false_root())
		return refuse(why, WHY_DENIED, "the setuid bit of %s has no effect in a user namespace without the host's root",
		    DOOR_HELPER);
	/* root starts the helper as root, with or without the bit */
	if (geteuid() == 0)
		return 0;
	if ((st.st_mode & S_ISUID) == 0)
		return refuse(why, WHY_DENIED, "%s has no setuid bit", DOOR_HELPER);
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		return refuse(why, WHY_DENIED, "the setuid bit of %s has no effect under no_new_privs (a service's "
		    "NoNewPrivileges=)", DOOR_HELPER);
	if (statvfs(DOOR_HELPER, &fs) == 0 && (fs.f_flag & ST_NOSUID) != 0)
		return refuse(why, WHY_DENIED, "the setuid bit of %s has no effect on a file system that is mounted nosuid",
		    DOOR_HELPER);
	return 0;
}

int
door_refuse_both(const struct why *by_setuid, const struct why *by_socket, struct why *why)
{
	return refuse(why, by_setuid->code, "gpuhelper can't be reached: %s; and %s", by_setuid->text, by_socket->text);
}

enum open_door
door_choose(enum door_setting setting, int *fd, struct why *why)
{
	struct why by_socket, by_setuid;

	if (setting != DOOR_BY_SETUID && (*fd = door_connect(&by_socket)) != -1)
		return OPEN_SOCKET;
	if (setting != DOOR_BY_SOCKET && door_check_setuid(&by_setuid) == 0)
		return OPEN_SETUID;
	if (setting == DOOR_AUTO)
		(void)door_refuse_both(&by_setuid, &by_socket, why);
	else
		*why = setting == DOOR_BY_SOCKET ? by_socket : by_setuid;
	return OPEN_NONE;
}
