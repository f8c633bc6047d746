/*
 * gpuhelper-label: does the part of the helper's work that needs libselinux, and walks through folders to
 * label them for containers. The helper forks its process as root if SELinux is on, executes it when there is a
 * question (root/child/labeller.h), asks one at a time over one channel, and ends it with the channel.
 * May assume that its parent is gpuhelper, or else that it has no more rights than its caller. Must never
 * open a path that a question names: a folder is what the descriptor with the question is open on.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../ask/labelquery.h"
#include "../ask/wire.h"
#include "../base/cleanup.h"
#include "../host/own/frame.h"
#include "../root/self/capability.h"
#include "../root/self/confine.h"
#include "../root/self/spawn.h"
#include "labelquestion.h"
#include "policyanswer.h"
#include "relabel.h"

#define CHANNEL SPAWN_CHANNEL
#define ASK_MAX (64U << 10)
#define ANSWER_MS 1000		/* to send an answer */
#define MEMORY_MAX (256UL << 20)

/*
 * Entries of a folder may be other users', and stay theirs. These allow looking into their directories and
 * labelling what is there.
 */
static const int kept[] = { CAP_FOWNER, CAP_DAC_READ_SEARCH };

static const struct confinement confinement = { "gpuhelper-label", MEMORY_MAX, kept, sizeof(kept) / sizeof(kept[0]),
	FILTER_LABELLER, true };

/* Receives the descriptors, which come with a byte of their own. False if they don't come. */
static bool
take_descriptors(int fds[LABEL_DESCRIPTORS])
{
	const size_t size = LABEL_DESCRIPTORS * sizeof(int);
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(LABEL_DESCRIPTORS * sizeof(int))];
	} room = { .bytes = { 0 } };
	char byte;
	struct iovec part = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof(room) };
	struct cmsghdr *c;

	if (recvmsg(CHANNEL, &m, MSG_CMSG_CLOEXEC) != 1)
		return false;
	c = CMSG_FIRSTHDR(&m);
	if (c == NULL || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(size))
		return false;
	memcpy(fds, CMSG_DATA(c), size);
	return true;
}

static int
answer_folder(struct relabelling *r, const struct label_query *a, struct label_answer *out)
{
	int fds[LABEL_DESCRIPTORS], ret;

	if (!take_descriptors(fds))
		return refuse(&out->why, WHY_DENIED, "folder %s: SELinux does not let gpuhelper-label have it: see the kernel's log",
		    a->path);
	ret = a->verb == LABEL_WALK ? relabel_walk(r, fds[0], fds[1], a, &out->wrong, &out->why) :
	    relabel_change(r, fds[0], fds[1], a, &out->why);
	close(fds[0]);
	close(fds[1]);
	return ret == -1 ? -1 : 1;
}

/*
 * Receives a question, which the caller frees; NULL if there are no more. Does not use frame_read(): that
 * peeks at what is there first, and would meet the descriptors behind the question, which it does not expect.
 */
static char *
take_question(size_t *len)
{
	unsigned char head[WIRE_HEADER];
	struct why ignored;
	uint32_t n;
	char *bytes;

	if (recv(CHANNEL, head, sizeof(head), MSG_WAITALL) != (ssize_t)sizeof(head) ||
	    wire_length(head, ASK_MAX, &n, &ignored) == -1 || (bytes = malloc(n + 1)) == NULL)
		return NULL;
	if (recv(CHANNEL, bytes, n, MSG_WAITALL) != (ssize_t)n) {
		free(bytes);
		return NULL;
	}
	*len = n;
	return bytes;
}

/* Answers one question. False if there are no more. */
static bool
answer_next(struct relabelling *r)
{
	struct label_answer answer;
	struct label_query a;
	struct why ignored;
	size_t len;
	autofree char *bytes = take_question(&len);
	bool good;

	if (bytes == NULL)
		return false;
	label_answer_begin(&answer);
	answer.yes = -1;
	/* after a question that can't be read, nothing more can be read from the channel */
	if ((good = label_query_read(bytes, len, &a, &answer.why)))
		answer.yes = a.verb == LABEL_IS_VALID || a.verb == LABEL_LETS ? policy_answer(&a, &answer) :
		    answer_folder(r, &a, &answer);
	return frame_write(CHANNEL, (const char *)&answer, sizeof(answer), sizeof(answer), ANSWER_MS, &ignored) == 0 && good;
}

int
main(int argc, char **argv)
{
	const int status = confined_start(argc, argv, &confinement);
	struct relabelling *r;

	if (status != -1)
		return status;
	if ((r = relabel_begin()) == NULL)
		return WHY_BUG;
	while (answer_next(r))
		continue;
	relabel_free(r);
	return 0;
}
