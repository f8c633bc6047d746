/*
 * See lease.h.  Works beneath /run/gpuhelper only, which is root's; may meet
 * files that an earlier run left half-way, and must be stopped by what it can't
 * understand rather than pass over it.
 */
#include "lease.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../host/cgroup.h"
#include "../host/file.h"
#include "../host/inuse.h"
#include "../host/trust.h"
#include "../pure/chore.h"
#include "../pure/cleanup.h"
#include "../pure/hash.h"
#include "acts.h"
#include "execrecord.h"
#include "state.h"

#define LEASES_PER_USER 512	/* or one user could leave nothing to the others */
#define FILES_MAX (1 << 20)

void
lease_key(uint32_t uid, const char *root, const char *id, char out[65])
{
	char number[16];
	const char *const pieces[] = { number, root, id, NULL };

	snprintf(number, sizeof(number), "%u", uid);
	hash_pieces(pieces, out);
}

/* 1: it is not there any more. */
static int
load_lease(int dir, const char *name, struct lease *l, struct why *why)
{
	autofree char *text = NULL;
	char shown[sizeof(GPUHELPER_RUNDIR) + 300];
	enum trust_found found;
	size_t len;

	*l = (struct lease){ 0 };
	snprintf(shown, sizeof(shown), "%s/leases/%s", GPUHELPER_RUNDIR, name);
	/* taken back meanwhile: what is not there is not held */
	if ((found = trust_find_text(dir, name, shown, 1 << 20, true, &text, &len, why)) != TRUST_FOUND)
		return found == TRUST_ABSENT || found == TRUST_REPLACED ? 1 : -1;
	snprintf(l->key, sizeof(l->key), "%s", name);
	if (lease_decode(text, len, l, why) == 0)
		return 0;
	if (why->code == WHY_CONFIG)
		return refuse(why, WHY_CONFIG, "%s is not a lease of this version: no GPU is given out while it is there "
		    "(see that its container is gone, then remove it)", shown);
	return refuse_within(why, shown);
}

/* The end of a lease. */

/* How much is looked at for one user's leases at a time, while others wait (inuse.h): what is left of it. */
struct share {
	uint32_t uid;
	struct looks looks;
	unsigned dirs;		/* of cgroups */
};
struct seeing {
	char boot[40];
	struct processes processes;
	struct share *share;
	size_t shares;
};

static struct share *
share_of(struct seeing *s, uint32_t uid)
{
	struct share *v;
	size_t i;

	for (i = 0; i < s->shares; i++)
		if (s->share[i].uid == uid)
			break;
	if (i == s->shares) {
		if ((v = reallocarray(s->share, s->shares + 1, sizeof(*v))) == NULL)
			return NULL;
		s->share = v;
		v[s->shares++] = (struct share){ .uid = uid, .looks.left = INUSE_LOOKS, .dirs = 4 * CGROUP_DIRS };
	}
	/* root's cgroups are no one's to make wide */
	if (uid == 0)
		s->share[i].dirs = CGROUP_DIRS;
	return &s->share[i];
}

/*
 * (a) the process that asked lives: its runtime is still creating; (b) the
 * container's first process lives, or its cgroups have someone in them; (c) where
 * it has no cgroup of its own, a process of its users has one of the GPUs' own
 * nodes open, or one of those or a folder bound into its mounts.
 */
static bool
is_live(const struct lease *l, struct seeing *see, struct share *share)
{
	if (strcmp(l->boot, see->boot) != 0)
		return false;
	if (process_id_lives(l->asker) || process_id_lives(l->init) || cgroup_populated(&l->cgroups, &share->dirs))
		return true;
	return l->users > 0 && (l->nodes > 0 || l->folders > 0) && lease_in_use(&see->processes, l, &share->looks);
}

static void
forget(struct leases *ls, size_t at)
{
	lease_free(&ls->v[at]);
	ls->v[at] = ls->v[--ls->n];
}

/* What is undone so far is written down: the rest is tried again at the next request. */
static void
keep_rest(const struct leases *ls, const struct lease *l)
{
	struct why ignored;

	(void)leases_write(ls, l, &ignored);
}

