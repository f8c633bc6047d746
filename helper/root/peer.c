/* See peer.h.  Believes the kernel and root's files, never the request. */
#include "peer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../host/file.h"
#include "../host/frame.h"
#include "../host/users.h"
#include "../pure/cleanup.h"

#define OVERFLOW_UID 65534	/* user_namespaces(7) */

bool
process_start(pid_t pid, uint64_t *start)
{
	autoclose int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	autofree char *text = NULL;
	char name[40], *p, *save = NULL, *field;
	unsigned i;

	snprintf(name, sizeof(name), "proc/%d/stat", pid);
	if (root == -1 || (text = file_read_at(root, name, 4096, NULL)) == NULL)
		return false;
	/* the second field is the command's name, which may hold spaces and parentheses: begin after the last one */
	if ((p = strrchr(text, ')')) == NULL)
		return false;
	for (i = 3, field = strtok_r(p + 1, " ", &save); field != NULL; field = strtok_r(NULL, " ", &save), i++)
		if (i == 22)
			return text_u64(field, UINT64_MAX, start);
	return false;
}

bool
process_lives(pid_t pid, uint64_t start)
{
	uint64_t now;

	if (process_start(pid, &now))
		return now == start;
	/* it may hide in /proc (hidepid), or we may lack memory to look: the kernel knows */
	return kill(pid, 0) == 0 || errno != ESRCH;
}

bool
boot_id(char out[40])
{
	autoclose int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	autofree char *text = NULL;

	if (root == -1 || (text = file_read_at(root, "proc/sys/kernel/random/boot_id", 64, NULL)) == NULL)
		return false;
	text[strcspn(text, "\n")] = '\0';
	return strlen(text) > 0 && (size_t)snprintf(out, 40, "%s", text) < 40;
}

/* Device-cgroup rules hold where the runtime is the host's root (runc applies none in a user namespace). */
static int
find_enforced(uid_t uid, bool *enforced, struct why *why)
{
	autoclose int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	autofree char *map = NULL;
	unsigned in, out, n;
	char name[40];

	*enforced = false;
	snprintf(name, sizeof(name), "proc/%d/uid_map", getpid());
	if (uid != 0)
		return 0;
	if (root == -1 || (map = file_read_at(root, name, 16384, NULL)) == NULL)
		return refuse(why, WHY_IO, "/%s: %s", name, strerror(errno));
	*enforced = sscanf(map, "%u %u %u", &in, &out, &n) == 3 && in == 0 && out == 0 && n == UINT32_MAX;
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
 * The process that asks made the socket pair, and is our parent.  Where that one
 * is gone we were handed to another (init, often), which lives long: a lease in
 * its name would, too.
 */
static int
find_asker(struct peer *p, struct why *why)
{
	struct ucred cred = { 0 };
	socklen_t size = sizeof(cred);

	if (!frame_is_stream(STDIN_FILENO))
		return refuse(why, WHY_DATA, "descriptor 0 is no socket to be asked over: gpuhelper is started by gpuhelper-runc "
		    "(see gpuhelper(8))");
	if (getsockopt(STDIN_FILENO, SOL_SOCKET, SO_PEERCRED, &cred, &size) == -1)
		return refuse(why, WHY_DATA, "SO_PEERCRED: %s", strerror(errno));
	/* a parent that is still ours afterwards was that process all the time */
	if (p->pid <= 0 || cred.pid != p->pid || !process_start(p->pid, &p->start) || getppid() != p->pid)
		return refuse(why, WHY_DENIED, "the process that asked is gone, or is not the one that started gpuhelper");
	return 0;
}

static bool
read_map(int root, pid_t pid, const char *file, struct idmap *out)
{
	autofree char *text = NULL;
	char name[40];

	snprintf(name, sizeof(name), "proc/%d/%s", pid, file);
	return (text = file_read_at(root, name, 16384, NULL)) != NULL && idmap_parse(text, out);
}

/* What the peer's ids are here.  In our own user namespace they are what they are. */
static int
read_maps(struct peer *p, struct why *why)
{
	autoclose int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat ours, theirs;
	char name[40];

	snprintf(name, sizeof(name), "/proc/%d/ns/user", p->pid);
	if (root == -1 || stat("/proc/self/ns/user", &ours) == -1 || stat(name, &theirs) == -1)
		return refuse(why, WHY_IO, "%s: %s: the caller's user namespace can't be seen", name, strerror(errno));
	if (ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino)
		p->uids.identity = p->gids.identity = true;
	else if (!read_map(root, p->pid, "uid_map", &p->uids) || !read_map(root, p->pid, "gid_map", &p->gids))
		return refuse(why, WHY_IO, "/proc/%d/uid_map: can't be read", p->pid);
	if (!process_lives(p->pid, p->start))
		return refuse(why, WHY_DENIED, "the process that asked is gone");
	return 0;
}

int
peer_of_starter(const struct starter *s, struct peer *p, struct why *why)
{
	*p = (struct peer){ .asker = { .uid = s->uid }, .gid = s->gid, .pid = s->parent };
	if (s->uid == (uid_t)-1 || s->uid == OVERFLOW_UID)
		return refuse(why, WHY_DENIED, "uid %u is no one's own: it stands for whoever has none here", s->uid);
	if (find_asker(p, why) == -1 || read_maps(p, why) == -1)
		return -1;
	if (!boot_id(p->boot))
		return refuse(why, WHY_IO, "/proc/sys/kernel/random/boot_id: %s", strerror(errno));
	/* what can't be seen now is not taken for a no: another policy than the right one could follow from it */
	if ((p->user = user_name(s->uid)) == NULL && errno != 0)
		return refuse(why, WHY_IO, "/etc/passwd: %s", strerror(errno));
	p->asker.user = p->user;
	return find_member(s, &p->asker.member, why) == -1 || find_enforced(s->uid, &p->asker.enforced, why) == -1 ? -1 : 0;
}

void
peer_free(struct peer *p)
{
	free(p->user);
	*p = (struct peer){ 0 };
}
