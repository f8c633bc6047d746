/* See leasetasks.h. */
#include "leasetasks.h"

#include <stdlib.h>

#include "../base/text.h"
#include "../base/times.h"

static const char *const states[] = { "held", "draining", "giving-back", "promised", "taking", "passed-on" };

const char *
lease_state_name(enum lease_state s)
{
	return states[s];
}

enum lease_state
lease_state_word(struct lines *s, enum lease_state state)
{
	return (enum lease_state)field_name(s, states, sizeof(states) / sizeof(states[0]), state);
}

bool
file_id_same(const struct file_id *a, const struct file_id *b)
{
	return a->major == b->major && a->minor == b->minor && a->inode == b->inode;
}

void
lease_tasks_free(struct lease_tasks *p)
{
	free(p->devcgroup);
	free(p->asked);
	free(p->promised_gpu);
	free(p->node);
	free(p->who);
	*p = (struct lease_tasks){ 0 };
}

void
lease_tasks_allow(struct lease_tasks *p, const struct devnum *v, size_t n)
{
	size_t i, k;

	for (i = 0; i < p->nodes; i++)
		for (p->node[i].allowed = false, k = 0; k < n && !p->node[i].allowed; k++)
			p->node[i].allowed = p->node[i].major == v[k].major && p->node[i].minor == v[k].minor;
}

void
process_id_fields(struct lines *s, struct process_id *p)
{
	uint32_t pid = (uint32_t)p->pid;

	field_u32(s, &pid);
	field_u64(s, &p->start);
	p->pid = (pid_t)pid;
	if (pid > INT32_MAX)
		s->failed = true;
}

static void
promised_node_fields(struct lines *s, void *member)
{
	struct promised_node *n = member;

	field_u32(s, &n->major);
	field_u32(s, &n->minor);
	field_bool(s, &n->allowed);
}

void
lease_tasks_lines(struct lines *s, struct lease_tasks *p)
{
	static const char *const idles[] = { "give-back", "stop", "keep" };

	lines_begin(s, "pausing");
	field_u32(s, &p->program.major);
	field_u32(s, &p->program.minor);
	field_u64(s, &p->program.inode);
	field_copy_if_any(s, &p->devcgroup);
	p->idle = (enum idle_setting)field_name(s, idles, sizeof(idles) / sizeof(idles[0]), p->idle);
	field_u32(s, &p->left_behind);
	field_copy_if_any(s, &p->asked);
	process_id_fields(s, &p->task);
	field_i64(s, &p->left_since);
	process_id_fields(s, &p->changer);
	field_i64(s, &p->changing_since);
	field_u32(s, &p->waited);
	field_u32(s, &p->uid);
	field_u32(s, &p->gid);
	field_copy_if_any(s, &p->who);
	lines_members(s, "may", (void **)&p->promised_gpu, &p->promised_gpus, PROMISED_GPUS_MAX, sizeof(*p->promised_gpu),
	    leased_gpu_fields);
	lines_members(s, "promised", (void **)&p->node, &p->nodes, PROMISED_NODES_MAX, sizeof(*p->node), promised_node_fields);
}

/* Decisions. */

enum idleness
activity_classify(const struct activity *s)
{
	if (!s->placeholder || s->task)
		return IDLENESS_BUSY;
	if (!s->alone)
		return IDLENESS_LEFT;
	return s->has_node ? IDLENESS_BUSY : IDLENESS_IDLE;
}

bool
changer_is_stale(const struct lease_tasks *p, bool changer_lives, int64_t now)
{
	return !changer_lives || now - p->changing_since >= REVOKING_MS;
}

enum task_next
task_next_of(enum lease_state s, const struct lease_tasks *p, bool changer_lives, int64_t now)
{
	switch (s) {
	case LEASE_PROMISED:
		return TASK_ACQUIRES;
	case LEASE_ACQUIRING:
		return changer_is_stale(p, changer_lives, now) ? TASK_ACQUIRES : TASK_WAITS;
	case LEASE_REVOKING:
		return TASK_WAITS;
	case LEASE_HELD:
		return TASK_JOINS;
	case LEASE_RELEASING:
	case LEASE_LEAKED:
		break;
	}
	return TASK_FAILS;
}

int64_t
left_remains(const struct lease_tasks *p, int64_t now)
{
	const int64_t ms = p->left_since + (int64_t)p->left_behind * 1000 - now;

	return p->left_behind == LEFT_BEHIND_KEEP ? -1 : p->left_since == 0 ? (int64_t)p->left_behind * 1000 : ms > 0 ? ms : 0;
}

bool
may_revoke(enum lease_state s, const struct lease_tasks *p, enum idleness i, const struct process_id *me,
    bool changer_lives, int64_t now)
{
	const bool cleared = i == IDLENESS_LEFT && p->left_since != 0 && left_remains(p, now) == 0;

	if (p->idle == IDLE_KEEP || !(i == IDLENESS_IDLE || cleared))
		return false;
	if (s == LEASE_REVOKING)
		return process_id_same(&p->changer, me) || changer_is_stale(p, changer_lives, now);
	return s == LEASE_HELD;
}

bool
may_end_revoking(enum lease_state s, const struct lease_tasks *p, enum idleness i, const struct process_id *me)
{
	return s == LEASE_REVOKING && process_id_same(&p->changer, me) && i == IDLENESS_IDLE;
}
