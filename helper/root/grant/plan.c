/* See plan.h. Looks at the folders and cgroups that the request names, as far as host/ does. Changes nothing. */
#include "plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "../../host/cgroup/cgroup.h"
#include "../../host/folder/folders.h"
#include "../../host/folder/nestedbind.h"
#include "../../host/process/namespaces.h"
#include "../../host/users.h"
#include "../../policy/nested.h"
#include "../lease/lookups.h"
#include "../lease/usedtoken.h"
#include "../self/timer.h"

#define SUBUIDS_MAX 64
#define FIND_MS 8000		/* folders are found in milliseconds, but a FUSE file system on the way may never answer */

/* Ids. */

static int
map_ids(struct plan *p, struct why *why)
{
	const struct request *r = p->authz->call->request;
	const struct peer *peer = p->authz->call->peer;

	if (!idmap_compose(&peer->uids, &r->spec.uids, &p->uids) || !idmap_compose(&peer->gids, &r->spec.gids, &p->gids))
		return refuse(why, WHY_DATA, "linux.uidMappings and the caller's own user namespace make more than %d "
		    "ranges of ids", IDMAP_MAX);
	subject_of(r, &p->uids, &p->gids, &p->subject);
	return 0;
}

/* Folders. */

static int
find_lookups(const struct plan *p, struct edits *e, struct lease *l, struct why *why)
{
	const struct authz *r = p->authz;
	const struct grant *g = &r->decision.grant;
	automounts struct mount_table *mounts = g->folders > 0 ? mounts_read() : NULL;

	return folders_resolve_among(mounts, g, &p->subject, e, why) == -1 ||
	    lookups_note(e, mounts, &p->uids, l, why) == -1 ? -1 : lookups_check_root(l, r->call->peer->client.uid, why);
}

/*
 * Notes the file system path that was found for each mount: in the container, the wrapper compares it with what runc
 * mounted.
 */
static int
add_fs_paths(const struct lease *l, struct edits *e, struct why *why)
{
	size_t i;

	for (i = 0; i < e->mounts && i < l->lookups; i++)
		if (l->lookup[i].at.n == 0 || (e->mount[i].fs_path = strdup(l->lookup[i].at.v[0])) == NULL)
			return refuse_nomem(why);
	return 0;
}

/* Refuses a folder within one that a policy lets be written. */
static int
check_nested(const struct plan *p, struct why *why)
{
	return nested_refuse(&p->authz->nested, &p->edits, why) == -1 ||
	    nested_refuse_binds(&p->authz->nested, &p->edits, why) == -1 ? -1 : 0;
}

static int
plan_folders(struct plan *p, struct why *why)
{
	int ret;

	end_after(FIND_MS);
	ret = find_lookups(p, &p->edits, &p->lease, why) == -1 || add_fs_paths(&p->lease, &p->edits, why) == -1 ||
	    (p->authz->call->request->spec.is_run && check_nested(p, why) == -1) ||
	    label_folders(&p->label, &p->edits, &p->lease, why) == -1 ? -1 : 0;
	end_after(0);
	p->folder_lookups = p->lease.lookups;
	return ret;
}

/*
 * The lookup paths of the driver's files need no second check: they were found under the lock, after the leases were
 * read.
 */
int
plan_check_folders(const struct plan *p, struct why *why)
{
	struct edits edits = { 0 };
	struct lease found = { 0 };
	size_t i;
	int ret;

	if (p->folder_lookups == 0)
		return 0;
	end_after(FIND_MS);
	ret = find_lookups(p, &edits, &found, why);
	end_after(0);
	for (i = 0; ret == 0 && i < p->folder_lookups; i++)
		if (i >= found.lookups || !lookup_same(&p->lease.lookup[i], &found.lookup[i]))
			ret = refuse(why, WHY_AGAIN, "folder %s has moved since it was checked: try again", p->lease.lookup[i].path);
	edits_free(&edits);
	lease_free(&found);
	return ret;
}

/* The lease. */

bool
plan_has_placeholder(const struct plan *p)
{
	const char *init = p->authz->call->request->spec.init_path;

	return init != NULL && strlist_has(&p->authz->settings.placeholder_init, init);
}

/*
 * A rootless container has no cgroup that sets its processes apart. They are recognised by their users instead: all
 * users that the caller may become. The request's own mapping is not used: it could name another user, whose
 * processes would keep the lease for ever.
 */
