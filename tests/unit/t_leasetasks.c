/*
 * lease/leasetasks.c: what is decided about containers that were promised GPUs; by tables, and in a model world
 * (taskmodel.h), which also runs leasewants.c and lease_holding().
 *
 * usage: t_leasetasks [WORLDS [SEED]]
 */
#include <stdlib.h>

#include "taskmodel.h"
#include "tap.h"

static const struct process_id me = { 7, 8 }, other = { 7, 9 };

static void
test_judge(void)
{
	enum idleness want;
	struct activity s;
	unsigned bits, wrong = 0;

	for (bits = 0; bits < 16; bits++) {
		s = (struct activity){ .placeholder = bits & 1, .alone = bits & 2, .task = bits & 4, .has_node = bits & 8 };
		want = !s.placeholder || s.task ? IDLENESS_BUSY : !s.alone ? IDLENESS_LEFT : s.has_node ? IDLENESS_BUSY : IDLENESS_IDLE;
		wrong += activity_classify(&s) != want;
	}
	is_int(wrong, 0, "all 16 sights of a container are judged");
}

static void
test_turn_of_task(void)
{
	static const struct {
		enum lease_state state;
		bool lives;
		int64_t after;
		enum task_next turn;
		const char *name;
	} t[] = {
		{ LEASE_PROMISED, false, 0, TASK_ACQUIRES, "promised: takes" },
		{ LEASE_HELD, true, 0, TASK_JOINS, "held: joins" },
		{ LEASE_ACQUIRING, true, 0, TASK_WAITS, "another process takes: waits" },
		{ LEASE_ACQUIRING, true, REVOKING_MS - 1, TASK_WAITS, "it is still in time: waits" },
		{ LEASE_ACQUIRING, true, REVOKING_MS, TASK_ACQUIRES, "its time is over: takes" },
		{ LEASE_ACQUIRING, false, 0, TASK_ACQUIRES, "it has ended: takes" },
		{ LEASE_REVOKING, true, 0, TASK_WAITS, "being given back: waits" },
		{ LEASE_REVOKING, false, REVOKING_MS, TASK_WAITS, "the giver has ended: the next look takes its mark back" },
		{ LEASE_RELEASING, true, 0, TASK_FAILS, "draining: fails" },
		{ LEASE_LEAKED, true, 0, TASK_FAILS, "passed on: fails" },
	};
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		const struct lease_tasks p = { .changing_since = 5000 };

		is_int(task_next_of(t[i].state, &p, t[i].lives, 5000 + t[i].after), t[i].turn, "%s", t[i].name);
	}
}

static void
test_turn_to_give_back(void)
{
	unsigned state, idle, idleness, mine, alive, late, cleared, wrong = 0, yes = 0;
	bool want, done;

	for (state = LEASE_HELD; state <= LEASE_LEAKED; state++)
		for (idle = IDLE_GIVE_BACK; idle <= IDLE_KEEP; idle++)
			for (idleness = IDLENESS_BUSY; idleness <= IDLENESS_IDLE; idleness++)
				for (mine = 0; mine < 2; mine++)
					for (alive = 0; alive < 2; alive++)
						for (late = 0; late < 2; late++)
							for (cleared = 0; cleared < 4; cleared++) {
								const struct lease_tasks p = { .idle = (enum idle_setting)idle, .changer = mine ? me : other,
									.changing_since = late ? 1000 : 95000, .left_since = cleared == 0 ? 0 : cleared == 1 ? 95000 : 20000,
									.left_behind = cleared == 3 ? LEFT_BEHIND_KEEP : 60 };

								done = idleness == IDLENESS_IDLE || (idleness == IDLENESS_LEFT && cleared == 2);
								want = idle != IDLE_KEEP && done &&
								    (state == LEASE_HELD || (state == LEASE_REVOKING && (mine || !alive || late)));
								yes += want;
								wrong += want != may_revoke((enum lease_state)state, &p, (enum idleness)idleness, &me, alive, 100000);
							}
	ok(yes > 50, "%u combinations allow to give back", yes);
	is_int(wrong, 0, "no other combination does");
}

