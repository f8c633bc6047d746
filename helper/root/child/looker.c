/*
 * See looker.h. Relies only on what ask/lookquery.h checks in an answer: it repeats the question's number, which nobody
 * can guess, and its values are possible ones. The program may end at any moment, even in the middle of a message. If
 * another answer comes, or none, it gets no more questions.
 */
#include "looker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/times.h"
#include "../../host/clock.h"
#include "../../host/own/frame.h"
#include "../../host/process/process.h"
#include "../self/capability.h"
#include "../self/spawn.h"
#include "slowness.h"

#define PROGRAM "gpuhelper-look"
#define SEND_MS 200	/* for the looker to take a question; about folders, which may be long, it has all its time */
#define LATE_MS 400	/* beyond a scan's time, for the program to report its end on a busy machine */

/*
 * Time limits while other helpers wait for the lock. SCAN_LIMIT_MS: one scan, perhaps at all processes of a slow
 * machine. SHORT_SCAN_MS: one scan after a process blocked the looker, in this request or an earlier one (slowness.h).
 * ALL_SCANS_MS: all scans together; less than the time that a helper waits for the lock. Root's requests have more. If
 * the looker was blocked for more than SLOW_MS, other than for a processor, a user caused that.
 */
#define SCAN_LIMIT_MS 600
#define SCAN_LIMIT_OF_ROOTS_MS 1300
#define SHORT_SCAN_MS 100
#define SHORT_SCAN_OF_ROOTS_MS 150
#define SLOW_MS 200
#define LEAKED_OF_ROOTS_MS 1000
#define OF_NOBODY UINT32_MAX	/* no uid: any user can slow a scan of all processes */
#define ALL_OF_ROOTS_MS 20000
#define STEPS_AT_ONE 4096	/* at the open and mapped files of one process that only pauses */
/* Paths are found in milliseconds, but a file system on the way may never answer (FUSE). */
#define PLACES_MS 8000
#define FILES_MS 3000		/* others wait for the lock meanwhile */

static const int kept[] = { CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_CHECKPOINT_RESTORE };

/* it moves along, as gpuhelper-engine */
static struct spawned look = { .name = PROGRAM, .own_user = true, .own_proc = true, .moves = true, .kept = kept,
	.n = sizeof(kept) / sizeof(kept[0]), .channel = -1 };
static struct {
	uint64_t nonce;
	bool of_root;
	bool stalled;
	bool was_asked;
	int64_t left_ms;	/* for scans while others wait */
} looker;

/* The last question about folders and cgroups, and its answer, as lines. */
static struct {
	struct buf question, found;
} places;

void
looker_start(bool of_root)
{
	looker.of_root = of_root;
	looker.left_ms = of_root ? ALL_OF_ROOTS_MS : ALL_SCANS_MS;
	if (getrandom(&looker.nonce, sizeof(looker.nonce), 0) != sizeof(looker.nonce))
		refuse(&look.why, WHY_AGAIN, "getrandom: %s", strerror(errno));
	else
		spawned_start(&look);
}

void
looker_exec(bool moved)
{
	if (look.channel == -1 || look.executing)
		return;
	spawned_exec(&look);
	(void)frame_send_byte(look.channel, moved ? LOOK_EARLY : 0);
}

/* Asks it nothing more: the program may be at work, and others may wait, so it is ended later. */
static void
give_up(const struct why *why)
{
	close(look.channel);
	look.channel = -1;
	look.why = *why;
}

int
looker_check(struct why *why)
{
	return spawned_check(&look, why);
}

/* -1 with *why: the looker reads no question; it ends at once if it may start no process. */
static int
send_question(const struct look_query *a, const char *bytes, size_t len, struct why *why)
{
	struct why cause;

	if (frame_write(look.channel, bytes, len, LOOK_QUERY_MAX, a->timeout == PLACES_MS ? PLACES_MS : SEND_MS, &cause) == 0)
		return 0;
	return refuse(why, WHY_AGAIN, PROGRAM " takes no question: see whether the kernel's log says why, or raise the limit "
	    "on processes, and try again (%.100s)", cause.text);
}

/* Reads the answer, and what follows it. -1 with *why: no valid answer came. */
static int
receive_answer(const struct look_query *a, struct look_answer *out, const struct look_more *more, struct why *why)
{
	autofree char *bytes = NULL;
	struct why cause;
	size_t len;

	if ((bytes = frame_read(look.channel, look_answer_max(a), (int)a->timeout + LATE_MS, &len, &cause)) == NULL)
		return refuse(why, WHY_AGAIN, PROGRAM " did not answer: see whether the kernel's log says why, and try again "
		    "(%.100s)", cause.text);
	if (look_answer_read(bytes, len, a, more, out, why) == -1)
		return -1;
	/* a share of time that begins with this look, and a wait within it */
	if (a->until == 0 && out->until > clock_ms() + SCAN_MS)
		return refuse(why, WHY_BUG, PROGRAM " sent a malformed answer");
	return 0;
}

