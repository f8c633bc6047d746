/*
 * See leaselife.h. Looks at other people's processes, who can keep whoever looks waiting: must not be called by a
 * process that holds a lock. Looks first where nobody can do that.
 */
#include "leaselife.h"

#include <string.h>
#include <unistd.h>

#include "cgroup.h"
#include "process.h"

void
life_sight_free(struct life_sight *s)
{
	space_set_free(&s->pid_spaces);
	space_set_free(&s->mount_spaces);
	*s = (struct life_sight){ 0 };
}

/* False: nothing can be told. */
static bool
begin(struct life_sight *s)
{
	if (!s->begun)
		s->begun = boot_id(s->boot) && space_of(getpid(), "pid", &s->pids);
	return s->begun;
}

static bool
is_near(const struct life_sight *s, const struct lease *l)
{
	return l->pids == 0 || l->pids == s->pids;
}

static bool
has_pids_inhabited(struct life_sight *s, const struct lease *l)
{
	return space_set_has(&s->pid_spaces, "pid", l->pids);
}

/*
 * Its numbers of processes are of another PID namespace. From above all of that can be seen; from
 * elsewhere nobody in there can, nor that nobody is, but for the first one, from which everyone can.
 */
static bool
is_out_of_sight(struct life_sight *s, const struct lease *l)
{
	return !is_near(s, l) && s->pids != SPACE_FIRST_PIDS &&
	    !(has_pids_inhabited(s, l) && space_set_shows(&s->pid_spaces, l->pids));
}

/* A container with a file of its own over boot_id has another boot, and is no less there. */
bool
lease_is_of_another_boot(struct life_sight *s, const struct lease *l)
{
	return begin(s) && strcmp(l->boot, s->boot) != 0 &&
	    (is_near(s, l) || (s->pids == SPACE_FIRST_PIDS && !has_pids_inhabited(s, l)));
}

static bool
lives(const struct life_sight *s, const struct lease *l, struct process_id p)
{
	return is_near(s, l) ? process_id_lives(p) : space_has_process(l->pids, p);
}

bool
lease_is_kept(struct life_sight *s, const struct lease *l, struct life_share *share)
{
	if (!begin(s) || is_out_of_sight(s, l) || cgroup_populated(&l->cgroups, &share->dirs) || lives(s, l, l->asker) ||
	    lives(s, l, l->init))
		return true;
	/* who was seen to have ended may have put somebody there just before */
	if (cgroup_populated(&l->cgroups, &share->dirs))
		return true;
	/* when the first process of a PID namespace ends, all others do: else somebody may have gone on elsewhere */
	if (l->mounts != 0 && space_set_has(&s->mount_spaces, "mnt", l->mounts))
		return true;
	return l->users > 0 && (l->nodes > 0 || l->folders > 0) && lease_in_use(l, &share->looks);
}
