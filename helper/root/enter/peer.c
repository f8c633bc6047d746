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
find_rootful(const struct peer *p, bool *rootful, struct why *why)
{
	autofree char *map = NULL;
	unsigned in, out, n;
	char name[40];

	*rootful = false;
	snprintf(name, sizeof(name), "%d/uid_map", getpid());
	if (p->client.uid != 0 || !p->uids.identity)
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
find_client(struct peer *p, struct why *why)
{
	struct ucred cred = { 0 };
	socklen_t size = sizeof(cred);

	if (!frame_is_stream(STDIN_FILENO))
		return refuse(why, WHY_DATA, "descriptor 0 is not a socket: gpuhelper is started by gpuhelper-runc (see "
		    "gpuhelper(8))");
	if (getsockopt(STDIN_FILENO, SOL_SOCKET, SO_PEERCRED, &cred, &size) == -1)
		return refuse(why, WHY_DATA, "SO_PEERCRED: %s", strerror(errno));
	/* if it is still our parent afterwards, it was that process all the time */
	if (p->pid <= 0 || cred.pid != p->pid || !process_start(p->pid, &p->start) || getppid() != p->pid)
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
read_maps(struct peer *p, struct why *why)
{
	if (maps_of_process(p->pid, &p->uids, &p->gids, why) == -1)
		return -1;
	if (!process_lives(p->pid, p->start))
		return refuse(why, WHY_DENIED, "the process that asked is gone");
	return 0;
}

/* Fills in the boot id and the user's name: the same for the setuid bit and the socket. */
static int
name_peer(struct peer *p, struct why *why)
{
	if (!boot_id(p->boot))
		return refuse(why, WHY_IO, "/proc/sys/kernel/random/boot_id: %s", strerror(errno));
	/* a read error must not count as «no such user»: the wrong policy could then apply */
	if ((p->user = user_name(p->client.uid)) == NULL && errno != 0)
		return refuse(why, WHY_IO, "/etc/passwd: %s", strerror(errno));
	p->client.user = p->user;
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
peer_of_starter(const struct starter *s, struct peer *p, struct why *why)
{
	*p = (struct peer){ .client = { .uid = s->uid }, .starter = s->uid, .gid = s->gid, .pid = s->parent };
	if (check_uid(s->uid, why) == -1 || find_client(p, why) == -1 || read_maps(p, why) == -1 || name_peer(p, why) == -1)
		return -1;
	return find_member(s, &p->client.member, why) == -1 || find_rootful(p, &p->client.rootful, why) == -1 ? -1 : 0;
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
find_connected(struct peer *p, int *pidfd, struct why *why)
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
	p->client.uid = cred.uid;
	p->gid = cred.gid;
	if ((p->pid = cred.pid) <= 0)
		return refuse(why, WHY_DENIED, "the process that asks is in a PID namespace that can't be seen from here");
	if (getsockopt(STDIN_FILENO, SOL_SOCKET, SO_PEERPIDFD, pidfd, &fdsize) == -1 && errno != ENOPROTOOPT)
		return refuse(why, WHY_DENIED, "the process that asked is gone (SO_PEERPIDFD: %s)", strerror(errno));
	if (!process_start(p->pid, &p->start) || !process_start(getpid(), &own) || p->start > own ||
	    !process_has_uid(p->pid, p->client.uid))
		return refuse(why, WHY_DENIED, "the process that asked is gone, or has become another user's");
	return 0;
}

/* -1 also if the process's end can't be seen. */
static int
check_still_there(const struct peer *p, int pidfd, struct why *why)
{
	struct pollfd end = { .fd = pidfd, .events = POLLIN };
	uint64_t now;

	if ((pidfd == -1 || poll(&end, 1, 0) == 0) && process_start(p->pid, &now) && now == p->start)
		return 0;
	return refuse(why, WHY_DENIED, "the process that asked is gone");
}

static int
check_ns_owner(const struct peer *p, int ns, struct why *why)
{
	uid_t owner = (uid_t)-1;

	if (ioctl(ns, NS_GET_OWNER_UID, &owner) == -1)
		return refuse(why, WHY_DENIED, "/proc/%d/ns/user: %s: the owner of this user namespace can't be seen", p->pid,
		    strerror(errno));
	if (owner != p->client.uid)
		return refuse(why, WHY_DENIED, "uid %u asks from a user namespace that uid %u made: it looks like a container's, "
		    "and containers can't ask", p->client.uid, owner);
	return 0;
}

/*
 * Checks that the user made each user namespace from the process's own up to ours, because a process in a user
 * namespace may make another one. A worker's namespace, in which its engine runs, is its user's; root made those of
 * root's containers, and not their processes. *seen gets the process's namespace, to be compared before and after the
 * maps are read, since the process can change it.
 */
static int
check_namespace(const struct peer *p, struct stat *seen, struct why *why)
{
	autoclose int ns = -1;
	struct stat ours, at;
	char name[40];
	int inner, saved;

	snprintf(name, sizeof(name), "/proc/%d/ns/user", p->pid);
	if (stat("/proc/self/ns/user", &ours) == -1 || (ns = open(name, O_RDONLY | O_CLOEXEC)) == -1 || fstat(ns, seen) == -1)
		return refuse(why, WHY_DENIED, "%s: %s: the caller's user namespace can't be seen", name, strerror(errno));
	for (at = *seen; at.st_dev != ours.st_dev || at.st_ino != ours.st_ino;) {
		if (check_ns_owner(p, ns, why) == -1)
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
check_root(const struct peer *p, struct why *why)
{
	struct statx host, theirs;
	char name[40];

	snprintf(name, sizeof(name), "/proc/%d/root", p->pid);
	if (read_root("/proc/1/root", &host) == -1 || read_root(name, &theirs) == -1)
		return refuse(why, WHY_DENIED, "%s: %s: the caller's root directory can't be seen", name, strerror(errno));
	if (host.stx_dev_major != theirs.stx_dev_major || host.stx_dev_minor != theirs.stx_dev_minor ||
	    host.stx_ino != theirs.stx_ino)
		return refuse(why, WHY_DENIED, "uid %u asks from another root directory than this system's: it looks like a "
		    "container's, and containers can't ask", p->client.uid);
	return 0;
}

static int
check_connected(struct peer *p, int pidfd, struct why *why)
{
	struct stat before, after;

	if (check_root(p, why) == -1 || check_namespace(p, &before, why) == -1 || read_maps(p, why) == -1 ||
	    check_namespace(p, &after, why) == -1)
		return -1;
	if (before.st_dev != after.st_dev || before.st_ino != after.st_ino)
		return refuse(why, WHY_DENIED, "the process that asked has changed its user namespace meanwhile");
	return check_still_there(p, pidfd, why);
}

/* Checks membership by /etc/group, which is root's. The process's groups may be old, or of another namespace. */
static int
find_listed(struct peer *p, struct why *why)
{
	p->client.member = p->client.uid == 0;
	if (!p->client.member && p->user != NULL) {
		p->client.member = user_in_group(p->user, "gpuhelper");
		if (!p->client.member && errno != 0)
			return refuse(why, WHY_IO, "/etc/group: %s", strerror(errno));
	}
	if (!p->client.member)
		return refuse(why, WHY_DENIED, "uid %u is not in group gpuhelper by /etc/passwd and /etc/group: usermod -aG "
		    "gpuhelper %s", p->client.uid, p->user != NULL ? p->user : "USER");
	return 0;
}

int
peer_of_socket(const struct starter *s, struct peer *p, struct why *why)
{
	autoclose int pidfd = -1;

	*p = (struct peer){ .starter = s->uid };
	if (find_connected(p, &pidfd, why) == -1 || check_connected(p, pidfd, why) == -1 || name_peer(p, why) == -1 ||
	    find_listed(p, why) == -1)
		return -1;
	return find_rootful(p, &p->client.rootful, why);
}

void
peer_free(struct peer *p)
{
	free(p->user);
	*p = (struct peer){ 0 };
}
