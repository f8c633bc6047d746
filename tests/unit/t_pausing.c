/*
 * pure/pausing.c: a lease's record of its container's tasks is read back as it was written. The
 * test checks each decision alone; and all decisions together, with those of pure/chore.c and
 * pure/leasefile.c, in model worlds (pausemodel.h) that act like the helper. No actor may lose a
 * GPU, keep one too long, or get one that another actor has.
 *
 *	PAUSING_SEED=N		runs other worlds
 *	PAUSING_STRICT=1	counts what the helper does not prevent as a fault (gap() in
 *				pausemodel.h)
 *	PAUSING_WORLDS_ONLY=1	skips the tables
 *
 * Mutation tests showed that the worlds can fail. Each mutant is a copy with one line changed. The
 * tables (here, in t_chore.c and in t_leasefile.c) found all 60 mutants in helper/pure. The worlds
 * alone found these 48:
 *
 *	pausing_judge		without «|| s->execs»; without «!s->pauses ||»; ignores has_node,
 *				task or first_exec; takes «not alone» for idle; never idle; never
 *				left
 *	turn_is_stale		always; never; not if the owner is dead; not if the owner is late
 *	turn_of_exec		GIVING_BACK goes on, never waits, always waits, comes back, goes on
 *				from a stale mark; COMING_BACK always waits, opens, goes on;
 *				GIVEN_BACK opens, goes on, waits; HELD never opens; DRAINING opens
 *	turn_to_give_back	clears the processes left behind at once, or never; ignores the
 *				idleness; anyone takes over at once; nobody takes over; not from
 *				HELD; from every state
 *	turn_to_end		without the state; without the giver; without the idleness; LEFT is
 *				enough; never
 *	process_id_same		compares only the pid
 *	lease_wants		without the state, for all chores, for marks, for leases given back;
 *				never for these; never OPEN; never the others; always
 *	lease_holds		without «reopened»; only HELD and DRAINING; without COMING_BACK
 *
 * They did not find these 12:
 *
 *	- Seven make no difference: «used» is ignored after first_exec; HELD opens although the
 *	  gate was never shut; the start time is compared without the pid (no two processes share
 *	  one); chores are done for a container that does not pause (the worlds have none);
 *	  IDLE_KEEP is ignored (such a lease does not pause); left_since is unset (it is never read
 *	  then); LEFT_BEHIND_KEEP is read as a number of seconds, which is 136 years.
 *	- An exec does not wait for COMING_BACK: back.c checks again and makes the exec ask again.
 *	- An actor may not go on with its own mark: it loses the mark, and marks again.
 *	- lease_wants() ignores the giver: under the lock, a late giver does only what the next
 *	  giver is told to do, too.
 *	- OPEN ignores the list of execs, or the state: a live exec with a note is in the list, and
 *	  its lease is HELD or DRAINING.
 *
 * Of 32 mutants in the steps of pausemodel.h the worlds found 28:
 *
 *	- chores without the lock (all; only OPEN; only the chore of a GPU that was given back);
 *	  with a lock that a stalled process loses, that is released after the look, that is taken
 *	  after the look, or that is not waited for; chores without the look at the lease
 *	- an exec that begins although its OPEN failed or was void; a failed chore that is reported
 *	- HELD instead of COMING_BACK (with hold() unchanged or adapted); hold() without its mark,
 *	  without its state, without the exec
 *	- undoing another actor's step; repeating a step of an actor that is in time
 *	- gates that nobody checks again, or shuts, or that make no lease HELD; a lease that ends
 *	  without a look at its gate; a mark that does not set «shut»
 *	- an actor's own mark that gets new time; stale marks that stay, or fresh ones that go;
 *	  COMING_BACK that falls back to HELD; OPEN for late givers
 *
 * They did not find these 4: a void chore that is reported (its reporter's turn is over); hold()
 * without the giver (the exec has what another exec of the same container took, and is late); own
 * marks kept without chores, and no_chores not said after too many rounds (both are over in 10 s).
 */