static int
undo(const struct leases *ls, struct lease *l, struct why *why)
{
	if (acts_undo(ls, l, why) == 0)
		return 0;
	keep_rest(ls, l);
	return -1;
}

static void
name_gate_lock(const struct lease *l, char out[80])
{
	snprintf(out, 80, CHORE_LOCK "%s", l->key);
}

int
leases_make_gate_lock(const struct lease *l, struct why *why)
{
	autoclose int dir = state_dir("locks", why);
	char name[80];

	name_gate_lock(l, name);
	return dir == -1 ? -1 : state_touch(dir, name, why);
}

static int
remove_gate_lock(const struct lease *l, struct why *why)
{
	autoclose int dir = l->pauses ? state_dir("locks", why) : -1;
	char name[80];

	name_gate_lock(l, name);
	if (l->pauses && (dir == -1 || (unlinkat(dir, name, 0) == -1 && errno != ENOENT)))
		return refuse(why, WHY_IO, "%s/locks/%s: %s", GPUHELPER_RUNDIR, name, strerror(errno));
	return 0;
}

/* The lease last: while its exec record is there, so is what has it removed another time. */
static int
remove_files(const struct leases *ls, const struct lease *l, struct why *why)
{
	if (exec_record_remove(l->uid, l->root, l->id, why) == -1 || remove_gate_lock(l, why) == -1)
		return -1;
	if (unlinkat(ls->dir, l->key, 0) == -1 && errno != ENOENT)
		return refuse(why, WHY_IO, "%s/leases/%s: %s", GPUHELPER_RUNDIR, l->key, strerror(errno));
	return 0;
}

int
leases_remove(const struct leases *ls, struct lease *l, struct why *why)
{
	return undo(ls, l, why) == -1 ? -1 : remove_files(ls, l, why);
}

/* One that is draining and still has acts was stopped half-way. */
static void
drain(const struct leases *ls, struct lease *l)
{
	struct why ignored;

	if (l->acts == 0)
		return;
	(void)acts_undo(ls, l, &ignored);
	keep_rest(ls, l);
}

/* One that is over: undone, told of, removed; what can't be undone stays, and holds what it held. */
static void
end_one(struct leases *ls, size_t at, lease_ended *ended, void *ctx)
{
	struct lease *l = &ls->v[at];
	struct why stuck;

	if (undo(ls, l, &stuck) == -1)
		return;
	/* told of before it is gone: better twice than never */
	ended(ctx, l);
	if (remove_files(ls, l, &stuck) == 0)
		forget(ls, at);
}

static int
end_those_over(struct leases *ls, struct seeing *see, lease_ended *ended, void *ctx, struct why *why)
{
	struct share *share;
	struct lease *l;
	size_t i;

	for (i = ls->n; i-- > 0;) {
		l = &ls->v[i];
		if ((share = share_of(see, l->uid)) == NULL)
			return refuse_nomem(why);
		l->over = !is_live(l, see, share);
		if (ended == NULL)
			continue;
		if (l->over)
			end_one(ls, i, ended, ctx);
		else if (l->state == LEASE_DRAINING)
			drain(ls, l);
	}
	return 0;
}

static int
read_all(struct leases *ls, struct why *why)
{
	autostrlist struct strlist names = { 0 };
	struct lease l, *v;
	size_t i;
	int ret;

	if (state_list(ls->dir, GPUHELPER_RUNDIR "/leases", FILES_MAX, &names, why) == -1)
		return -1;
	for (i = 0; i < names.n; i++) {
		/* a name with a dot is a file whose writer died before it got its name: it holds nothing */
		if (strchr(names.v[i], '.') != NULL) {
			(void)unlinkat(ls->dir, names.v[i], 0);
			continue;
		}
		if ((ret = load_lease(ls->dir, names.v[i], &l, why)) == -1)
			return -1;
		if (ret == 1)
			continue;
		if ((v = reallocarray(ls->v, ls->n + 1, sizeof(*v))) == NULL) {
			lease_free(&l);
			return refuse_nomem(why);
		}
		ls->v = v;
		ls->v[ls->n++] = l;
	}
	return 0;
}

