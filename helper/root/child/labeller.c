/* See labeller.h. Relies only on what ask/labelquery.h checks in an answer. Uses its text only in refusals. */
#include "labeller.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../host/clock.h"
#include "../../host/file.h"
#include "../../host/own/frame.h"
#include "../../host/process/process.h"
#include "../../host/selinux.h"
#include "../self/spawn.h"

#define PROGRAM "gpuhelper-label"
#define SEND_MS 500
#define REST_MS 500		/* for the rest of an answer that has begun */
#define ALL_MS 3000		/* for all questions except those about folders: other helpers may wait for the lock */
#define WATCH_MS 20		/* between two checks that the process that asked lives */

/* it moves along, as gpuhelper-engine */
static struct spawned labeller = { .name = PROGRAM, .slow = true, .moves = true, .channel = -1 };
static int64_t left_ms = ALL_MS;

void
labeller_start(void)
{
	enum selinux_state state;

	if (selinux_state(&state, &labeller.why) == 0 && state != SELINUX_ABSENT)
		spawned_start(&labeller);
}

int
labeller_channel(void)
{
	return labeller.channel;
}

/* Sends the descriptors of the folder and of the process that asked. */
static int
send_descriptors(const int fds[LABEL_DESCRIPTORS])
{
	const size_t size = LABEL_DESCRIPTORS * sizeof(int);
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(LABEL_DESCRIPTORS * sizeof(int))];
	} room = { .bytes = { 0 } };
	char byte = 0;
	struct iovec part = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof(room) };

	room.head.cmsg_level = SOL_SOCKET;
	room.head.cmsg_type = SCM_RIGHTS;
	room.head.cmsg_len = CMSG_LEN(size);
	memcpy(CMSG_DATA(&room.head), fds, size);
	return sendmsg(labeller.channel, &m, MSG_NOSIGNAL | MSG_DONTWAIT) == 1 ? 0 : -1;
}

/* Waits until an answer begins. -1 with *why if «client» (NULL: none) ends first. */
static int
await(const struct process_id *client, int64_t until, struct why *why)
{
	struct pollfd event = { .fd = labeller.channel, .events = POLLIN };

	while (poll(&event, 1, WATCH_MS) != 1) {
		/* the lease ends with the client, and the next container may want another label */
		if (client != NULL && !process_lives(client->pid, client->start))
			return refuse(why, WHY_AGAIN, "relabelling folders was stopped: the process that asked has ended");
		if (clock_ms() > until)
			return refuse(why, WHY_AGAIN, client != NULL ? "can't relabel a folder: its file system did not answer in time" :
			    PROGRAM " did not answer in time: try again");
	}
	return 0;
}

static int
receive_from_labeller(struct label_answer *out, struct why *why)
{
	size_t len;
	struct why ignored;
	autofree char *bytes = frame_read(labeller.channel, sizeof(*out), REST_MS, &len, &ignored);

	if (bytes == NULL)
		return refuse(why, WHY_AGAIN, PROGRAM " ended without an answer: see whether the kernel's log says why, and try "
		    "again");
	return label_answer_read(bytes, len, out, why) ? 0 : -1;
}

/* Puts a question and gets its answer. fds (NULL: none) are sent with it; «client» as in await(). */
static int
exchange(const struct label_query *a, const int *fds, const struct process_id *client, int64_t until,
    struct label_answer *out, struct why *why)
{
	if (labeller.channel == -1 && labeller.why.code == WHY_NONE)
		return refuse(why, WHY_AGAIN, "SELinux was off when gpuhelper started: try again");
	if (spawned_check(&labeller, why) == -1)
		return -1;
	spawned_exec(&labeller);
	if (frame_write(labeller.channel, (const char *)a, sizeof(*a), sizeof(*a), SEND_MS, why) == -1 ||
	    (fds != NULL && send_descriptors(fds) == -1 && refuse(why, WHY_AGAIN, PROGRAM ": %s", strerror(errno)) == -1) ||
	    await(client, until, why) == -1 || receive_from_labeller(out, why) == -1)
		return spawned_give_up(&labeller, why);
	/* refuse() keeps the program's text on one line */
	return out->yes != -1 ? out->yes : refuse(why, out->why.code, "%s", out->why.text);
}

int
labeller_ask(const struct label_query *a, char label[SECONTEXT_MAX], struct why *why)
{
	const int64_t begin = clock_ms();
	struct label_answer answer;
	int yes = exchange(a, NULL, NULL, begin + left_ms, &answer, why);

	left_ms -= clock_ms() - begin;
	if (yes != -1)
		memcpy(label, answer.label, SECONTEXT_MAX);
	return yes;
}

int
labeller_ask_folder(struct label_query *a, int fd, const struct process_id *client, int64_t until, uint32_t *wrong,
    struct why *why)
{
	autoclose int who = (int)syscall(SYS_pidfd_open, client->pid, 0U);
	const int fds[LABEL_DESCRIPTORS] = { fd, who };
	struct label_answer answer;

	/* if the client still lives now, the descriptor is not of a later process with the same PID */
	if (!process_lives(client->pid, client->start) || who == -1)
		return refuse(why, WHY_AGAIN, "relabelling folders was stopped: the process that asked has ended");
	if (exchange(a, fds, client, until, &answer, why) == -1)
		return -1;
	*wrong = answer.wrong;
	return 0;
}
