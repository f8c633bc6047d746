/*
 * See lease.h.  Works beneath /run/gpuhelper only, which is root's; may meet
 * files that an earlier run left half-way, and must be stopped by what it can't
 * understand rather than pass over it.
 */
#include "lease.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "../host/cgroup.h"
#include "../host/file.h"
#include "../host/trust.h"
#include "../pure/cleanup.h"
#include "../pure/hash.h"
#include "../pure/strictjson.h"

#define LEASES_MAX 4096		/* that live; what is over is found and removed whatever its number */
#define LEASES_PER_USER 512	/* or one user could leave nothing to the others */
#define FILES_MAX (1 << 20)
#define LOCK_WAIT_MS 1500	/* a waiter that asks again after this has its place still (queue.c) */

void
lease_key(uint32_t uid, const char *root, const char *id, char out[65])
{
	char number[16];
	const char *const pieces[] = { number, root, id, NULL };

	snprintf(number, sizeof(number), "%u", uid);
	hash_pieces(pieces, out);
}

void
lease_free(struct lease *l)
{
	free(l->id);
	free(l->root);
	free(l->policy);
	free(l->pipeline);
	free(l->gpu);
	free(l->node);
	free(l->user);
	strlist_free(&l->cgroups);
	*l = (struct lease){ 0 };
}

/* The file. */

static json_t *
lease_json(const struct lease *l)
{
	json_t *gpus = json_array(), *nodes = json_array(), *cgroups = json_array(), *users = json_array();
	size_t i;

	for (i = 0; i < l->gpus; i++)
		json_array_append_new(gpus, held_gpu_pack(&l->gpu[i]));
	for (i = 0; i < l->nodes; i++)
		json_array_append_new(nodes, json_pack("{s:s, s:I, s:I}", "path", l->node[i].path,
		    "major", (json_int_t)l->node[i].major, "minor", (json_int_t)l->node[i].minor));
	for (i = 0; i < l->cgroups.n; i++)
		json_array_append_new(cgroups, json_string(l->cgroups.v[i]));
	for (i = 0; i < l->users; i++)
		json_array_append_new(users, json_pack("[I,I]", (json_int_t)l->user[i].first, (json_int_t)l->user[i].size));
	return json_pack("{s:i, s:s, s:s, s:I, s:I, s:s, s:s, s:I, s:s, s:s, s:o, s:o, s:o, s:o}",
	    "version", 1, "id", l->id, "root", l->root, "uid", (json_int_t)l->uid, "pid", (json_int_t)l->pid,
	    "start", "", "boot", l->boot, "since", (json_int_t)l->since, "policy", l->policy, "pipeline", l->pipeline,
	    "cgroups", cgroups, "gpus", gpus, "nodes", nodes, "users", users);
}

static int
read_gpu(const json_t *j, struct lease *l)
{
	struct held_gpu *v = reallocarray(l->gpu, l->gpus + 1, sizeof(*v));

	if (v == NULL)
		return -1;
	l->gpu = v;
	return held_gpu_unpack(j, &v[l->gpus++]);
}

static int
read_node(const json_t *j, struct lease *l)
{
	struct edit_node *v = reallocarray(l->node, l->nodes + 1, sizeof(*v)), *n;
	const char *path = json_string_value(json_object_get(j, "path"));

	if (v == NULL)
		return -1;
	l->node = v;
	n = &v[l->nodes++];
	*n = (struct edit_node){ .major = (uint32_t)json_integer_value(json_object_get(j, "major")),
		.minor = (uint32_t)json_integer_value(json_object_get(j, "minor")) };
	return path != NULL && (size_t)snprintf(n->path, sizeof(n->path), "%s", path) < sizeof(n->path) ? 0 : -1;
}

static int
read_user(const json_t *j, struct lease *l)
{
	struct idspan *v = reallocarray(l->user, l->users + 1, sizeof(*v));

	if (v == NULL)
		return -1;
	l->user = v;
	v[l->users++] = (struct idspan){ (uint32_t)json_integer_value(json_array_get(j, 0)),
		(uint32_t)json_integer_value(json_array_get(j, 1)) };
	return 0;
}

