/*
 * See lease.h. Runs with the caller's rights. The helper believes only what it sees, and nothing that is said
 * here.
 */
#include "lease.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/times.h"
#include "../../host/clock.h"
#include "../../host/file.h"
#include "../../lease/leasename.h"
#include "../command/message.h"
#include "../command/namespace.h"
#include "callerops.h"
#include "door.h"
#include "watch.h"

#define BUSY_MS 10000		/* for asking again while others keep the helper busy */
#define BUSY_NAP_MS 50
#define POLL_MS 250		/* between two requests while all GPUs are taken, where nothing wakes this process */
#define SOON_MS 20		/* while a GPU changes hands */
#define SOON_MS_MAX 15000
#define KEYS_MS 10000		/* for asking again while the issuers' keys are fetched */
#define KEYS_NAP_MS 500
#define RECORD_MS 3000		/* for having an exec recorded while others keep the helper busy */
#define ROUNDS_MAX 32		/* of operations, before they count as failed */

static const char *
root_of(const struct command *c)
{
	return c->root != NULL ? c->root : "";
}

bool
lease_is_recorded(const struct command *c)
{
	return c->id != NULL && ask_is_leased(root_of(c), c->id);
}

int
lease_request(const struct command *c, enum verb verb, struct request *r, struct why *why)
{
	*r = (struct request){ .verb = verb };
	r->id = strdup(c->id);
	r->runtime_root = strdup(root_of(c));
	r->spec.cgroups_path = strdup("");
	return r->id != NULL && r->runtime_root != NULL && r->spec.cgroups_path != NULL ? 0 : refuse_nomem(why);
}

int
lease_note_allocation(const struct settings *s, struct request *r, struct why *why)
{
	const char *cuda = getenv("CUDA_VISIBLE_DEVICES"), *rocr = getenv("ROCR_VISIBLE_DEVICES");

	if (!s->respect_allocation)
		return 0;
	if ((cuda != NULL && (r->untrusted.cuda_visible = strdup(cuda)) == NULL) ||
	    (rocr != NULL && (r->untrusted.rocr_visible = strdup(rocr)) == NULL))
		return refuse_nomem(why);
	return 0;
}

void
lease_key_of(const struct command *c, char key[LEASE_KEY_SIZE])
{
	lease_key(namespace_outer_uid(), root_of(c), c->id, key);
}

int
lease_read(const struct command *c, struct lease *l, struct why *why)
{
	autoclose int dir = open(GPUHELPER_RUNDIR "/leases", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	autofree char *text = NULL;
	char key[LEASE_KEY_SIZE];
	struct dirent *e;
	size_t len;
	DIR *d;

	lease_key_of(c, key);
	if ((d = file_list(dir)) == NULL)
		return refuse(why, WHY_IO, GPUHELPER_RUNDIR "/leases: %s", strerror(errno));
	dir = -1;
	while (text == NULL && (e = readdir(d)) != NULL)
		if (strncmp(e->d_name, key, LEASE_KEY_SIZE - 1) == 0)
			text = file_read_at(dirfd(d), e->d_name, LEASE_FILE_MAX, &len);
	closedir(d);
	if (text == NULL)
		return 1;
	return lease_decode(text, len, l, why) == -1 ? refuse_within(why, "the container's lease") : 0;
}

/* Asks once. */
static int
ask_once(const struct request *r, enum door_setting door, struct reply *reply, struct why *why)
{
	struct helper_conn a;

	if (ask(r, door, &a, reply, why) == -1)
		return -1;
	ask_end(&a);
	if (reply->kind != REPLY_REFUSED)
		return 0;
	*why = reply->why;
	return -1;
}

static void
sleep_ms(int64_t ms)
{
	const struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 };

	nanosleep(&t, NULL);
}