static void
test_turn_to_end(void)
{
	unsigned state, idleness, mine, wrong = 0;

	for (state = LEASE_HELD; state <= LEASE_LEAKED; state++)
		for (idleness = IDLENESS_BUSY; idleness <= IDLENESS_IDLE; idleness++)
			for (mine = 0; mine < 2; mine++) {
				const struct lease_tasks p = { .changer = mine ? me : other };

				wrong += may_end_revoking((enum lease_state)state, &p, (enum idleness)idleness, &me) !=
				    (state == LEASE_REVOKING && mine && idleness == IDLENESS_IDLE);
			}
	is_int(wrong, 0, "a lease ends only for its giver, and only if its container is idle");
}

static void
test_left_remains(void)
{
	const struct lease_tasks keep = { .left_behind = LEFT_BEHIND_KEEP, .left_since = 5 }, none = { .left_behind = 60 };
	const struct lease_tasks left = { .left_behind = 60, .left_since = 1000 }, most = { .left_behind = UINT32_MAX - 1, .left_since = 1000 };

	is_int(left_remains(&keep, 100000), -1, "kept processes may stay for ever");
	is_int(left_remains(&none, 100000), 60000, "before any was seen, all of the time is left");
	is_int(left_remains(&left, 1000), 60000, "at first all of the time is left");
	is_int(left_remains(&left, 60999), 1, "at last one millisecond is left");
	is_int(left_remains(&left, 61000), 0, "then none is left");
	is_int(left_remains(&left, INT64_MAX), 0, "later none is left either");
	ok(left_remains(&most, 1000) == (int64_t)(UINT32_MAX - 1) * 1000, "the longest time does not overflow");
}

static void
test_open(void)
{
	struct promised_node node[3] = { { 195, 0, true }, { 195, 1, false }, { 195, 255, false } };
	struct lease_tasks p = { .node = node, .nodes = 3 };
	const struct devnum open[] = { { 195, 1 }, { 195, 255 }, { 226, 128 } };

	lease_tasks_allow(&p, open, 3);
	ok(!node[0].allowed && node[1].allowed && node[2].allowed, "the nodes of the list are open, and no others");
	lease_tasks_allow(&p, NULL, 0);
	ok(!node[0].allowed && !node[1].allowed && !node[2].allowed, "without a list none is open");
}

static void
test_file_id(void)
{
	const struct file_id a = { 8, 1, 7 }, others[] = { { 9, 1, 7 }, { 8, 2, 7 }, { 8, 1, 8 } };

	ok(file_id_same(&a, &(struct file_id){ 8, 1, 7 }), "a file is the same as itself");
	ok(!file_id_same(&a, &others[0]) && !file_id_same(&a, &others[1]) && !file_id_same(&a, &others[2]),
	    "it is not the same as one that differs in a member");
}

static void
test_worlds(unsigned worlds, uint64_t first)
{
	unsigned long went = 0, gave = 0, refused = 0, killed = 0, stale = 0, seen = 0;
	const char *fault = NULL;
	static struct world w;
	unsigned i;

	for (i = 0; i < worlds && fault == NULL; i++) {
		fault = live_world(&w, first + i, 400);
		went += w.went;
		gave += w.gave;
		refused += w.refused;
		killed += w.killed;
		stale += w.stale;
		seen += w.seen;
	}
	ok(fault == NULL, "%u worlds: %s (seed %llu)", worlds, fault != NULL ? fault : "no fault", (unsigned long long)(first + i - 1));
	ok(worlds < 100 || (went > worlds && gave > worlds && refused > 0 && killed > worlds && stale > 0 && seen > 0),
	    "all of it happened: %lu tasks went on, %lu gave back, %lu met another container's process, %lu kills, %lu stale marks, "
	    "%lu rules of engines", went, gave, refused, killed, stale, seen);
}

int
main(int argc, char **argv)
{
	test_judge();
	test_turn_of_task();
	test_turn_to_give_back();
	test_turn_to_end();
	test_left_remains();
	test_open();
	test_file_id();
	test_worlds(argc > 1 ? (unsigned)atoi(argv[1]) : rounds(10000), argc > 2 ? strtoull(argv[2], NULL, 10) : 1);
	return done_testing();
}