static char *
copy(const json_t *j, const char *key)
{
	const char *s = json_string_value(json_object_get(j, key));

	return s != NULL ? strdup(s) : NULL;
}

static int
read_lease(const json_t *j, struct lease *l)
{
	const char *boot = json_string_value(json_object_get(j, "boot"));
	const char *start = json_string_value(json_object_get(j, "start"));
	const json_t *item;
	size_t i;

	if (json_integer_value(json_object_get(j, "version")) != 1 || boot == NULL || start == NULL ||
	    !text_u64(start, UINT64_MAX, &l->start) || strlen(boot) >= sizeof(l->boot))
		return -1;
	snprintf(l->boot, sizeof(l->boot), "%s", boot);
	l->id = copy(j, "id");
	l->root = copy(j, "root");
	l->policy = copy(j, "policy");
	l->pipeline = copy(j, "pipeline");
	l->uid = (uint32_t)json_integer_value(json_object_get(j, "uid"));
	l->pid = (pid_t)json_integer_value(json_object_get(j, "pid"));
	l->since = json_integer_value(json_object_get(j, "since"));
	if (l->id == NULL || l->root == NULL || l->policy == NULL || l->pipeline == NULL)
		return -1;
	json_array_foreach(json_object_get(j, "cgroups"), i, item)
		if (!json_is_string(item) || !strlist_add(&l->cgroups, json_string_value(item), SIZE_MAX))
			return -1;
	json_array_foreach(json_object_get(j, "gpus"), i, item)
		if (read_gpu(item, l) == -1)
			return -1;
	json_array_foreach(json_object_get(j, "nodes"), i, item)
		if (read_node(item, l) == -1)
			return -1;
	json_array_foreach(json_object_get(j, "users"), i, item)
		if (read_user(item, l) == -1)
			return -1;
	return 0;
}

/* 1: it is not there any more. */
static int
load_lease(int dir, const char *name, struct lease *l, struct why *why)
{
	autofree char *text = NULL;
	char shown[sizeof(GPUHELPER_RUNDIR) + 300];
	size_t len;
	json_t *j;
	int ret;

	*l = (struct lease){ 0 };
	snprintf(shown, sizeof(shown), "%s/leases/%s", GPUHELPER_RUNDIR, name);
	/* taken back meanwhile: what is not there is not held */
	if ((text = trust_read(dir, name, shown, 1 << 20, true, &len, why)) == NULL)
		return errno == ENOENT || errno == ESTALE ? 1 : -1;
	if ((j = strictjson_object(text, len, why)) == NULL)
		return refuse_within(why, shown);
	ret = read_lease(j, l);
	json_decref(j);
	snprintf(l->key, sizeof(l->key), "%s", name);
	if (ret == -1) {
		lease_free(l);
		return refuse(why, WHY_CONFIG, "%s is not a lease of this version: no GPU is given out while it is there "
		    "(see that its container is gone, then remove it)", shown);
	}
	return 0;
}

/* The end of a lease. */

/*
 * (a) the process that asked lives: it is the runtime, still creating; (b) the
 * container's cgroup has someone in it; (c) where it has no cgroup of its own, a
 * process of its users holds one of the GPUs' own nodes open.
 */
static bool
is_live(const struct lease *l, const char *boot, unsigned *looks)
{
	if (strcmp(l->boot, boot) != 0)
		return false;
	if (process_lives(l->pid, l->start) || cgroup_populated(&l->cgroups))
		return true;
	return l->users > 0 && l->nodes > 0 && state_node_open(l->node, l->nodes, l->user, l->users, looks);
}

static void
wake_up(int sig)
{
	(void)sig;
}

