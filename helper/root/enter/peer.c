/* See peer.h. Trusts the kernel and root's files, never the request. */
#include "peer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../host/file.h"
#include "../../host/own/frame.h"
#include "../../host/process/procdir.h"
#include "../../host/process/process.h"
#include "../../host/users.h"

#define OVERFLOW_UID 65534	/* user_namespaces(7) */
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77		/* unix(7); Linux 6.5 */
#endif

/* Device-cgroup rules apply if the runtime is the host's root. In a user namespace, runc sets none. */
static int
find_rootful(const struct peer *peer, bool *rootful, struct why *why)
{
	autofree char *map = NULL;
	unsigned in, out, n;
	char name[40];

	*rootful = false;
	snprintf(name, sizeof(name), "%d/uid_map", getpid());
	if (peer->client.uid != 0 || !peer->uids.identity)
		return 0;
	if ((map = procdir_read(name, 16384)) == NULL)
		return refuse(why, WHY_IO, "/proc/%s: %s", name, strerror(errno));
	*rootful = sscanf(map, "%u %u %u", &in, &out, &n) == 3 && in == 0 && out == 0 && n == UINT32_MAX;
	return 0;
}

static int
find_member(const struct starter *s, bool *member, struct why *why)
{
	uint32_t gid;
	size_t i;

	*member = s->uid == 0;
	if (*member)
		return 0;
	if (!group_gid("gpuhelper", &gid))
		return errno == 0 ? 0 : refuse(why, WHY_IO, "/etc/group: %s", strerror(errno));
	for (i = 0; i < s->group_count; i++)
		*member = *member || s->groups[i] == gid;
	*member = *member || s->gid == gid;
	return 0;
}

/*
 * Checks that the asking process made the socket pair, and is our parent. If the parent has ended, another process
 * has become our parent, often init: it lives long, and a lease in its name would, too.
 */
static int
find_client(struct peer *peer, struct why *why)
{
	struct ucred cred = { 0 };
	socklen_t size = sizeof(cred);

	if (!frame_is_stream(STDIN_FILENO))
		return refuse(why, WHY_DATA, "descriptor 0 is not a socket: gpuhelper is started by gpuhelper-runc (see "
		    "gpuhelper(8))");
	if (getsockopt(STDIN_FILENO, SOL_SOCKET, SO_PEERCRED, &cred, &size) == -1)
		return refuse(why, WHY_DATA, "SO_PEERCRED: %s", strerror(errno));
	/* if it is still our parent afterwards, it was that process all the time */
	if (peer->pid <= 0 || cred.pid != peer->pid || !process_start(peer->pid, &peer->start) || getppid() != peer->pid)
		return refuse(why, WHY_DENIED, "the process that asked is gone, or is not the one that started gpuhelper");
	return 0;
}

static bool
read_map(pid_t pid, const char *file, struct idmap *out)
{
	autofree char *text = NULL;
	char name[40];

	snprintf(name, sizeof(name), "%d/%s", pid, file);
	return (text = procdir_read(name, 16384)) != NULL && idmap_parse(text, out);
}

/* In our own user namespace, ids map to themselves. */
int
maps_of_process(pid_t pid, struct idmap *uids, struct idmap *gids, struct why *why)
{
	struct stat ours, theirs;
	char name[40];

	snprintf(name, sizeof(name), "/proc/%d/ns/user", pid);
	if (stat("/proc/self/ns/user", &ours) == -1 || stat(name, &theirs) == -1)
		return refuse(why, WHY_IO, "%s: %s: the user namespace can't be seen", name, strerror(errno));
	if (ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino)
		uids->identity = gids->identity = true;
	else if (!read_map(pid, "uid_map", uids) || !read_map(pid, "gid_map", gids))
		return refuse(why, WHY_IO, "/proc/%d/uid_map: can't be read", pid);
	return 0;
}

static int
read_maps(struct peer *peer, struct why *why)
{
	if (maps_of_process(peer->pid, &peer->uids, &peer->gids, why) == -1)
		return -1;
	if (!process_lives(peer->pid, peer->start))
		return refuse(why, WHY_DENIED, "the process that asked is gone");
	return 0;
}

/* Fills in the boot id and the user's name: the same for the setuid bit and the socket. */
static int
name_peer(struct peer *peer, struct why *why)
{
	if (!boot_id(peer->boot))
		return refuse(why, WHY_IO, "/proc/sys/kernel/random/boot_id: %s", strerror(errno));
	/* a read error must not count as «no such user»: the wrong policy could then apply */
	if ((peer->user = user_name(peer->client.uid)) == NULL && errno != 0)
		return refuse(why, WHY_IO, "/etc/passwd: %s", strerror(errno));
	peer->client.user = peer->user;
	return 0;
}