/* Puts a question, about a lease or about paths. False if it can't be answered. */
static bool
ask_looker(struct look_query *a, const struct lease *l, const struct buf *paths, struct look_answer *out,
    const struct look_more *more)
{
	autofree char *bytes = NULL;
	struct why why = { 0 };
	size_t len;

	if (look.channel == -1)
		return false;
	looker_exec(false);
	looker.was_asked = true;
	if (++looker.nonce == 0)
		looker.nonce++;
	a->nonce = looker.nonce;
	if ((bytes = paths != NULL ? look_paths_pack(a, paths, &len) : look_query_pack(a, l, &len)) == NULL)
		return false;
	if (send_question(a, bytes, len, &why) == -1 || receive_answer(a, out, more, &why) == -1) {
		*out = (struct look_answer){ .nonce = 0 };
		give_up(&why);
	}
	return out->nonce != 0;
}

/* The uid for which slowness.h remembers that a scan took long. */
static uint32_t
slow_one(const struct look_query *a, const struct lease *l)
{
	return a->kind == LOOK_LEAKED ? OF_NOBODY : l->uid;
}

static uint32_t
timeout(const struct look_query *a, const struct lease *l)
{
	int64_t ms = looker.of_root ? SCAN_LIMIT_OF_ROOTS_MS : SCAN_LIMIT_MS;

	if (looker.stalled || slowness_is_noted(slow_one(a, l)))
		ms = l->uid == 0 ? SHORT_SCAN_OF_ROOTS_MS : SHORT_SCAN_MS;
	return (uint32_t)(ms < looker.left_ms ? ms : looker.left_ms);
}

/* Puts a question within the time limits. False if it can't be answered; then *budget is used up, too. */
static bool
ask_within(struct look_query *a, const struct lease *l, struct budget *budget, struct look_answer *out)
{
	const int64_t begin = clock_ms();
	int64_t took;
	bool seen;

	*out = (struct look_answer){ .nonce = 0 };
	a->timeout = timeout(a, l);
	a->left = budget->left;
	a->until = budget->until;
	seen = looker.left_ms > 0 && ask_looker(a, l, NULL, out, &(struct look_more){ .openers = 0 });
	looker.stalled = looker.stalled || !seen;
	took = clock_ms() - begin;
	if (out->blocked > SLOW_MS && took > SLOW_MS)
		slowness_note(slow_one(a, l));
	/* counts even if the answer came in time: a process can block the looker a little in every scan */
	looker.left_ms -= took;
	if (!seen) {
		budget->left = 0;
		return false;
	}
	*budget = (struct budget){ out->left, out->until };
	return true;
}

void
looker_ask_status(const struct lease *l, bool boot_only, bool anew, struct scan_limits *limits,
    struct lease_status *out)
{
	struct look_query a = { .kind = boot_only ? LOOK_BOOT : LOOK_IN_USE, .anew = anew ? 1 : 0, .dirs = limits->dirs };
	struct look_answer answer;

	*out = (struct lease_status){ .in_use = true };
	if (limits->stalled || (limits->stalled = !ask_within(&a, l, &limits->budget, &answer)))
		return;
	limits->dirs = answer.dirs;
	*out = (struct lease_status){ answer.of_another_boot != 0, answer.yes != 0 };
}

bool
looker_ask_rootless_use(const struct lease *l)
{
	struct look_query a = { .kind = LOOK_ROOTLESS_USE, .anew = 1 };
	struct budget budget = { .left = SCAN_STEPS };
	struct look_answer answer;

	return !ask_within(&a, l, &budget, &answer) || answer.yes != 0;
}

bool
looker_ask_leaked(const struct lease *l, struct budget *budget)
{
	struct look_query a = { .kind = LOOK_LEAKED };
	struct look_answer answer;

	/* several scans may be necessary, and on a slow machine each takes as long as a user's whole share */
	if (looker.of_root && budget->until == 0)
		budget->until = clock_ms() + LEAKED_OF_ROOTS_MS;
	return !ask_within(&a, l, budget, &answer) || answer.yes != 0;
}

void
looker_ask_activity(const struct lease *l, struct activity *out)
{
	struct look_query a = { .kind = LOOK_ACTIVITY };
	struct budget budget = { .left = STEPS_AT_ONE };
	struct look_answer answer;

	*out = (struct activity){ .placeholder = true, .task = true, .has_node = true };
	if (ask_within(&a, l, &budget, &answer))
		*out = activity_unpack(answer.seen);
}

int
looker_ask_waiter(const struct lease *l, struct process_id asked, struct process_id *out, struct why *why)
{
	struct look_query a = { .kind = LOOK_WAITER };
	struct budget budget = { .left = SCAN_STEPS };
	struct look_answer answer;
	struct lease about = *l;

	about.tasks.task = asked;
	if (!ask_within(&a, &about, &budget, &answer))
		return looker_check(why) == -1 ? -1 : refuse(why, WHY_AGAIN, "can't see which process of container %s waits for its "
		    "GPUs: try again", l->id);
	out->pid = (pid_t)answer.seen;
	return out->pid != 0 && out->pid != l->container.init.pid && process_start(out->pid, &out->start) &&
	    out->start == asked.start ? 0 : refuse(why, WHY_DENIED, "container %s has no process %d that could take its GPUs",
	    l->id, asked.pid);
}

