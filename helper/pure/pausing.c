/* See pausing.h. */
#include "pausing.h"

#include <stdlib.h>

#include "text.h"

static const char *const states[] = { "held", "draining", "giving-back", "given-back", "coming-back", "passed-on" };

const char *
lease_state_name(enum lease_state s)
{
	return states[s];
}

enum lease_state
lease_state_word(struct lines *s, enum lease_state state)
{
	return (enum lease_state)word_name(s, states, sizeof(states) / sizeof(states[0]), state);
}

bool
file_id_same(const struct file_id *a, const struct file_id *b)
{
	return a->major == b->major && a->minor == b->minor && a->inode == b->inode;
}

void
pausing_free(struct pausing *p)
{
	free(p->gate);
	free(p->exec);
	free(p->who);
	*p = (struct pausing){ 0 };
}

bool
pausing_add_exec(struct pausing *p, struct process_id runtime)
{
	struct process_id *v;

	if (p->execs >= EXECS_MAX || (v = reallocarray(p->exec, p->execs + 1, sizeof(*v))) == NULL)
		return false;
	p->exec = v;
	v[p->execs++] = runtime;
	return true;
}

void
process_id_words(struct lines *s, struct process_id *p)
{
	uint32_t pid = (uint32_t)p->pid;

	word_u32(s, &pid);
	word_u64(s, &p->start);
	p->pid = (pid_t)pid;
	if (pid > INT32_MAX)
		s->failed = true;
}

static void
exec_lines(struct lines *s, struct pausing *p)
{
	struct process_id *exec;
	size_t i;

	for (i = 0; lines_more(s, "exec", i < p->execs); i++) {
		if (i == EXECS_MAX || (exec = lines_member(s, (void **)&p->exec, &p->execs, i, sizeof(*p->exec))) == NULL)
			return;
		process_id_words(s, exec);
	}
}

void
pausing_lines(struct lines *s, struct pausing *p)
{
	static const char *const idles[] = { "give-back", "stop", "keep" };

	lines_begin(s, "pausing");
	word_u32(s, &p->program.major);
	word_u32(s, &p->program.minor);
	word_u64(s, &p->program.inode);
	word_copy_if_any(s, &p->gate);
	p->idle = (enum idle_setting)word_name(s, idles, sizeof(idles) / sizeof(idles[0]), p->idle);
	word_u32(s, &p->first_exec);
	word_u32(s, &p->left_behind);
	word_i64(s, &p->created);
	word_bool(s, &p->used);
	word_bool(s, &p->shut);
	word_i64(s, &p->left_since);
	process_id_words(s, &p->giver);
	word_i64(s, &p->giving_since);
	word_u32(s, &p->waited);
	word_u32(s, &p->uid);
	word_u32(s, &p->gid);
	word_copy_if_any(s, &p->who);
	exec_lines(s, p);
}

/* Decisions. */

enum idleness
pausing_judge(const struct pausing *p, const struct sight *s, int64_t now)
{
	if (!s->pauses || s->execs)
		return IDLENESS_BUSY;
	/* before its first exec it has no task that could be over */
	if (!p->used && now - p->created < (int64_t)p->first_exec * 1000)
		return IDLENESS_BUSY;
	if (s->alone)
		return s->has_node ? IDLENESS_BUSY : IDLENESS_IDLE;
	return s->task ? IDLENESS_BUSY : IDLENESS_LEFT;
}

bool
turn_is_stale(const struct pausing *p, bool giver_lives, int64_t now)
{
	return !giver_lives || now - p->giving_since >= GIVING_BACK_MS;
}

enum exec_turn
turn_of_exec(enum lease_state s, const struct pausing *p, bool giver_lives, int64_t now)
{
	const bool stale = turn_is_stale(p, giver_lives, now);

	switch (s) {
	case LEASE_GIVING_BACK:
		return stale ? EXEC_OPENS : EXEC_WAITS;
	case LEASE_COMING_BACK:
		return stale ? EXEC_COMES_BACK : EXEC_WAITS;
	case LEASE_GIVEN_BACK:
		return EXEC_COMES_BACK;
	case LEASE_HELD:
		return p->shut ? EXEC_OPENS : EXEC_GOES_ON;
	case LEASE_DRAINING:
	case LEASE_PASSED_ON:
		break;
	}
	return EXEC_GOES_ON;
}

static bool
may_be_cleared(const struct pausing *p, int64_t now)
{
	return p->left_behind != LEFT_BEHIND_KEEP && p->left_since != 0 &&
	    now - p->left_since >= (int64_t)p->left_behind * 1000;
}

bool
turn_to_give_back(enum lease_state s, const struct pausing *p, enum idleness i, const struct process_id *me,
    bool giver_lives, int64_t now)
{
	if (p->idle == IDLE_KEEP || !(i == IDLENESS_IDLE || (i == IDLENESS_LEFT && may_be_cleared(p, now))))
		return false;
	if (s == LEASE_GIVING_BACK)
		return process_id_same(&p->giver, me) || turn_is_stale(p, giver_lives, now);
	return s == LEASE_HELD;
}

bool
turn_to_end(enum lease_state s, const struct pausing *p, enum idleness i, const struct process_id *me)
{
	return s == LEASE_GIVING_BACK && process_id_same(&p->giver, me) && i == IDLENESS_IDLE;
}
