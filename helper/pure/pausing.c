/* See pausing.h. */
#include "pausing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

static const char *const states[] = { "held", "draining", "giving-back", "given-back", "coming-back", "passed-on" };

const char *
lease_state_name(enum lease_state s)
{
	return states[s];
}

bool
lease_state_named(const char *name, enum lease_state *out)
{
	size_t i;

	for (i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (strcmp(name, states[i]) == 0) {
			*out = (enum lease_state)i;
			return true;
		}
	return false;
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
	json_decref(p->who);
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

/* Text.  Numbers of 64 bits are strings: JSON's may not hold them. */

static json_t *
pack_u64(uint64_t n)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)n);
	return json_string(text);
}

json_t *
process_id_pack(const struct process_id *p)
{
	return json_pack("[I, o]", (json_int_t)p->pid, pack_u64(p->start));
}

json_t *
pausing_pack(const struct pausing *p)
{
	json_t *execs = json_array();
	size_t i;

	for (i = 0; i < p->execs; i++)
		if (json_array_append_new(execs, process_id_pack(&p->exec[i])) == -1) {
			json_decref(execs);
			return NULL;
		}
	return json_pack("{s:[I,I,o], s:s*, s:i, s:I, s:I, s:I, s:b, s:b, s:o, s:I, s:o, s:I, s:I, s:I, s:I, s:O*}",
	    "program", (json_int_t)p->program.major, (json_int_t)p->program.minor, pack_u64(p->program.inode),
	    "gate", p->gate, "idle", (int)p->idle, "first_exec", (json_int_t)p->first_exec,
	    "left_behind", (json_int_t)p->left_behind, "created", (json_int_t)p->created, "used", p->used, "shut", p->shut,
	    "execs", execs, "left_since", (json_int_t)p->left_since, "giver", process_id_pack(&p->giver),
	    "giving_since", (json_int_t)p->giving_since, "waited", (json_int_t)p->waited, "uid", (json_int_t)p->uid,
	    "gid", (json_int_t)p->gid, "who", p->who);
}

static bool
read_u64(const json_t *j, uint64_t *out)
{
	return json_is_string(j) && text_u64(json_string_value(j), UINT64_MAX, out);
}

static bool
read_u32(const json_t *j, uint32_t *out)
{
	json_int_t v = json_integer_value(j);

	*out = (uint32_t)v;
	return json_is_integer(j) && v >= 0 && v <= UINT32_MAX;
}

static bool
read_time(const json_t *j, int64_t *out)
{
	*out = json_integer_value(j);
	return json_is_integer(j) && *out >= 0;
}

bool
process_id_unpack(const json_t *j, struct process_id *out)
{
	uint32_t pid;

	if (json_array_size(j) != 2 || !read_u32(json_array_get(j, 0), &pid) || pid > INT32_MAX ||
	    !read_u64(json_array_get(j, 1), &out->start))
		return false;
	out->pid = (pid_t)pid;
	return true;
}

static bool
read_execs(const json_t *list, struct pausing *p)
{
	struct process_id one;
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
		if (!process_id_unpack(item, &one) || !pausing_add_exec(p, one))
			return false;
	return json_is_array(list);
}

static bool
read_all(const json_t *j, struct pausing *p)
{
	const json_t *program = json_object_get(j, "program"), *gate = json_object_get(j, "gate");
	const json_t *used = json_object_get(j, "used"), *shut = json_object_get(j, "shut");
	uint32_t idle;

	if (json_array_size(program) != 3 || !read_u32(json_array_get(program, 0), &p->program.major) ||
	    !read_u32(json_array_get(program, 1), &p->program.minor) ||
	    !read_u64(json_array_get(program, 2), &p->program.inode) || !read_u32(json_object_get(j, "idle"), &idle) ||
	    idle > IDLE_KEEP || !json_is_boolean(used) || !json_is_boolean(shut) ||
	    (gate != NULL && (!json_is_string(gate) || (p->gate = strdup(json_string_value(gate))) == NULL)))
		return false;
	p->idle = (enum idle_setting)idle;
	p->used = json_is_true(used);
	p->shut = json_is_true(shut);
	p->who = json_incref(json_object_get(j, "who"));
	return read_u32(json_object_get(j, "waited"), &p->waited) && read_u32(json_object_get(j, "uid"), &p->uid) &&
	    read_u32(json_object_get(j, "gid"), &p->gid) && (p->who == NULL || json_is_object(p->who)) &&
	 read_u32(json_object_get(j, "first_exec"), &p->first_exec) &&
	    read_u32(json_object_get(j, "left_behind"), &p->left_behind) &&
	    read_time(json_object_get(j, "created"), &p->created) &&
	    read_time(json_object_get(j, "left_since"), &p->left_since) &&
	    read_time(json_object_get(j, "giving_since"), &p->giving_since) &&
	    process_id_unpack(json_object_get(j, "giver"), &p->giver) && read_execs(json_object_get(j, "execs"), p);
}

bool
pausing_unpack(const json_t *j, struct pausing *p)
{
	*p = (struct pausing){ 0 };
	if (read_all(j, p))
		return true;
	pausing_free(p);
	return false;
}

/* Decisions. */

enum idleness
pausing_judge(const struct pausing *p, const struct sight *s, int64_t now)
{
	if (!s->pauses || s->execs)
		return IDLENESS_BUSY;
	/* until its first exec has come it has no task to be over */
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