/* Asks until the helper has time. */
static int
ask_while_busy(const struct request *r, enum door_setting door, struct reply *reply, struct why *why)
{
	const int64_t deadline = clock_ms() + BUSY_MS;

	while (ask_once(r, door, reply, why) == -1) {
		reply_free(reply);
		if (why->code != WHY_AGAIN || clock_ms() > deadline)
			return -1;
		sleep_ms(BUSY_NAP_MS);
	}
	return 0;
}

/* The state of repeated asking. */
struct retries {
	unsigned rounds;	/* of operations */
	int64_t since;		/* clock_ms() at the first «busy, but soon» in a row; 0 if the last reply was another */
	int64_t waits_since;	/* clock_ms() at the first reply that all GPUs are taken; 0: none came yet */
	int64_t keys_until;	/* clock_ms() when no new keys are expected any more; 0: none were asked for yet */
	int watch;		/* watch.h; -1: none, or not yet */
	bool told;
};

/*
 * Sleeps until the queue may have moved. Where nothing wakes this process, it asks less often with many requests ahead:
 * otherwise many of them would keep the helper busy with themselves.
 */
static void
wait_in_queue(const struct reply *reply, struct retries *p)
{
	if (reply->wait == 0) {
		sleep_ms(SOON_MS);
		return;
	}
	if (p->waits_since == 0) {
		p->waits_since = clock_ms();
		/* a change before this is not seen, so it asks once more at once */
		if ((p->watch = watch_state()) != -1)
			return;
	}
	if (p->watch != -1)
		watch_queue(p->watch, -1, reply, p->waits_since);
	else
		sleep_ms(reply->ahead < 30 ? POLL_MS + 25 * (int64_t)reply->ahead : POLL_MS_MAX);
}

/*
 * Has newer keys fetched for a token that no key here has signed. Asks for them before each request, because systemd
 * drops the connections that came while an earlier one had keys fetched. The last request awaits no keys: the helper
 * then refuses the token, and records that. Returns 1, as handle_busy() does.
 */
static int
fetch_keys(struct request *r, struct retries *p)
{
	struct why ignored;

	if (p->keys_until == 0)
		p->keys_until = clock_ms() + KEYS_MS;
	r->retry.await_keys = clock_ms() < p->keys_until && door_ask_for_keys(&ignored) == 0;
	if (r->retry.await_keys)
		sleep_ms(KEYS_NAP_MS);
	return 1;
}

/*
 * Handles a busy reply. Returns 1 to ask again at once, 0 to ask again after a while, or -1 with *why to give
 * up.
 */
static int
handle_busy(const struct command *c, struct request *r, const struct reply *reply, struct retries *p, struct why *why)
{
	struct why ignored;

	if (reply->why.code == WHY_UNSIGNED)
		return fetch_keys(r, p);
	if (reply->ops.n > 0 && p->rounds++ < ROUNDS_MAX) {
		if (caller_ops_do(&reply->ops, r, &ignored) == 0)
			return 1;
		report_notice(c, ignored.text);
		return 0;
	}
	if (reply->ops.n > 0)
		r->retry.no_ops = true;
	strlist_free(&r->retry.revoked);
	if (reply->wait > 0) {
		p->since = 0;
		if (!p->told)
			report_notice(c, reply->why.text);
		p->told = true;
		return 0;
	}
	if (p->since == 0)
		p->since = clock_ms();
	if (clock_ms() - p->since < SOON_MS_MAX)
		return 0;
	*why = reply->why;
	return -1;
}

int
lease_ask(const struct command *c, struct request *r, enum door_setting door, struct helper_conn *a,
    struct reply *reply, struct why *why)
{
	struct retries p = { .watch = -1 };
	int ret;

	r->retry.await_keys = r->untrusted.token != NULL && door_leads_to_keys();
	while ((ret = ask(r, door, a, reply, why)) == 0 && reply->kind == REPLY_BUSY) {
		ask_end(a);
		if ((ret = handle_busy(c, r, reply, &p, why)) == 0)
			wait_in_queue(reply, &p);
		reply_free(reply);
		if (ret == -1)
			break;
	}
	if (p.watch != -1)
		close(p.watch);
	return ret;
}