#include "pure/pausing.h"
#include "nomem.h"
#include "pausemodel.h"
#include "tap.h"

#define WORLDS 20000
#define STEPS 600

static uint64_t seed = 20261122;

/* Reading and writing. */

static void
fill(struct pausing *p)
{
	*p = (struct pausing){ .program = { 4294967295, 7, UINT64_MAX }, .gate = strdup("devices/garden/x\"\xc3\xa4"),
		.idle = IDLE_KEEP, .first_exec = UINT32_MAX, .left_behind = LEFT_BEHIND_KEEP, .created = INT64_MAX, .used = true,
		.shut = true, .left_since = INT64_MAX - 1, .giver = { 2147483647, UINT64_MAX }, .giving_since = INT64_MAX - 2,
		.waited = UINT32_MAX, .uid = 4294967294, .gid = UINT32_MAX,
		.who = strdup("{\"kind\":\"token\",\"instance_vars\":\"{\\\"a\\\":1}\"}") };
	(void)pausing_add_exec(p, (struct process_id){ 1, 0 });
	(void)pausing_add_exec(p, (struct process_id){ 2147483647, UINT64_MAX });
	(void)pausing_add_exec(p, (struct process_id){ 0, 5 });
}

static bool
same(const struct pausing *a, const struct pausing *b)
{
	size_t i;

	for (i = 0; i < a->execs && i < b->execs; i++)
		if (!process_id_same(&a->exec[i], &b->exec[i]))
			return false;
	return file_id_same(&a->program, &b->program) && (a->gate == NULL) == (b->gate == NULL) &&
	    (a->gate == NULL || strcmp(a->gate, b->gate) == 0) && a->idle == b->idle && a->first_exec == b->first_exec &&
	    a->left_behind == b->left_behind && a->created == b->created && a->used == b->used && a->shut == b->shut &&
	    a->execs == b->execs && a->left_since == b->left_since && process_id_same(&a->giver, &b->giver) &&
	    a->giving_since == b->giving_since && a->waited == b->waited && a->uid == b->uid && a->gid == b->gid &&
	    (a->who == NULL) == (b->who == NULL) && (a->who == NULL || strcmp(a->who, b->who) == 0);
}

static char *
written(struct pausing *p)
{
	struct buf b = { 0 };
	struct lines s = { .out = &b };

	pausing_lines(&s, p);
	return buf_take(&b);
}

static bool
is_read(const char *text, struct pausing *p)
{
	struct lines s = { .at = text, .end = text + strlen(text) };

	*p = (struct pausing){ 0 };
	pausing_lines(&s, p);
	if (!s.failed && s.at == s.end)
		return true;
	pausing_free(p);
	return false;
}

static void
test_round_trip(void)
{
	struct pausing a, b;
	char *text;
	int idle;

	fill(&a);
	text = written(&a);
	ok(text != NULL && is_read(text, &b), "a record with all members is written and read");
	ok(same(&a, &b) && b.execs == 3, "the record is the same");
	free(text);
	pausing_free(&b);
	ok(b.gate == NULL && b.exec == NULL && b.execs == 0 && b.who == NULL,
	    "pausing_free() empties the record");
	free(a.gate);
	a.gate = NULL;
	free(a.who);
	a.who = NULL;
	a.execs = 0;
	text = written(&a);
	ok(is_read(text, &b) && same(&a, &b) && b.gate == NULL && b.who == NULL && b.execs == 0,
	    "a record without a gate or an identity is read back");
	free(text);
	pausing_free(&b);
	pausing_free(&a);
	for (idle = IDLE_GIVE_BACK; idle <= IDLE_KEEP; idle++) {
		a = (struct pausing){ .idle = (enum idle_setting)idle };
		text = written(&a);
		ok(is_read(text, &b) && same(&a, &b),
		    "an empty record with idle %d is read back", idle);
		free(text);
		pausing_free(&b);
	}
	a = (struct pausing){ .gate = strdup("caf\xe9") };
	text = written(&a);
	ok(is_read(text, &b) && same(&a, &b), "a gate that is not UTF-8 is read back");
	free(text);
	pausing_free(&a);
	pausing_free(&b);
}