static int
fill_users(const struct client *who, struct lease *l, struct why *why)
{
	uint32_t first[SUBUIDS_MAX], size[SUBUIDS_MAX];
	int i, n;

	if (who->rootful)
		return 0;
	if ((n = user_subuids(who->uid, who->user, first, size, SUBUIDS_MAX)) == -1)
		return refuse(why, WHY_IO, "/etc/subuid: %s: the users of the container can't be known",
		    errno == E2BIG ? "too many ranges of one user" : strerror(errno));
	if ((l->container.user = calloc((size_t)n + 1, sizeof(*l->container.user))) == NULL)
		return refuse_nomem(why);
	l->container.user[l->container.users++] = (struct idspan){ who->uid, 1 };
	for (i = 0; i < n; i++)
		l->container.user[l->container.users++] = (struct idspan){ first[i], size[i] };
	return 0;
}

static size_t
count_candidates(const struct grant *g)
{
	size_t i, n = 0;

	for (i = 0; i < g->gpus; i++)
		n += g->gpu[i].n;
	return n;
}

/*
 * A container that only pauses is recognised by the file that its first process will run; created.c checks that it
 * does. gpuhelper must also be able to end the container's access. It can't if systemd may rewrite the device rules of
 * a scope, or if a privileged container can change its own. Nor can it where the wrapper starts a vendor's runtime,
 * which opens all GPUs that it is told of.
 */
static int
fill_tasks(struct plan *p, struct why *why)
{
	const struct authz *r = p->authz;
	const struct request *asked = r->call->request;
	const struct settings *s = &r->settings;
	const size_t candidates = count_candidates(&r->decision.grant);
	struct lease *l = &p->lease;

	l->placeholder = asked->spec.promises && s->idle != IDLE_KEEP && plan_has_placeholder(p) &&
	    r->call->peer->client.rootful &&
	    l->uid == 0 && !asked->spec.systemd_cgroup && !asked->spec.privileged && candidates > 0 &&
	    candidates <= PROMISED_GPUS_MAX && s->driver_files != DRIVER_FILES_VENDOR_RUNTIME;
	if (!l->placeholder)
		return 0;
	l->tasks = (struct lease_tasks){ .program = asked->spec.init_file, .idle = s->idle, .left_behind = s->left_behind,
		.uid = asked->spec.uid, .gid = asked->spec.gid, .who = identity_pack(&r->origin.id) };
	if (asked->words.gpus != NULL && (l->tasks.asked = strdup(asked->words.gpus)) == NULL)
		return refuse_nomem(why);
	/* names that are too long to be kept: no task could be judged later */
	l->placeholder = l->tasks.who != NULL;
	if (l->placeholder)
		l->state = LEASE_PROMISED;
	return 0;
}

/*
 * A rootful runtime makes the cgroups by which the lease follows the container. Checks that they will be visible from
 * here, by their names.
 */
static int
check_cgroups_path(pid_t client, const struct request *r, struct why *why)
{
	uint64_t time_ns;

	/* in another time namespace, processes have other start times */
	if (ns_of(getpid(), "time", &time_ns) && time_ns != INIT_TIME_NS)
		return refuse(why, WHY_IO, "this engine is in a time namespace of its own: gpuhelper can't follow its "
		    "containers there");
	if (r->spec.systemd_cgroup && r->spec.cgroups_path[0] == '\0')
		return refuse(why, WHY_DATA, "config.json has no linux.cgroupsPath: with systemd's cgroups, gpuhelper can't "
		    "follow the container without it");
	if (r->spec.systemd_cgroup && cgroup_check_scope(r->spec.cgroups_path, why) == -1)
		return -1;
	return cgroup_is_shown(client) ? 0 : refuse(why, WHY_IO, "/proc/%d/cgroup names a cgroup that /sys/fs/cgroup does not "
	    "have: in a cgroup namespace of its own, the engine has to mount /sys/fs/cgroup anew", client);
}

/* Finds the cgroups that the container may be put into. None of them may have processes yet. */
static int
fill_cgroups(const struct call *c, struct lease *l, struct why *why)
{
	const struct request *r = c->request;
	const pid_t client = c->peer->pid;
	const bool rootful = c->peer->client.rootful;
	unsigned dirs = CGROUP_DIRS;

	if (rootful && check_cgroups_path(client, r, why) == -1)
		return -1;
	if (cgroup_candidates(client, r->spec.cgroups_path, r->id, &l->container.cgroups, why) == -1)
		return -1;
	/* the lease of a rootful container ends when its cgroup is empty */
	if (rootful && l->container.cgroups.n == 0)
		return refuse(why, WHY_IO, "/proc/%d/cgroup names no cgroup: are cgroups mounted?", client);
	if (cgroup_populated(&l->container.cgroups, &dirs))
		return refuse(why, WHY_DATA, "the container's cgroup %s has processes in it already: give it one of its own",
		    *r->spec.cgroups_path ? r->spec.cgroups_path : r->id);
	return 0;
}