static int
check_uid(uid_t uid, struct why *why)
{
	if (uid == (uid_t)-1 || uid == OVERFLOW_UID)
		return refuse(why, WHY_DENIED, "uid %u is shown for all users that have no uid here, and may not ask", uid);
	return 0;
}

int
peer_of_starter(const struct starter *s, struct peer *peer, struct why *why)
{
	*peer = (struct peer){ .client = { .uid = s->uid }, .starter = s->uid, .gid = s->gid, .pid = s->parent };
	if (check_uid(s->uid, why) == -1 || find_client(peer, why) == -1 || read_maps(peer, why) == -1 ||
	    name_peer(peer, why) == -1 || find_member(s, &peer->client.member, why) == -1)
		return -1;
	return find_rootful(peer, &peer->client.rootful, why);
}

/* The socket. */

/*
 * True if the process still has the uid that made the connection, so that what /proc says of
 * this PID is about that user.
 */
static bool
process_has_uid(pid_t pid, uid_t uid)
{
	autofree char *text = NULL;
	char name[40], *line;
	unsigned real, effective;

	snprintf(name, sizeof(name), "%d/status", pid);
	return (text = procdir_read(name, 65536)) != NULL &&
	    (line = strstr(text, "\nUid:")) != NULL && sscanf(line, " Uid: %u %u", &real, &effective) == 2 &&
	    effective == uid;
}

/*
 * The kernel noted PID and uid when the connection was made. Since then, the connection may have been passed to another
 * process, and another process may have got the PID; the connection's pidfd shows that. If the kernel has no pidfd, the
 * process that has the PID now must be of the same user and older than this helper: such a process may ask just as the
 * first one may.
 */
static int
find_connected(struct peer *peer, int *pidfd, struct why *why)
{
	struct ucred cred = { .uid = (uid_t)-1 };
	socklen_t size = sizeof(cred), fdsize = sizeof(*pidfd);
	uint64_t own;

	if (!frame_is_stream(STDIN_FILENO))
		return refuse(why, WHY_DATA, "descriptor 0 is not a connection: with --socket, gpuhelper is started by "
		    "gpuhelper.socket (see gpuhelper(8))");
	if (getsockopt(STDIN_FILENO, SOL_SOCKET, SO_PEERCRED, &cred, &size) == -1)
		return refuse(why, WHY_DATA, "SO_PEERCRED: %s", strerror(errno));
	if (check_uid(cred.uid, why) == -1)
		return -1;
	peer->client.uid = cred.uid;
	peer->gid = cred.gid;
	if ((peer->pid = cred.pid) <= 0)
		return refuse(why, WHY_DENIED, "the process that asks is in a PID namespace that can't be seen from here");
	if (getsockopt(STDIN_FILENO, SOL_SOCKET, SO_PEERPIDFD, pidfd, &fdsize) == -1 && errno != ENOPROTOOPT)
		return refuse(why, WHY_DENIED, "the process that asked is gone (SO_PEERPIDFD: %s)", strerror(errno));
	if (!process_start(peer->pid, &peer->start) || !process_start(getpid(), &own) || peer->start > own ||
	    !process_has_uid(peer->pid, peer->client.uid))
		return refuse(why, WHY_DENIED, "the process that asked is gone, or has become another user's");
	return 0;
}

/* -1 also if the process's end can't be seen. */
static int
check_still_there(const struct peer *peer, int pidfd, struct why *why)
{
	struct pollfd end = { .fd = pidfd, .events = POLLIN };
	uint64_t now;

	if ((pidfd == -1 || poll(&end, 1, 0) == 0) && process_start(peer->pid, &now) && now == peer->start)
		return 0;
	return refuse(why, WHY_DENIED, "the process that asked is gone");
}

static int
check_ns_owner(const struct peer *peer, int ns, struct why *why)
{
	uid_t owner = (uid_t)-1;

	if (ioctl(ns, NS_GET_OWNER_UID, &owner) == -1)
		return refuse(why, WHY_DENIED, "/proc/%d/ns/user: %s: the owner of this user namespace can't be seen",
		    peer->pid, strerror(errno));
	if (owner != peer->client.uid)
		return refuse(why, WHY_DENIED, "uid %u asks from a user namespace that uid %u made: it looks like a container's, "
		    "and containers can't ask", peer->client.uid, owner);
	return 0;
}