static void
test_execs_max(void)
{
	struct pausing a = { 0 }, b;
	char *text, *more = NULL;
	unsigned i;

	for (i = 0; i < EXECS_MAX; i++)
		if (!pausing_add_exec(&a, (struct process_id){ (pid_t)i + 1, i }))
			break;
	is_int(i, EXECS_MAX, "the greatest number of execs is added");
	ok(!pausing_add_exec(&a, (struct process_id){ 1, 1 }) && a.execs == EXECS_MAX,
	    "one exec more is refused");
	text = written(&a);
	ok(is_read(text, &b) && same(&a, &b), "all execs are read back");
	pausing_free(&b);
	if (asprintf(&more, "%s\nexec 1 1", text) == -1)
		more = NULL;
	ok(more != NULL && !is_read(more, &b) && b.exec == NULL,
	    "a record with one exec more is refused");
	free(more);
	free(text);
	pausing_free(&a);
}

static const char *const fields[] = { "pausing", "major", "minor", "inode", "gate", "idle", "first_exec", "left_behind",
	"created", "used", "shut", "left_since", "giver", "giver's start", "giving_since", "waited", "uid", "gid", "who" };
#define FIELDS (sizeof(fields) / sizeof(fields[0]))

/* Reads the written record with one word replaced (NULL: removed). */
static bool
taken(size_t at, const char *value)
{
	struct buf b = { 0 };
	struct pausing p;
	char *text, *from, *to;
	size_t i;
	bool ret;

	fill(&p);
	text = from = written(&p);
	pausing_free(&p);
	for (i = 0; i < at; i++)
		from = strchr(from, ' ') + 1;
	to = from + strcspn(from, " \n");
	buf_add(&b, text, (size_t)(from - text));
	if (value != NULL)
		buf_puts(&b, value);
	buf_puts(&b, value == NULL && *to == ' ' ? to + 1 : to);
	ret = is_read(b.p, &p);
	if (!ret)
		ok(p.gate == NULL && p.exec == NULL && p.execs == 0 && p.who == NULL &&
		    p.program.inode == 0,
		    "  nothing is kept of a refused record");
	free(text);
	buf_free(&b);
	pausing_free(&p);
	return ret;
}