static int
fill_lease(struct plan *p, struct why *why)
{
	const struct authz *r = p->authz;
	const struct call *c = r->call;
	const struct identity *id = &r->origin.id;
	struct lease *l = &p->lease;

	lease_key(c->peer->client.uid, c->request->runtime_root, c->request->id, l->key);
	l->id = strdup(c->request->id);
	l->root = strdup(c->request->runtime_root);
	l->policy = strdup(r->decision.policy->name);
	if (id->pipeline == NULL)
		l->pipeline = strdup("");
	else if (asprintf(&l->pipeline, "%s/%s", id->team, id->pipeline) == -1)
		l->pipeline = NULL;
	if (l->id == NULL || l->root == NULL || l->policy == NULL || l->pipeline == NULL)
		return refuse_nomem(why);
	used_token_reuse(&r->origin, l->reuse);
	l->uid = c->peer->client.uid;
	l->client = call_process(c);
	snprintf(l->boot, sizeof(l->boot), "%s", c->peer->boot);
	l->since = time(NULL);
	if (fill_tasks(p, why) == -1 || fill_users(&c->peer->client, l, why) == -1)
		return -1;
	l->container.privileged = c->request->spec.privileged;
	if (!ns_of(getpid(), "pid", &l->container.pid_ns))
		return refuse(why, WHY_IO, "/proc/self/ns/pid: %s", strerror(errno));
	return fill_cgroups(c, l, why);
}

/* The rest of the edits. */

static int
add_policy_env(struct plan *p, struct why *why)
{
	const struct strlist *env = &p->authz->decision.policy->env;

	if (!strlist_append(&p->edits.env, env))
		return refuse_nomem(why);
	p->edits.env_secret = env->n > 0;
	return 0;
}

const struct held_gpu *
plan_held(const struct plan *p, size_t pick)
{
	return plan_promises(p) ? &p->lease.tasks.promised_gpu[pick] : &p->lease.gpu[pick];
}

bool
plan_promises(const struct plan *p)
{
	return lease_only_promises(&p->lease);
}

int
plan_make(struct plan *p, struct why *why)
{
	const struct authz *r = p->authz;

	return label_choose(r->decision.policy, r->call->request, &p->label, why) == -1 ||
	    map_ids(p, why) == -1 ||
	    plan_folders(p, why) == -1 ||
	    add_policy_env(p, why) == -1 ? -1 : fill_lease(p, why);
}

int
plan_name_gpus(struct plan *p, struct why *why)
{
	autobuf struct buf name = { 0 };
	const struct gpu *g;
	char part[16];
	size_t i;

	for (i = 0; i < p->picked; i++) {
		g = p->picks[i].gpu;
		name.len = 0;
		gpu_part(&p->authz->decision.inventory, g, part);
		buf_printf(&name, "%s %s%s%s%s%s", gpu_vendor_name(g->vendor), g->pci, g->uuid[0] ? " " : "", g->uuid,
		    part[0] ? " part " : "", part);
		if (name.failed || !strlist_add(&p->edits.gpus, name.p, SIZE_MAX))
			return refuse_nomem(why);
	}
	return 0;
}

static int
add_labels(const struct label *l, struct edits *e, struct why *why)
{
	if ((l->text[0] != '\0' && (e->label = strdup(l->text)) == NULL) ||
	    (l->mount[0] != '\0' && (e->mount_label = strdup(l->mount)) == NULL))
		return refuse_nomem(why);
	return 0;
}

int
plan_encode_reply(struct plan *p, struct reply *r, struct why *why)
{
	const char *pieces[2] = { NULL };
	uint64_t random[2];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return refuse(why, WHY_BUG, "getrandom: %s", strerror(errno));
	snprintf(r->nonce, sizeof(r->nonce), "%016llx%016llx", (unsigned long long)random[0], (unsigned long long)random[1]);
	free(p->reply);
	if ((p->reply = reply_text(r, why)) == NULL)
		return -1;
	pieces[0] = p->reply;
	hash_pieces(pieces, p->reply_hash);
	return 0;
}

int
plan_complete(struct plan *p, struct why *why)
{
	return plan_name_gpus(p, why) == -1 || add_labels(&p->label, &p->edits, why) == -1 ? -1 : p->write_reply(p, why);
}

void
plan_free(struct plan *p)
{
	edits_free(&p->edits);
	lease_free(&p->lease);
	changes_free(&p->changes);
	engine_answer_free(&p->comes);
	strlist_free(&p->specs);
	free(p->reply);
}
