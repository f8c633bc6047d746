/* Sends a request to the helper and gets the reply. */
#ifndef GPUHELPER_USER_ASK_ASK_H
#define GPUHELPER_USER_ASK_ASK_H

#include <stdbool.h>
#include <sys/types.h>

#include "../../ask/request.h"
#include "../../ask/reply.h"
#include "../../policy/settings.h"

/* A connection to the helper. After a grant, the helper waits for ask_final(). */
struct helper_conn {
	int fd;			/* -1: none */
	pid_t pid;		/* of the setuid helper; -1 if the helper is behind the socket */
	bool stays;		/* the helper waits for ask_again() */
};

#define HELPER_CONN_NONE { .fd = -1, .pid = -1 }

/*
 * Connects to the helper by way of «door», or starts it, before there is a request: the helper gets ready meanwhile.
 * The next ask() of this process uses it. Without effect if no helper can be reached: the next ask() then says why.
 */
void ask_early(enum door_setting door);
/*
 * Lets the helper of ask_early() go, if no request has used it. Without a request it ends at once, and records nothing.
 * ask_cancel_early() returns at once; ask_unused_end() waits for its end, so that the runtime does not inherit a child.
 */
void ask_cancel_early(void);
void ask_unused_end(void);

/*
 * Connects to the helper by way of «door», or starts it, sends the request and reads the reply. Returns 0,
 * even if the reply is a refusal, or -1 with *why if no reply came; *a then needs no ask_end().
 */
int ask(const struct request *r, enum door_setting door, struct helper_conn *a, struct reply *reply, struct why *why);
/* The same, but waits a second at most while the helper is busy with other requests of this user. */
int ask_briefly(const struct request *r, enum door_setting door, struct helper_conn *a, struct reply *reply,
    struct why *why);
/*
 * The same for a request that changes nothing, by whichever door there is, without looking into the reply: root asks,
 * and another user's process decodes the text (reply_decode()). The caller frees the *len bytes; NULL with *why.
 */
char *ask_unread(const struct request *r, size_t *len, struct why *why);
/*
 * Makes a grant final, after its changes are written. With «stay», asks the helper to stay for ask_again(); a->stays
 * says whether it does. Returns 0, or -1 with *why if the helper has undone the grant.
 */
int ask_final(struct helper_conn *a, bool stay, struct why *why);
/* Sends a request, whose answer comes after a second one (ask_again()). Needs ask_end() in any case. -1 with *why. */
int ask_begin(const struct request *r, enum door_setting door, struct helper_conn *a, struct why *why);
/*
 * Sends a second request, to a helper that stays or that ask_begin() asked. Returns 0, even if the reply is a refusal,
 * or -1 with *why if no reply came within «ms» milliseconds: then another helper can be asked. Needs ask_end() in
 * either case.
 */
int ask_again(const struct request *r, int ms, struct helper_conn *a, struct reply *reply, struct why *why);
/* Closes the connection. If the grant is not final, the helper undoes it before this returns. */
void ask_end(struct helper_conn *a);

/*
 * True if /run/gpuhelper has an exec record of this container for the caller: then the container may have a
 * lease. «runtime_root» is the runtime's --root.
 */
int ask_is_leased(const char *runtime_root, const char *id);

#endif
