/*
 * What the wrapper's agent (user/task/agent.h) and the waiter (wait/main.c) say to each other, over a socket pair that
 * keeps messages apart (SOCK_SEQPACKET). A message is one byte, its kind, and what follows:
 *
 * waiter:	'r'			its program exists: it waits. The kernel adds its process (SCM_CREDENTIALS)
 * agent:	'L' TEXT		print «gpuhelper: TEXT»
 *		'G' NAME=VALUE 0 ...	set these variables, and execute the program
 *		'R' STATUS TEXT		print TEXT, and exit with this status (one byte, not 0)
 *
 * The waiter's command line is its own path (/proc/self/fd/M), «S,M» (the numbers of its end of the socket pair and of
 * the memory file that holds it), and the program with its arguments. The container's processes could send the waiter
 * such messages, if they may trace it: then it begins without a GPU.
 */
#ifndef GPUHELPER_ASK_WAITING_H
#define GPUHELPER_ASK_WAITING_H

#include <stdbool.h>
#include <stddef.h>

#include "../base/text.h"

#define WAITING_READY 'r'
#define WAITING_LINE 'L'
#define WAITING_GO 'G'
#define WAITING_REFUSED 'R'

#define WAITING_MAX 65536	/* bytes of a message; a line is cut to WAITING_LINE_MAX */
#define WAITING_LINE_MAX 1024
#define WAITING_GONE 75		/* the waiter's status if the agent ends without an answer: EX_TEMPFAIL of sysexits(3) */

/* Adds the message to *out, which must be empty. False if it is too long, or memory is short. */
bool waiting_line(struct buf *out, const char *text);
bool waiting_go(struct buf *out, const struct strlist *env);
bool waiting_refused(struct buf *out, unsigned char status, const char *text);

#endif