static void
test_refused(void)
{
	static const char *const wrong[] = { "", "%31", "1.5", "-1", "+1", "01", "1e3", "0x1", "18446744073709551616" };
	static const char *const bools[] = { "0", "1", "true", "Yes", "yesno" };
	static const size_t pids[] = { 12, 19 }, texts[] = { 4, 18 }, u32[] = { 1, 2, 6, 7, 15, 16, 17 },
		u64[] = { 3, 13 }, times[] = { 8, 11, 14 };
	size_t i, k;

	for (i = 0; i < FIELDS; i++)
		ok(!taken(i, NULL) && !taken(i, "a b") && !taken(i, "a\nb"),
		    "a record without %s is refused, and so is one with an extra word", fields[i]);
	for (i = 1; i < FIELDS; i++)
		for (k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++)
			if ((i != texts[0] && i != texts[1]) || k < 2)
				ok(!taken(i, wrong[k]),
				    "a record with %s «%s» is refused", fields[i], wrong[k]);
	for (i = 0; i < sizeof(u32) / sizeof(u32[0]); i++)
		ok(taken(u32[i], "4294967295") && taken(u32[i], "0") &&
		    !taken(u32[i], "4294967296"),
		    "the greatest %s is accepted, and no greater one", fields[u32[i]]);
	for (i = 0; i < sizeof(u64) / sizeof(u64[0]); i++)
		ok(taken(u64[i], "18446744073709551615"),
		    "the greatest %s is accepted", fields[u64[i]]);
	for (i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		ok(taken(times[i], "0") && taken(times[i], "9223372036854775807") && !taken(times[i], "9223372036854775808"),
		    "%s is accepted as a time up to the greatest one", fields[times[i]]);
	ok(taken(pids[0], "0") && taken(pids[0], "2147483647") && !taken(pids[0], "2147483648") && !taken(pids[0], "4294967297"),
	    "the giver's pid is accepted up to the greatest one");
	ok(taken(5, "give-back") && taken(5, "stop") && !taken(5, "stopped") && !taken(5, "0"),
	    "the idle setting is one of three words");
	for (i = 0; i < sizeof(bools) / sizeof(bools[0]); i++)
		ok(!taken(9, bools[i]) && !taken(10, bools[i]),
		    "«%s» is refused as yes or no", bools[i]);
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		ok(taken(texts[i], "-") && taken(texts[i], "x") && taken(texts[i], "{}"),
		    "%s may be any text, or missing", fields[texts[i]]);
}

/* The decisions. */

/* A sight of a container, as bits. */
enum { PAUSES = 1, ALONE = 2, TASK = 4, NODE = 8, EXECS = 16 };

static enum idleness
check_judge(unsigned bits, bool used, int64_t age)
{
	static const char *const says[] = { "busy", "left", "idle" };
	const struct pausing p = { .used = used, .first_exec = 30, .created = 1000000 };
	const struct sight s = { .pauses = bits & PAUSES, .alone = bits & ALONE, .task = bits & TASK, .has_node = bits & NODE,
		.execs = bits & EXECS };
	enum idleness want = IDLENESS_BUSY, is = pausing_judge(&p, &s, 1000000 + age);
	char sees[80];

	/*
	 * process 1 pauses, no exec is under way, and the container had its task, or its time for
	 * one
	 */
	if ((bits & (PAUSES | EXECS)) == PAUSES && (used || age >= 30000)) {
		if ((bits & (ALONE | NODE)) == ALONE)
			want = IDLENESS_IDLE;
		if ((bits & (ALONE | TASK)) == 0)
			want = IDLENESS_LEFT;
	}
	snprintf(sees, sizeof(sees), "%s%s%s%s%s", bits & PAUSES ? "pauses" : "runs something", bits & ALONE ? ", alone" : "",
	    bits & TASK ? ", a task" : "", bits & NODE ? ", a node open" : "", bits & EXECS ? ", an exec" : "");
	ok(is == want, "%s: %s, %s, %lld ms old", says[want], sees, used ? "used" : "not used", (long long)age);
	return is;
}

static void
test_judge(void)
{
	static const int64_t ages[] = { -5, 0, 29999, 30000, 30001, 86400000 };
	unsigned bits, k, n[3] = { 0 };

	for (bits = 0; bits < 32; bits++)
		for (k = 0; k < 6; k++) {
			n[check_judge(bits, false, ages[k])]++;
			n[check_judge(bits, true, ages[k])]++;
		}
	/*
	 * of 32 sights, 2 are idle (alone and without a node, with any «task») and 2 are left
	 * (neither alone nor with a task); 6 ages count if the container was used, and 3 if it was
	 * not
	 */
	ok(n[IDLENESS_IDLE] == 2 * 9 && n[IDLENESS_LEFT] == 2 * 9,
	    "the expected numbers of cases are idle and left");
}

/* The longest first_exec does not overflow the clock. */
static void
test_judge_long(void)
{
	const struct pausing p = { .first_exec = UINT32_MAX, .created = 5 };
	const struct sight s = { .pauses = true, .alone = true };

	ok(pausing_judge(&p, &s, 4294967295004) == IDLENESS_BUSY && pausing_judge(&p, &s, 4294967295005) == IDLENESS_IDLE,
	    "the longest first_exec ends at its time");
}

static void
test_turn_of_exec(void)
{
	static const struct {
		enum lease_state state;
		int shut, lives;	/* -1: either */
		int64_t since;		/* -1: any time */
		enum exec_turn turn;
		const char *what;
	} t[] = {
		{ LEASE_HELD, 0, -1, -1, EXEC_GOES_ON, "HELD, and never shut: the exec goes on" },
		{ LEASE_HELD, 1, -1, -1, EXEC_OPENS,
		    "HELD, and shut before: the exec opens the gate" },
		{ LEASE_DRAINING, -1, -1, -1, EXEC_GOES_ON, "DRAINING: the exec goes on" },
		{ LEASE_GIVEN_BACK, -1, -1, -1, EXEC_COMES_BACK,
		    "GIVEN_BACK: the exec makes the lease come back" },
		{ LEASE_GIVING_BACK, -1, 0, -1, EXEC_OPENS,
		    "GIVING_BACK, and the giver is gone: the exec opens the gate" },
		{ LEASE_GIVING_BACK, -1, 1, 0, EXEC_WAITS, "GIVING_BACK: the exec waits" },
		{ LEASE_GIVING_BACK, -1, 1, GIVING_BACK_MS - 1, EXEC_WAITS,
		    "GIVING_BACK, just in time: the exec waits" },
		{ LEASE_GIVING_BACK, -1, 1, GIVING_BACK_MS, EXEC_OPENS,
		    "GIVING_BACK, and the time is over: the exec opens the gate" },
		{ LEASE_GIVING_BACK, -1, 1, 86400000, EXEC_OPENS,
		    "GIVING_BACK, much later: the exec opens the gate" },
		{ LEASE_COMING_BACK, -1, 0, -1, EXEC_COMES_BACK,
		    "COMING_BACK, and the owner is gone: the exec makes the lease come back" },
		{ LEASE_COMING_BACK, -1, 1, 0, EXEC_WAITS, "COMING_BACK: the exec waits" },
		{ LEASE_COMING_BACK, -1, 1, GIVING_BACK_MS - 1, EXEC_WAITS,
		    "COMING_BACK, just in time: the exec waits" },
		{ LEASE_COMING_BACK, -1, 1, GIVING_BACK_MS, EXEC_COMES_BACK,
		    "COMING_BACK, and the time is over: the exec makes the lease come back" },
		{ LEASE_COMING_BACK, -1, 1, 86400000, EXEC_COMES_BACK,
		    "COMING_BACK, much later: the exec makes the lease come back" },
	};
	static const int64_t times[] = { 0, 1, GIVING_BACK_MS - 1, GIVING_BACK_MS, GIVING_BACK_MS + 1, 86400000 };
	unsigned shut, lives_too, wrong;
	size_t i, k;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		for (wrong = 0, shut = 0; shut < 2; shut++)
			for (lives_too = 0; lives_too < 2; lives_too++)
				for (k = 0; k < sizeof(times) / sizeof(times[0]); k++) {
					const struct pausing p = { .shut = shut, .giving_since = 7000, .giver = { 1, 1 } };

					if ((t[i].shut != -1 && t[i].shut != (int)shut) || (t[i].lives != -1 && t[i].lives != (int)lives_too) ||
					    (t[i].since != -1 && t[i].since != times[k]))
						continue;
					wrong += turn_of_exec(t[i].state, &p, lives_too, 7000 + times[k]) != t[i].turn;
				}
		is_int(wrong, 0, "an exec's turn: %s", t[i].what);
	}
}

