/* See waiter.h. Runs with the caller's rights. The runtime passes descriptors on by their numbers, from 3 on. */
#include "waiter.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../ask/waiting.h"
#include "../../base/cleanup.h"
#include "../command/memfile.h"
#include "waiterfile.h"

#define FIRST 3		/* the first descriptor after standard input, output and error */
#define PASSED_MAX 90	/* ours come after these, and below MEMFILE_ABOVE */

/* The descriptors that the runtime passes on already, from 3 on: systemd's (sd_listen_fds(3)), then the caller's. */
struct passed {
	uint32_t listening, preserved;
};

static bool
count_passed(const struct command *c, struct passed *out)
{
	const char *listen = getenv("LISTEN_FDS");
	const struct word *w;
	int from = 0;

	*out = (struct passed){ 0 };
	while ((w = command_next(c, ROLE_FDS, &from)) != NULL)
		if (w->value == NULL || !text_u32(w->value, 0, PASSED_MAX, &out->preserved))
			return false;
	return listen == NULL || text_u32(listen, 0, PASSED_MAX, &out->listening);
}

/* Moves a descriptor out of the way of those that have fixed numbers. */
static int
move_up(int *fd, struct why *why)
{
	const int moved = fcntl(*fd, F_DUPFD_CLOEXEC, MEMFILE_ABOVE);

	if (moved == -1)
		return refuse(why, WHY_AGAIN, "descriptors from %d on: %s", MEMFILE_ABOVE, strerror(errno));
	close(*fd);
	*fd = moved;
	return 0;
}

/*
 * Sets the SELinux label of sockets that this thread makes from now on (setsockcreatecon(3)); "\n" goes back to the
 * thread's own label. False if the kernel refuses.
 */
static bool
label_new_sockets(const char *label)
{
	autoclose int fd = open("/proc/thread-self/attr/sockcreate", O_WRONLY | O_CLOEXEC);

	return fd != -1 && write(fd, label, strlen(label)) == (ssize_t)strlen(label);
}

/*
 * The sockets get the container's label, because many SELinux policies let a container use no socket of a process with
 * other categories. Where the caller may not make sockets with that label, they get the caller's.
 */
static int
make_sockets(const char *label, int pair[2])
{
	const int type = SOCK_SEQPACKET | SOCK_CLOEXEC;
	int made = -1;

	if (label != NULL && label_new_sockets(label)) {
		made = socketpair(AF_UNIX, type, 0, pair);
		(void)label_new_sockets("\n");
	}
	return made == 0 ? 0 : socketpair(AF_UNIX, type, 0, pair);
}

static int
make_pair(const char *label, int pair[2], struct why *why)
{
	const int on = 1;

	if (make_sockets(label, pair) == -1)
		return refuse(why, WHY_AGAIN, "socketpair: %s", strerror(errno));
	/* before the waiter can send anything: the kernel adds its process to what it sends */
	if (setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) == -1)
		return refuse(why, WHY_AGAIN, "SO_PASSCRED: %s", strerror(errno));
	return 0;
}

int
waiter_make(const struct command *c, const char *label, struct waiter *w, struct why *why)
{
	struct passed passed;
	int pair[2] = { -1, -1 }, file = -1, first;

	if (!count_passed(c, &passed) || passed.preserved + passed.listening > PASSED_MAX)
		return refuse(why, WHY_USAGE, "--preserve-fds or LISTEN_FDS is no number up to %d", PASSED_MAX);
	first = (int)(FIRST + passed.preserved + passed.listening);
	if (make_pair(label, pair, why) == 0 && (file = waiter_file(label, why)) != -1 && move_up(&pair[0], why) == 0 &&
	    move_up(&pair[1], why) == 0 && move_up(&file, why) == 0) {
		*w = (struct waiter){ .used = true, .ours = pair[0], .theirs = pair[1], .file = file, .first = first };
		snprintf(w->count, sizeof(w->count), "%u", passed.preserved + 2);
		snprintf(w->program, sizeof(w->program), "/proc/self/fd/%d", first + 1);
		snprintf(w->numbers, sizeof(w->numbers), "%d,%d", first, first + 1);
		return 0;
	}
	for (size_t i = 0; i < 2; i++)
		if (pair[i] != -1)
			close(pair[i]);
	if (file != -1)
		close(file);
	return -1;
}

int
waiter_set_numbers(struct waiter *w, struct why *why)
{
	if (w->used && (dup2(w->theirs, w->first) == -1 || dup2(w->file, w->first + 1) == -1))
		return refuse(why, WHY_AGAIN, "descriptor %d: %s", w->first, strerror(errno));
	return 0;
}

void
waiter_edit_args(const struct waiter *w, const struct doc *d, struct doc_edits *e)
{
	struct doc_list l;
	uint32_t n;

	doc_list_begin(&l, '[');
	doc_list_add_string(&l, w->program);
	doc_list_add_string(&l, w->numbers);
	for (n = doc_first(d, doc_get(d, 0, "args")); n != DOC_NONE; n = doc_next(d, n))
		doc_list_keep(&l, d, n);
	{
		autofree char *text = doc_list_end(&l);

		if (text == NULL)
			e->failed = true;
		else
			doc_set(e, d, 0, "args", text);
	}
}

void
waiter_send_go(struct waiter *w, const struct strlist *lines)
{
	const struct strlist none = { 0 };
	size_t i;

	for (i = 0; i <= lines->n; i++) {
		autobuf struct buf b = { 0 };

		if (i < lines->n ? waiting_line(&b, lines->v[i]) : waiting_go(&b, &none))
			(void)send(w->ours, b.p, b.len, MSG_DONTWAIT | MSG_NOSIGNAL);
	}
	close(w->ours);
	w->ours = -1;
}