/*
 * Checks that the user made each user namespace from the process's own up to ours, because a process in a user
 * namespace may make another one. A worker's namespace, in which its engine runs, is its user's; root made those of
 * root's containers, and not their processes. *seen gets the process's namespace, to be compared before and after the
 * maps are read, since the process can change it.
 */
static int
check_namespace(const struct peer *peer, struct stat *seen, struct why *why)
{
	autoclose int ns = -1;
	struct stat ours, at;
	char name[40];
	int inner, saved;

	snprintf(name, sizeof(name), "/proc/%d/ns/user", peer->pid);
	if (stat("/proc/self/ns/user", &ours) == -1 || (ns = open(name, O_RDONLY | O_CLOEXEC)) == -1 || fstat(ns, seen) == -1)
		return refuse(why, WHY_DENIED, "%s: %s: the caller's user namespace can't be seen", name, strerror(errno));
	for (at = *seen; at.st_dev != ours.st_dev || at.st_ino != ours.st_ino;) {
		if (check_ns_owner(peer, ns, why) == -1)
			return -1;
		inner = ns;
		ns = ioctl(inner, NS_GET_PARENT);
		saved = errno;
		close(inner);
		if (ns == -1 || fstat(ns, &at) == -1)
			return refuse(why, WHY_DENIED, "%s: %s: the namespace around it can't be seen", name, strerror(saved));
	}
	return 0;
}

/* Does not ask the file system: it may be the caller's own (fuse(4)), and never answer. */
static int
read_root(const char *name, struct statx *st)
{
	return statx(AT_FDCWD, name, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_INO, st);
}

/* A container has a root directory of its own. A container with a mount of our socket is still a container. */
static int
check_root(const struct peer *peer, struct why *why)
{
	struct statx host, theirs;
	char name[40];

	snprintf(name, sizeof(name), "/proc/%d/root", peer->pid);
	if (read_root("/proc/1/root", &host) == -1 || read_root(name, &theirs) == -1)
		return refuse(why, WHY_DENIED, "%s: %s: the caller's root directory can't be seen", name, strerror(errno));
	if (host.stx_dev_major != theirs.stx_dev_major || host.stx_dev_minor != theirs.stx_dev_minor ||
	    host.stx_ino != theirs.stx_ino)
		return refuse(why, WHY_DENIED, "uid %u asks from another root directory than this system's: it looks like a "
		    "container's, and containers can't ask", peer->client.uid);
	return 0;
}

static int
check_connected(struct peer *peer, int pidfd, struct why *why)
{
	struct stat before, after;

	if (check_root(peer, why) == -1 || check_namespace(peer, &before, why) == -1 || read_maps(peer, why) == -1 ||
	    check_namespace(peer, &after, why) == -1)
		return -1;
	if (before.st_dev != after.st_dev || before.st_ino != after.st_ino)
		return refuse(why, WHY_DENIED, "the process that asked has changed its user namespace meanwhile");
	return check_still_there(peer, pidfd, why);
}

/* Checks membership by /etc/group, which is root's. The process's groups may be old, or of another namespace. */
static int
find_listed(struct peer *peer, struct why *why)
{
	peer->client.member = peer->client.uid == 0;
	if (!peer->client.member && peer->user != NULL) {
		peer->client.member = user_in_group(peer->user, "gpuhelper");
		if (!peer->client.member && errno != 0)
			return refuse(why, WHY_IO, "/etc/group: %s", strerror(errno));
	}
	if (!peer->client.member)
		return refuse(why, WHY_DENIED, "uid %u is not in group gpuhelper by /etc/passwd and /etc/group: usermod -aG "
		    "gpuhelper %s", peer->client.uid, peer->user != NULL ? peer->user : "USER");
	return 0;
}

int
peer_of_socket(const struct starter *s, struct peer *peer, struct why *why)
{
	autoclose int pidfd = -1;

	*peer = (struct peer){ .starter = s->uid };
	if (find_connected(peer, &pidfd, why) == -1 || check_connected(peer, pidfd, why) == -1 || name_peer(peer, why) == -1 ||
	    find_listed(peer, why) == -1)
		return -1;
	return find_rootful(peer, &peer->client.rootful, why);
}

void
peer_free(struct peer *peer)
{
	free(peer->user);
	*peer = (struct peer){ 0 };
}