/* Waits in the kernel's own line, which is fair; asking again and again would let some wait for ever. */
static int
take_lock(struct leases *ls, struct why *why)
{
	/* once more every 100 ms, in case it fires before flock(2) waits */
	const struct itimerval limit = { .it_value = { LOCK_WAIT_MS / 1000, LOCK_WAIT_MS % 1000 * 1000 },
		.it_interval = { .tv_usec = 100000 } };
	const struct itimerval off = { 0 };
	struct sigaction wake = { .sa_handler = wake_up };
	int ret, saved;

	ls->lock = openat(ls->dir, "../lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (ls->lock == -1)
		return refuse(why, WHY_IO, "%s/lock: %s", GPUHELPER_RUNDIR, strerror(errno));
	(void)sigaction(SIGALRM, &wake, NULL);
	(void)setitimer(ITIMER_REAL, &limit, NULL);
	ret = flock(ls->lock, LOCK_EX);
	saved = errno;
	(void)setitimer(ITIMER_REAL, &off, NULL);
	if (ret == 0)
		return 0;
	if (saved == EINTR)
		return refuse(why, WHY_AGAIN, "%s/lock is held by another gpuhelper for over %d ms: try again", GPUHELPER_RUNDIR,
		    LOCK_WAIT_MS);
	return refuse(why, WHY_IO, "%s/lock: %s", GPUHELPER_RUNDIR, strerror(saved));
}

/* What is left of a user's share of looking around (state.h): his processes may be many, and others wait. */
struct share {
	uint32_t uid;
	unsigned looks;
};
struct shares {
	struct share *v;
	size_t n;
};

static unsigned *
share_of(struct shares *s, uint32_t uid)
{
	struct share *v;
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->v[i].uid == uid)
			return &s->v[i].looks;
	if ((v = reallocarray(s->v, s->n + 1, sizeof(*v))) == NULL)
		return NULL;
	s->v = v;
	v[s->n] = (struct share){ uid, STATE_LOOKS };
	return &v[s->n++].looks;
}

static int
keep_or_end(struct leases *ls, struct lease *l, const char *boot, struct shares *shares, lease_ended *ended, void *ctx,
    struct why *why)
{
	unsigned *looks = share_of(shares, l->uid);
	struct lease *v;

	if (looks == NULL)
		return refuse_nomem(why);
	l->over = !is_live(l, boot, looks);
	if (l->over && ended != NULL) {
		ended(ctx, l);
		exec_record_remove(l->uid, l->root, l->id);
		if (unlinkat(ls->dir, l->key, 0) == -1 && errno != ENOENT)
			return refuse(why, WHY_IO, "%s/leases/%s: %s", GPUHELPER_RUNDIR, l->key, strerror(errno));
		lease_free(l);
		return 0;
	}
	if ((v = reallocarray(ls->v, ls->n + 1, sizeof(*v))) == NULL)
		return refuse_nomem(why);
	ls->v = v;
	ls->v[ls->n++] = *l;
	*l = (struct lease){ 0 };
	return 0;
}

int
leases_open(struct leases *ls, lease_ended *ended, void *ctx, struct why *why)
{
	autostrlist struct strlist names = { 0 };
	struct shares shares = { 0 };
	struct lease l = { 0 };
	char boot[40];
	size_t i;
	int ret = 0;

	*ls = (struct leases){ .dir = -1, .lock = -1 };
	if (!boot_id(boot))
		return refuse(why, WHY_IO, "/proc/sys/kernel/random/boot_id: %s", strerror(errno));
	if ((ls->dir = state_dir("leases", why)) == -1 || take_lock(ls, why) == -1 ||
	    state_list(ls->dir, GPUHELPER_RUNDIR "/leases", FILES_MAX, &names, why) == -1)
		return -1;
	for (i = 0; ret != -1 && i < names.n; i++) {
		/* a name with a dot is a file whose writer died before it got its name: it holds nothing */
		if (strchr(names.v[i], '.') != NULL)
			(void)unlinkat(ls->dir, names.v[i], 0);
		else if ((ret = load_lease(ls->dir, names.v[i], &l, why)) == 0)
			ret = keep_or_end(ls, &l, boot, &shares, ended, ctx, why);
	}
	lease_free(&l);
	free(shares.v);
	return ret == -1 ? -1 : 0;
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
	if (ls->dir != -1)
		close(ls->dir);
	*ls = (struct leases){ .dir = -1, .lock = -1 };
}

/* Writing. */

