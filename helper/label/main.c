/*
 * gpuhelper-label: what of the helper's work needs libselinux, and the walk through folders that are labelled for
 * containers.  Started by the helper where SELinux is on and a label is asked for (root/labeller.h), as root; answers
 * its questions on one channel, one at a time, and ends with it.
 *
 * May assume that its parent is gpuhelper, or else that it has no more rights than whoever started it; must never open
 * what a question names: a folder is what the descriptor that comes along is open on.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../host/frame.h"
#include "../pure/cleanup.h"
#include "../pure/labelask.h"
#include "../pure/wire.h"
#include "../root/capability.h"
#include "../root/confine.h"
#include "../root/spawn.h"
#include "loaded.h"
#include "question.h"
#include "relabel.h"

#define CHANNEL SPAWN_CHANNEL
#define ASK_MAX (64U << 10)
#define ANSWER_MS 1000		/* to take an answer */
#define MEMORY_MAX (256UL << 20)

/* What lies in folders is other users', and stays theirs: to look into their directories, to label what is in them. */
static const int kept[] = { CAP_FOWNER, CAP_DAC_READ_SEARCH };

static const struct confinement confinement = { "gpuhelper-label", MEMORY_MAX, kept, sizeof(kept) / sizeof(kept[0]),
	FILTER_LABELLER, true };

/* Those that come with a byte of their own; false: they don't. */
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
cant_ask(struct why *why)
{
	return refuse(why, WHY_IO, "SELinux can't be asked: %s: is the module gpuhelper loaded (make install-selinux)?",
	    strerror(errno));
}

static int
judge(struct label_ask *a, struct label_answer *out)
{
	int yes = a->verb == LABEL_IS_VALID ? loaded_has(a->object) : loaded_lets_use(a->who, a->object, a->use);

	if (yes == -1)
		return cant_ask(&out->why);
	if (a->verb == LABEL_IS_VALID && yes == 1)
		memcpy(out->label, a->object, sizeof(out->label));
	return yes;
}

static int
go_through(struct relabelling *r, const struct label_ask *a, struct label_answer *out)
{
	int fds[LABEL_DESCRIPTORS], ret;

	if (!take_descriptors(fds))
		return refuse(&out->why, WHY_DENIED, "folder %s: SELinux does not let gpuhelper-label have it: see the kernel's log",
		    a->path);
	ret = a->verb == LABEL_LOOK ? relabel_look(r, fds[0], fds[1], a, &out->wrong, &out->why) :
	    relabel_change(r, fds[0], fds[1], a, &out->why);
	close(fds[0]);
	close(fds[1]);
	return ret == -1 ? -1 : 1;
}

/*
 * A question's bytes, which the caller frees; NULL: there is none any more.  Not by frame_read(), which looks at what
 * is there before it takes any: that look goes on to the descriptor behind the question, which it does not expect.
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

/* One question and its answer; false: there is none any more. */
static bool
answer_one(struct relabelling *r)
{
	struct label_answer answer;
	struct label_ask a;
	struct why ignored;
	size_t len;
	autofree char *bytes = take_question(&len);
	bool good;

	if (bytes == NULL)
		return false;
	label_answer_begin(&answer);
	answer.yes = -1;
	/* after one that is none nothing is to be had from the channel */
	if ((good = label_ask_read(bytes, len, &a, &answer.why)))
		answer.yes = a.verb == LABEL_IS_VALID || a.verb == LABEL_LETS ? judge(&a, &answer) : go_through(r, &a, &answer);
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
	while (answer_one(r))
		continue;
	relabel_free(r);
	return 0;
}