int
looker_ask_openers(const struct edit_node *node, size_t nodes, pid_t *opener, struct why *why)
{
	struct look_query a = { .kind = LOOK_OPENERS, .timeout = OPENERS_MS + LATE_MS };
	struct look_answer answer = { .nonce = 0 };
	struct lease l = { .node = calloc(nodes + 1, sizeof(*l.node)), .nodes = nodes };
	bool seen;

	if (l.node == NULL)
		return refuse_nomem(why);
	memcpy(l.node, node, nodes * sizeof(*node));
	seen = ask_looker(&a, &l, NULL, &answer, &(struct look_more){ .opener = opener, .openers = nodes });
	free(l.node);
	if (answer.incomplete.kind != INCOMPLETE_NONE)
		return incomplete_tell(&answer.incomplete, why);
	if (seen)
		return 0;
	if (looker_check(why) == -1)
		return -1;
	return refuse(why, WHY_AGAIN, "can't see which containers have the GPU open: " PROGRAM " was killed: see whether the "
	    "kernel's log says why, and try again");
}

/* Asks about paths, with the lines of a question. *found gets those of the answer. */
static int
ask_paths(const struct buf *question, uint32_t ms, struct buf *found, struct why *why)
{
	struct look_query a = { .kind = LOOK_PATHS, .timeout = ms };
	struct look_answer answer = { .nonce = 0 };

	if (ask_looker(&a, NULL, question, &answer, &(struct look_more){ .lines = found }))
		return 0;
	if (looker_check(why) == -1)
		return -1;
	return refuse(why, WHY_AGAIN, "can't see within %u ms where the paths to folders and driver files lead: does a file "
	    "system there not answer? Or " PROGRAM " was killed: see whether the kernel's log says why", ms);
}

static int
write_question(struct paths_query *asked, struct buf *out, struct why *why)
{
	struct lines t = { .out = out };

	paths_query_lines(&t, asked);
	if (!lines_finish(&t))
		return refuse_nomem(why);
	return out->len <= LOOK_QUERY_MAX / 2 ? 0 : refuse(why, WHY_CONFIG, "the folders and the policies of this request "
	    "have too long paths: name those that the container needs in GPUHELPER_FOLDERS");
}

static int
take_paths(const struct paths_query *asked, const struct buf *lines, struct edits *e, struct lease *l, struct why *why)
{
	autopathsanswer struct paths_answer found = { .n = 0 };
	struct lines t = { .at = lines->p, .end = lines->p + lines->len };

	paths_answer_lines(&t, &found);
	if (!lines_finish(&t) || found.why.code == WHY_UNSIGNED || (asked->file.n > 0 && found.why.code != WHY_NONE))
		return refuse(why, WHY_BUG, PROGRAM " sent a malformed answer");
	/* refuse() keeps its text on one line */
	return found.why.code != WHY_NONE ? refuse(why, found.why.code, "%s", found.why.text) :
	    paths_answer_give(asked, &found, e, l, why);
}

int
looker_ask_folders_and_cgroups(struct paths_query *asked, struct edits *e, struct lease *l, struct why *why)
{
	autobuf struct buf question = { 0 };

	if (write_question(asked, &question, why) == -1)
		return -1;
	if (places.found.len > 0) {
		/* a grant that begins once more: the looker has seen processes since */
		if (question.len != places.question.len || memcmp(question.p, places.question.p, question.len) != 0)
			return refuse(why, WHY_AGAIN, "the policies have changed meanwhile: try again");
		if (looker_ask_folders_and_cgroups_again(why) == -1)
			return -1;
	} else if (looker.was_asked)
		return refuse(why, WHY_BUG, "folders and cgroups are asked for too late");
	else if (ask_paths(&question, PLACES_MS, &places.found, why) == -1)
		return -1;
	else {
		places.question = question;
		question = (struct buf){ 0 };
	}
	return take_paths(asked, &places.found, e, l, why);
}

int
looker_ask_folders_and_cgroups_again(struct why *why)
{
	autobuf struct buf now = { 0 };

	if (ask_paths(&places.question, PLACES_MS, &now, why) == -1)
		return -1;
	return now.len == places.found.len && memcmp(now.p, places.found.p, now.len) == 0 ? 0 :
	    refuse(why, WHY_AGAIN, "a folder has moved since it was checked, or a cgroup has come or gone: try again");
}

int
looker_ask_files(struct strlist *files, struct lease *l, struct why *why)
{
	struct paths_query asked = { .file = *files };
	autobuf struct buf question = { 0 }, found = { 0 };

	return write_question(&asked, &question, why) == -1 || ask_paths(&question, FILES_MS, &found, why) == -1 ? -1 :
	    take_paths(&asked, &found, NULL, l, why);
}
