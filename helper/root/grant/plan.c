/* See plan.h. Changes nothing. */
#include "plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../host/process/namespaces.h"
#include "../../host/users.h"
#include "../child/looker.h"
#include "../lease/lookups.h"
#include "../lease/usedtoken.h"
#include "../self/timer.h"
#include "folderwalk.h"

#define SUBUIDS_MAX 64
#define LABELS_MS 8000		/* folders' labels are read in milliseconds, but a FUSE file system may never answer */

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

/* The folders of the grant, as the question has them; the texts are borrowed. NULL: memory is short. */
static struct folder_query *
folder_queries(const struct grant *g)
{
	struct folder_query *v = calloc(g->folders + 1, sizeof(*v));
	const struct folder_grant *w;
	size_t i;

	for (i = 0; v != NULL && i < g->folders; i++) {
		w = &g->folder[i];
		v[i] = (struct folder_query){ w->path, w->target, w->base, w->writable, w->rule->submounts, w->rule->relabel };
	}
	return v;
}

static int
find_folders_and_cgroups(struct plan *p, struct why *why)
{
	const struct authz *authz = p->authz;
	const struct grant *g = &authz->decision.grant;
	const struct call *c = authz->call;
	const struct request_spec *s = &c->request->spec;
	autofree struct folder_query *folder = folder_queries(g);
	struct paths_query a = { .uid = s->uid, .gid = s->gid, .groups = s->gid_count, .dac_override = s->dac_override,
		.uids = p->uids, .gids = p->gids, .folder = folder, .folders = g->folders,
		.cgroups = { (uint32_t)c->peer->pid, s->cgroups_path, c->request->id, c->peer->client.rootful, s->systemd_cgroup } };

	if (folder == NULL)
		return refuse_nomem(why);
	memcpy(a.group, s->gid_list, sizeof(a.group));
	/* the task of «run» begins before anyone can see whether somebody has redirected the path */
	if (s->is_run && g->folders > 0)
		a.writers = authz->writers;
	return looker_ask_folders_and_cgroups(&a, &p->edits, &p->lease, why) == -1 ? -1 :
	    lookups_check_root(&p->lease, c->peer->client.uid, why);
}

static int
plan_folders(struct plan *p, struct why *why)
{
	uint32_t inside;
	int ret;

	p->lease.container.host_root = idmap_in(&p->uids, 0, &inside);
	if (find_folders_and_cgroups(p, why) == -1)
		return -1;
	end_after(LABELS_MS);
	ret = label_folders(&p->label, &p->edits, &p->lease, why);
	end_after(0);
	return ret;
}

/*
 * The lookup paths of the driver's files need no second check: they were found under the lock, after the leases were
 * read.
 */
int
plan_check_folders(const struct plan *p, struct why *why)
{
	struct why own;
	int same;

	if (p->authz->decision.grant.folders == 0)
		return 0;
	same = looker_ask_folders_and_cgroups_again(why);
	/* if a path has changed, the helper's own words say which and how */
	if (folder_walk_check(&p->edits, &own) == -1) {
		*why = own;
		return -1;
	}
	return same;
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
 * A container that only pauses is recognised by the file that its first process will run; look/activity.c sees
 * whether it does. gpuhelper must also be able to end the container's access. It can't if systemd may rewrite the
 * device rules of a scope, or if a privileged container can change its own. Nor can it where the wrapper starts a
 * vendor's runtime, which opens all GPUs that it is told of.
 */
static int
fill_tasks(struct plan *p, struct why *why)
{
	const struct authz *authz = p->authz;
	const struct request *r = authz->call->request;
	const struct settings *s = &authz->settings;
	const size_t candidates = count_candidates(&authz->decision.grant);
	struct lease *l = &p->lease;

	l->gpus_by_task = r->spec.promises && s->idle != IDLE_KEEP && plan_has_placeholder(p) &&
	    authz->call->peer->client.rootful && l->uid == 0 && !r->spec.systemd_cgroup && !r->spec.privileged &&
	    candidates > 0 && candidates <= PROMISED_GPUS_MAX && s->driver_files != DRIVER_FILES_VENDOR_RUNTIME;
	if (!l->gpus_by_task)
		return 0;
	l->tasks = (struct lease_tasks){ .program = r->spec.init_file, .idle = s->idle, .left_behind = s->left_behind,
		.uid = r->spec.uid, .gid = r->spec.gid, .who = attribution_pack(&authz->whose) };
	if (r->untrusted.gpus != NULL && (l->tasks.asked = strdup(r->untrusted.gpus)) == NULL)
		return refuse_nomem(why);
	/* names that are too long to be kept: no task could be judged later */
	l->gpus_by_task = l->tasks.who != NULL;
	if (l->gpus_by_task)
		l->state = LEASE_PROMISED;
	return 0;
}

/*
 * gpuhelper-look has found the cgroups that the container may be put into. The lease of a rootful container ends when
 * these are empty.
 */
static int
check_cgroups(const struct peer *peer, const struct lease *l, struct why *why)
{
	uint64_t time_ns;

	if (!peer->client.rootful)
		return 0;
	/* in another time namespace, processes have other start times */
	if (ns_of(getpid(), "time", &time_ns) && time_ns != INIT_TIME_NS)
		return refuse(why, WHY_IO, "this engine is in a time namespace of its own: gpuhelper can't follow its "
		    "containers there");
	return l->container.cgroups.n > 0 ? 0 : refuse(why, WHY_IO, "/proc/%d/cgroup names no cgroup: are cgroups mounted?",
	    peer->pid);
}

static int
fill_lease(struct plan *p, struct why *why)
{
	const struct authz *authz = p->authz;
	const struct call *c = authz->call;
	const struct attribution *whose = &authz->whose;
	struct lease *l = &p->lease;

	lease_key(c->peer->client.uid, c->request->runtime_root, c->request->id, l->key);
	l->id = strdup(c->request->id);
	l->root = strdup(c->request->runtime_root);
	l->policy = strdup(authz->decision.policy->name);
	if (whose->pipeline == NULL)
		l->pipeline = strdup("");
	else if (asprintf(&l->pipeline, "%s/%s", whose->team, whose->pipeline) == -1)
		l->pipeline = NULL;
	if (l->id == NULL || l->root == NULL || l->policy == NULL || l->pipeline == NULL)
		return refuse_nomem(why);
	used_token_reuse_hash(&authz->whose, l->reuse_hash);
	l->uid = c->peer->client.uid;
	l->asker = call_process(c);
	snprintf(l->boot, sizeof(l->boot), "%s", c->peer->boot);
	l->since = time(NULL);
	if (fill_tasks(p, why) == -1 || fill_users(&c->peer->client, l, why) == -1)
		return -1;
	l->container.privileged = c->request->spec.privileged;
	if (!ns_of(getpid(), "pid", &l->container.pid_ns))
		return refuse(why, WHY_IO, "/proc/self/ns/pid: %s", strerror(errno));
	return check_cgroups(c->peer, l, why);
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

int
plan_make(struct plan *p, struct why *why)
{
	const struct authz *authz = p->authz;

	return label_choose(authz->decision.policy, authz->call->request, &p->label, why) == -1 ||
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
	engine_answer_free(&p->answer);
	free(p->reply);
}