static void
ask_for_record(const struct request *r, enum door_setting door, struct reply *reply, struct why *why)
{
	const int64_t deadline = clock_ms() + RECORD_MS;
	struct helper_conn a;

	for (;;) {
		*why = ask_briefly(r, door, &a, reply, why) == 0 ? reply->why : *why;
		ask_end(&a);
		if (why->code != WHY_AGAIN || clock_ms() > deadline)
			return;
		reply_free(reply);
		sleep_ms(SOON_MS);
	}
}

void
lease_record_exec(const struct command *c, enum door_setting door, char text[REPLY_TEXT_MAX])
{
	struct reply reply = { 0 };
	struct request r;
	struct why why;

	text[0] = '\0';
	if (lease_request(c, VERB_EXEC, &r, &why) == 0)
		ask_for_record(&r, door, &reply, &why);
	if (why.code != WHY_NONE)
		snprintf(text, REPLY_TEXT_MAX, "this exec is not in the audit log: %.400s", why.text);
	else
		memcpy(text, reply.text, sizeof(reply.text));
	reply_free(&reply);
	request_free(&r);
}

void
lease_record_refusal(const struct command *c, enum door_setting door, const struct why *why)
{
	struct reply reply = { 0 };
	struct why ignored;
	struct request r;

	if (lease_request(c, VERB_REFUSED, &r, &ignored) == 0) {
		r.reason = strdup(why->text);
		(void)ask_once(&r, door, &reply, &ignored);
	}
	reply_free(&reply);
	request_free(&r);
}

/* Asks the helper that stayed. Returns the kind of its reply; REPLY_REFUSED: the caller asks another one. */
static enum reply_kind
ask_who_stayed(const struct request *r, struct helper_conn *a, struct why *why)
{
	struct reply reply = { .kind = REPLY_REFUSED };
	struct why ignored;
	const enum reply_kind kind = a->stays && ask_again(r, SEEN_MS, a, &reply, &ignored) == 0 ? reply.kind : REPLY_REFUSED;

	*why = reply.why;
	reply_free(&reply);
	return kind;
}

/* Asks another one. */
static enum reply_kind
ask_another(const struct request *r, enum door_setting door, struct why *why)
{
	struct reply reply = { 0 };
	const enum reply_kind kind = ask_while_busy(r, door, &reply, why) == 0 ? reply.kind : REPLY_REFUSED;

	if (kind == REPLY_BUSY)
		*why = reply.why;
	reply_free(&reply);
	return kind;
}

int
lease_report_created(const struct command *c, enum door_setting door, struct helper_conn *a, struct why *why)
{
	enum reply_kind kind = REPLY_REFUSED;
	struct request r;

	if (lease_request(c, VERB_CREATED, &r, why) == 0 && (kind = ask_who_stayed(&r, a, why)) == REPLY_REFUSED) {
		/*
		 * free the helper's slot among this user's requests, and reap it: it is a child of this process,
		 * like the container's first one
		 */
		ask_end(a);
		kind = ask_another(&r, door, why);
	}
	request_free(&r);
	return kind == REPLY_DONE ? 0 : kind == REPLY_BUSY ? 1 : -1;
}

void
lease_check_over(const struct command *c, enum door_setting door, int status)
{
	enum verb verb = status == 0 && strcmp(c->verb, "delete") == 0 ? VERB_RELEASE : VERB_REAP;
	struct reply reply = { 0 };
	struct why ignored;
	struct request r;

	if (lease_request(c, verb, &r, &ignored) == 0) {
		/* leave the operations for other containers to the next request */
		r.retry.no_ops = true;
		(void)ask_once(&r, door, &reply, &ignored);
	}
	reply_free(&reply);
	request_free(&r);
}