static void
test_turn_is_stale(void)
{
	static const int64_t times[] = { 0, 1, GIVING_BACK_MS - 1, GIVING_BACK_MS, GIVING_BACK_MS + 1, 86400000 };
	struct pausing p = { .giver = { 1, 1 }, .giving_since = 7000 };
	size_t i;

	for (i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		ok(turn_is_stale(&p, false, 7000 + times[i]) && turn_is_stale(&p, true, 7000 + times[i]) == (i >= 3),
		    "a living owner's turn is over after %d ms: %lld", GIVING_BACK_MS,
		    (long long)times[i]);
}

/* A case of turn_to_give_back(). Times say how long ago something was; left == -1 means never. */
struct giving {
	enum lease_state state;
	enum idle_setting idle;
	enum idleness idleness;
	bool mine, lives;
	int64_t marked, left;
	uint32_t behind;
};

/* The rule in the words of idle.h and gpuhelper.conf(5), not in those of the code. */
static bool
may_give(const struct giving *g)
{
	if (!(g->state == LEASE_HELD || g->state == LEASE_GIVING_BACK) || g->idle == IDLE_KEEP || g->idleness == IDLENESS_BUSY)
		return false;
	/*
	 * processes left behind may stay for their time, which counts from when they were first
	 * seen
	 */
	if (g->idleness == IDLENESS_LEFT &&
	    (g->behind == LEFT_BEHIND_KEEP || g->left < 0 || g->left < 1000 * (int64_t)g->behind))
		return false;
	/* the giver, if it lives, has its time for this */
	return g->state == LEASE_HELD || g->mine || !g->lives || g->marked >= GIVING_BACK_MS;
}

/*
 * The same pid with another start time is another process, and so is another pid with the same
 * start time.
 */
static unsigned
is_wrong(const struct giving *g)
{
	static const struct process_id me = { 7, 8 }, others[] = { { 7, 9 }, { 9, 8 }, { 0, 0 } };
	const int64_t now = 5000000000000;
	struct pausing p = { .idle = g->idle, .left_behind = g->behind, .left_since = g->left == -1 ? 0 : now - g->left,
		.giver = me, .giving_since = now - g->marked };
	unsigned i, wrong = 0;

	for (i = 0; i < (g->mine ? 1U : 3U); i++) {
		if (!g->mine)
			p.giver = others[i];
		wrong += turn_to_give_back(g->state, &p, g->idleness, &me, g->lives, now) != may_give(g);
	}
	return wrong;
}

static void
test_turn_to_give_back(void)
{
	static const uint32_t behind[] = { 0, 60, 86400, LEFT_BEHIND_KEEP };
	static const int64_t left[] = { -1, 0, 59999, 60000, 86400000, 4294967295000 }, marked[] = { 0, 9999, 10000,
	    4294967295000 };
	unsigned i, yes = 0, wrong = 0;
	const unsigned cases = 5 * 3 * 3 * 2 * 2 * 4 * 6 * 4;
	struct giving g;

	for (i = 0; i < cases; i++) {
		unsigned rest = i;

		g.state = (enum lease_state)(rest % 5);
		g.idle = (enum idle_setting)((rest /= 5) % 3);
		g.idleness = (enum idleness)((rest /= 3) % 3);
		g.mine = (rest /= 3) % 2;
		g.lives = (rest /= 2) % 2;
		g.marked = marked[(rest /= 2) % 4];
		g.left = left[(rest /= 4) % 6];
		g.behind = behind[rest / 6];
		yes += may_give(&g);
		wrong += is_wrong(&g);
	}
	ok(yes > 1000 && yes < cases / 2, "GPUs may be given back in %u of %u cases", yes, cases);
	is_int(wrong, 0, "turn_to_give_back() allows exactly these cases");
}

static void
test_turn_to_end(void)
{
	static const struct process_id givers[] = { { 7, 8 }, { 7, 9 }, { 9, 8 }, { 0, 0 } };
	const struct process_id me = givers[0];
	enum idleness i;
	int state;
	size_t g;

	for (state = LEASE_HELD; state <= LEASE_COMING_BACK; state++)
		for (i = IDLENESS_BUSY; i <= IDLENESS_IDLE; i++)
			for (g = 0; g < sizeof(givers) / sizeof(givers[0]); g++) {
				const struct pausing p = { .giver = givers[g] };
				const bool want = state == LEASE_GIVING_BACK && i == IDLENESS_IDLE && g == 0;

				ok(turn_to_end((enum lease_state)state, &p, i, &me) == want,
				    "%s lease that is %s ends: idleness %d, %s giver",
				    want ? "a" : "no", lease_state_name((enum lease_state)state), i,
				    g == 0 ?
				    "its own" : "another");
			}
}

static void
test_file_id(void)
{
	const struct file_id a = { 1, 2, 3 };

	ok(file_id_same(&a, &(struct file_id){ 1, 2, 3 }) && !file_id_same(&a, &(struct file_id){ 2, 2, 3 }) &&
	    !file_id_same(&a, &(struct file_id){ 1, 3, 3 }) && !file_id_same(&a, &(struct file_id){ 1, 2, 4 }),
	    "two files are the same only if all numbers are");
}

/* The worlds. */

static void
tell_world(const struct world *w, unsigned number, unsigned at)
{
	size_t i = w->traced > TRACE ? w->traced - TRACE : 0;

	printf(
	    "# world %u after %u steps: %s; containers:\n", number, at,
	    w->fault != NULL ? w->fault : "-");
	for (; i < w->traced; i++) {
		printf("#   %lld ", (long long)w->trace[i % TRACE].now);
		if (w->trace[i % TRACE].actor < ACTORS)
			printf("actor %zu ", w->trace[i % TRACE].actor);
		printf("%s", w->trace[i % TRACE].what);
		if (w->trace[i % TRACE].box < BOXES)
			printf(" container %zu", w->trace[i % TRACE].box);
		printf("\n");
	}
	for (i = 0; i < w->boxes; i++)
		printf("#   container %zu: %s%s, gate %s, %zu tasks\n", i, w->box[i].gone ? "gone, " : "",
		    lease_state_name(w->box[i].state), w->box[i].open ? "open" : "shut", tasks_in(w, i));
}

/* Whether this fault is new. Only the first world with a fault is shown. */
static bool
is_new(const char *what)
{
	static const char *seen[32];
	size_t i;

	for (i = 0; i < sizeof(seen) / sizeof(seen[0]); i++) {
		if (seen[i] == NULL) {
			seen[i] = what;
			return true;
		}
		if (strcmp(seen[i], what) == 0)
			return false;
	}
	return false;
}

static void
add_up(struct figures *all, const struct figures *n)
{
	all->given_back += n->given_back;
	all->began += n->began;
	all->got += n->got;
	all->gave_up += n->gave_up;
	all->came_back += n->came_back;
	all->undone += n->undone;
	all->late += n->late;
	all->took += n->took;
	all->takeovers += n->takeovers;
	all->dropped += n->dropped;
	all->skipped += n->skipped;
	all->unlocked += n->unlocked;
	all->opened += n->opened;
	all->retaken += n->retaken;
	all->without += n->without;
	all->through += n->through;
	all->ended += n->ended;
}

static void
tell_figures(const struct figures *n)
{
	printf(
	    "# %lu execs began, %lu of them in containers that came back (%lu were undone, %lu too "
	    "late), %lu of them with\n# a finished OPEN; %lu gave up\n",
	    n->began, n->came_back, n->undone, n->late, n->got, n->gave_up);
	printf("# %lu leases ended, %lu askers took the GPU; %lu marks were taken over, %lu dropped\n", n->given_back, n->took,
	    n->takeovers, n->dropped);
	printf(
	    "# %lu chores were void when they were looked at, %lu did not get their lock\n",
	    n->skipped, n->unlocked);
	printf(
	    "# engines opened %lu gates of leases that were given back; %lu were shut again\n",
	    n->opened, n->retaken);
	printf(
	    "# not faults: %lu tasks began without the GPU, which nobody had; %lu times the GPU "
	    "was given away while an actor\n# that came through an engine's gate had the node "
	    "open; %lu tasks without a GPU were ended with another task's rest\n",
	    n->without, n->through, n->ended);
}

/* Checks that all events come up. */
static void
check_figures(const struct figures *n)
{
	ok(n->given_back > WORLDS / 2 && n->came_back > WORLDS / 8 && n->took > WORLDS && n->began > WORLDS &&
	    n->got > WORLDS / 2, "the main events come up often");
	ok(n->takeovers > 100 && n->dropped > 100 && n->undone > 100 && n->late > 10,
	    "takeovers, dropped marks, undone steps and late execs come up");
	ok(n->skipped > 100 && n->unlocked > 100, "late chores and undone chores come up");
	ok(n->opened > 100 && n->retaken > 100, "gates opened by engines come up");
}

static void
test_worlds(void)
{
	const char *given = getenv("PAUSING_SEED");
	const bool strict = getenv("PAUSING_STRICT") != NULL;
	unsigned number, n, longest = 0, faults = 0, starved = 0;
	struct figures all = { 0 };
	static struct world w;
	uint64_t first;

	if (given != NULL)
		seed = strtoull(given, NULL, 0);
	first = seed;
	printf("# PAUSING_SEED=%llu%s\n", (unsigned long long)first, strict ? " PAUSING_STRICT=1" : "");
	for (number = 0; number < WORLDS; number++) {
		seed = first + ((uint64_t)number << 32);
		world_init(&w, strict);
		for (n = 0; n < STEPS && w.fault == NULL; n++)
			step(&w);
		if (w.fault == NULL) {
			n = world_settle(&w);
			starved += n == CALM_STEPS;
			if (n == CALM_STEPS)
				fault(&w, "an actor that waits does not get the GPU");
			longest = w.fault == NULL && n > longest ? n : longest;
		}
		if (w.fault != NULL && faults++ < WORLDS && is_new(w.fault))
			tell_world(&w, number, n);
		add_up(&all, &w.n);
		world_free(&w);
	}
	tell_figures(&all);
	printf("# at most %u steps until a waiting actor has the GPU\n", longest);
	check_figures(&all);
	is_int(starved, 0, "every waiting actor gets the GPU, in %u steps at most", longest);
	is_int(faults, 0, "none of %u worlds has a fault", WORLDS);
}

#if !defined(__SANITIZE_ADDRESS__)
/* The two functions return the text of a whole record, or NULL. */

static struct pausing sample;
static char *spelt;

static char *
write_pausing(void)
{
	return written(&sample);
}

static char *
read_pausing(void)
{
	struct pausing p;
	char *text = NULL;
	long keep;

	if (is_read(spelt, &p)) {
		keep = fail_at;
		fail_at = -1;
		text = written(&p);
		fail_at = keep;
	}
	pausing_free(&p);
	return text;
}

static void
test_memory(void)
{
	fill(&sample);
	spelt = written(&sample);
	starve("a record of tasks is written", write_pausing);
	starve("a record of tasks is read", read_pausing);
	free(spelt);
	pausing_free(&sample);
}
#else
static void
test_memory(void)
{
	skip("when memory runs out", "a sanitizer has its own allocator");
}
#endif

int
main(void)
{
	if (getenv("PAUSING_WORLDS_ONLY") == NULL) {
		test_round_trip();
		test_execs_max();
		test_refused();
		test_judge();
		test_judge_long();
		test_turn_of_exec();
		test_turn_is_stale();
		test_turn_to_give_back();
		test_turn_to_end();
		test_file_id();
		test_memory();
	}
	test_worlds();
	return done_testing();
}