int
leases_add(struct leases *ls, const struct lease *l, struct why *why)
{
	char start[24], *text;
	size_t i, own = 0;
	json_t *j;
	int ret;

	for (i = 0; i < ls->n; i++) {
		own += ls->v[i].uid == l->uid;
		if (strcmp(ls->v[i].key, l->key) == 0)
			return refuse(why, WHY_AGAIN, "container %s holds a lease already, and is not gone", l->id);
	}
	if (own >= LEASES_PER_USER || ls->n >= LEASES_MAX)
		return refuse(why, WHY_AGAIN, "%s %zu containers with a grant already: that is the most",
		    own >= LEASES_PER_USER ? "this user has" : "there are", own >= LEASES_PER_USER ? own : ls->n);
	j = lease_json(l);
	snprintf(start, sizeof(start), "%llu", (unsigned long long)l->start);
	json_object_set_new(j, "start", json_string(start));
	text = json_dumps(j, JSON_COMPACT);
	json_decref(j);
	if (text == NULL)
		return refuse_nomem(why);
	ret = state_write(ls->dir, l->key, text, 0600, 0, why);
	free(text);
	return ret;
}

/* Under the lock. */
static int
drop_own(int dir, const struct peer *p, const char *root, const char *id, struct why *why)
{
	struct lease l;
	char key[65];
	bool own;
	int ret;

	lease_key(p->asker.uid, root, id, key);
	if ((ret = load_lease(dir, key, &l, why)) == -1)
		return -1;
	own = ret == 1 || (l.pid == p->pid && l.start == p->start && strcmp(l.boot, p->boot) == 0);
	if (ret == 0)
		lease_free(&l);
	if (!own)
		return 0;
	exec_record_remove(p->asker.uid, root, id);
	if (unlinkat(dir, key, 0) == -1 && errno != ENOENT)
		return refuse(why, WHY_IO, "%s/leases/%s: %s", GPUHELPER_RUNDIR, key, strerror(errno));
	return 0;
}

int
leases_drop(const struct peer *p, const char *root, const char *id, struct why *why)
{
	struct leases ls = { .dir = -1, .lock = -1 };
	int ret;

	/* where the lock can't be had, the lease lasts as long as the peer: that is not long */
	ret = (ls.dir = state_dir("leases", why)) == -1 || take_lock(&ls, why) == -1 ? -1 :
	    drop_own(ls.dir, p, root, id, why);
	leases_close(&ls);
	return ret;
}

static void
exec_name(const char *root, const char *id, char out[65])
{
	const char *const pieces[] = { root, id, NULL };

	hash_pieces(pieces, out);
}

int
exec_record_write(const struct peer *p, const struct lease *l, const struct edits *e, struct why *why)
{
	json_t *j = json_pack("{s:i, s:[], s:[]}", "version", 1, "env", "groups");
	autoclose int all = -1, dir = -1;
	char name[65], *text;
	size_t i;
	int ret;

	for (i = 0; i < e->env.n; i++)
		json_array_append_new(json_object_get(j, "env"), json_string(e->env.v[i]));
	for (i = 0; i < e->gids; i++)
		json_array_append_new(json_object_get(j, "groups"), json_integer(e->gid[i]));
	text = json_dumps(j, JSON_COMPACT);
	json_decref(j);
	if (text == NULL)
		return refuse_nomem(why);
	exec_name(l->root, l->id, name);
	ret = (all = state_dir("exec", why)) == -1 || (dir = state_user_dir(all, p->asker.uid, p->gid, why)) == -1 ? -1 :
	    state_write(dir, name, text, 0640, p->gid, why);
	free(text);
	return ret;
}

void
exec_record_remove(uint32_t uid, const char *root, const char *id)
{
	autoclose int all = -1, dir = -1;
	struct why ignored;
	char name[65], user[16];

	snprintf(user, sizeof(user), "%u", uid);
	exec_name(root, id, name);
	if ((all = state_dir("exec", &ignored)) != -1 &&
	    (dir = file_open_beneath(all, user, O_RDONLY | O_DIRECTORY)) != -1)
		state_remove(dir, name);
}