int
leases_read(struct leases *ls, uint32_t uid, struct why *why)
{
	autoclose int locks = -1;
	char line[24];

	*ls = (struct leases){ .dir = -1, .lock = -1, .line = -1 };
	snprintf(line, sizeof(line), "user-%u", uid);
	if (uid != 0 && ((locks = state_dir("locks", why)) == -1 || (ls->line = state_lock(locks, line, why)) == -1))
		return -1;
	return (ls->dir = state_dir("leases", why)) == -1 || (ls->lock = state_lock(ls->dir, "../lock", why)) == -1 ? -1 :
	    read_all(ls, why);
}

int
leases_open(struct leases *ls, uint32_t uid, lease_ended *ended, void *ctx, struct why *why)
{
	struct seeing see = { 0 };
	int ret;

	if ((ret = leases_read(ls, uid, why)) == 0)
		ret = boot_id(see.boot) ? end_those_over(ls, &see, ended, ctx, why) :
		    refuse(why, WHY_IO, "/proc/sys/kernel/random/boot_id: %s", strerror(errno));
	processes_free(&see.processes);
	free(see.share);
	return ret;
}

void
leases_close(struct leases *ls)
{
	size_t i;

	for (i = 0; i < ls->n; i++)
		lease_free(&ls->v[i]);
	free(ls->v);
	if (ls->lock != -1)
		close(ls->lock);
	if (ls->line != -1)
		close(ls->line);
	if (ls->dir != -1)
		close(ls->dir);
	*ls = (struct leases){ .dir = -1, .lock = -1, .line = -1 };
}

/* Writing. */

int
leases_write(const struct leases *ls, const struct lease *l, struct why *why)
{
	char *text;
	int ret;

	if ((text = lease_encode(l)) == NULL)
		return refuse_nomem(why);
	ret = state_write(ls->dir, l->key, text, 0600, why);
	free(text);
	return ret;
}

int
leases_admit(const struct leases *ls, const struct lease *l, struct why *why)
{
	size_t i, own = 0;

	for (i = 0; i < ls->n; i++) {
		own += ls->v[i].uid == l->uid;
		if (strcmp(ls->v[i].key, l->key) == 0)
			return refuse(why, WHY_AGAIN, "container %s holds a lease already, and is not gone", l->id);
	}
	if (own >= LEASES_PER_USER || ls->n >= LEASES_MAX)
		return refuse(why, WHY_AGAIN, "%s %zu containers with a grant already: that is the most",
		    own >= LEASES_PER_USER ? "this user has" : "there are", own >= LEASES_PER_USER ? own : ls->n);
	return 0;
}

struct lease *
leases_find(const struct leases *ls, uint32_t uid, const char *root, const char *id)
{
	char key[65];
	size_t i;

	lease_key(uid, root, id, key);
	for (i = 0; i < ls->n; i++)
		if (strcmp(ls->v[i].key, key) == 0)
			return &ls->v[i];
	return NULL;
}

/* As a lease does that ends otherwise: undone first, and gone when nobody has a node of it open any more. */
static int
take_back(const struct leases *ls, struct lease *l, struct why *why)
{
	struct processes processes = { 0 };
	struct looks looks = { .left = INUSE_LOOKS };
	bool used;

	if (l->users == 0 || l->nodes == 0)
		return leases_remove(ls, l, why);
	if (leases_drain(ls, l, why) == -1)
		return -1;
	used = l->acts > 0 || lease_in_use(&processes, l, &looks);
	processes_free(&processes);
	return used ? 0 : remove_files(ls, l, why);
}

int
leases_drop(const struct peer *p, const char *root, const char *id, struct why *why)
{
	struct leases ls;
	struct lease *l;
	int ret;

	/* where the lock can't be had, the lease lasts as long as the peer: that is not long */
	if ((ret = leases_read(&ls, p->asker.uid, why)) == 0 && (l = leases_find(&ls, p->asker.uid, root, id)) != NULL &&
	    l->asker.pid == p->pid && l->asker.start == p->start && strcmp(l->boot, p->boot) == 0)
		ret = take_back(&ls, l, why);
	leases_close(&ls);
	return ret;
}

int
leases_drain(const struct leases *ls, struct lease *l, struct why *why)
{
	l->state = LEASE_DRAINING;
	if (leases_write(ls, l, why) == -1)
		return -1;
	drain(ls, l);
	return 0;
}
