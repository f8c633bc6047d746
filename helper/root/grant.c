/*
 * See grant.h.  Data flows one way here: request, policy, decision, edits.  The
 * decision is host/decide.c's and pure/match.c's; what this file adds is only
 * what needs root: nodes, leases, the audit log.
 */
#include "grant.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../host/cgroup.h"
#include "../host/decide.h"
#include "../host/driverfiles.h"
#include "../host/file.h"
#include "../host/folders.h"
#include "../host/identity.h"
#include "../host/users.h"
#include "../pure/cleanup.h"
#include "../pure/path.h"
#include "../pure/procmask.h"
#include "../pure/vendorenv.h"
#include "acts.h"
#include "allot.h"
#include "audit.h"
#include "binding.h"
#include "device.h"
#include "label.h"
#include "lease.h"
#include "owncgroup.h"
#include "rate.h"
#include "relabel.h"
#include "timer.h"

#define GPUS_MAX 64
#define SUBUIDS_MAX 64
#define FIND_MS 8000		/* for what takes milliseconds */

/* One request on its way. */
struct work {
	const struct peer *peer;
	const struct request *request;
	int audit;
	struct settings settings;
	struct policy_files files;
	struct known known;
	struct ask ask;
	struct decision decision;
	struct idmap uids, gids;		/* of the container, to ids of this host */
	struct subject subject;
	struct edits edits;
	struct label label;
	struct lease lease;
	struct allotted picks[GPUS_MAX];	/* lease.gpus of them */
	struct strlist gpu_names;
	struct strlist specs;		/* CDI specs that the driver's files are by */
	struct driver_nodes more;	/* nodes of CDI devices that are no GPU's as such */
	bool unasked;			/* the container asks for nothing: not granting is no refusal */
	bool prepared;			/* the identity is known */
	size_t ahead;			/* in the queue */
	bool waits;			/* all GPUs are taken, and it has a place in the queue */
	bool judged;			/* the policies have been heard */
	struct relabelling *relabelling;
	struct why why;
};

static void
work_free(struct work *w)
{
	settings_free(&w->settings);
	policy_files_free(&w->files);
	known_free(&w->known);
	ask_free(&w->ask);
	decision_free(&w->decision);
	edits_free(&w->edits);
	lease_free(&w->lease);
	strlist_free(&w->gpu_names);
	strlist_free(&w->specs);
	relabel_free(w->relabelling);
	if (w->audit != -1)
		close(w->audit);
}

/* Who is it, and how is that known? */
static int
identify(struct work *w)
{
	const struct request *r = w->request;

	if (r->token != NULL)
		return identity_of_token(r->token, &w->settings, time(NULL), true, &w->known, NULL, &w->why);
	/* what a silent container's environment says of pipelines is no asking: only a «caller» policy may cover it */
	if (w->unasked) {
		w->known.id.kind = IDENTITY_CALLER;
		return 0;
	}
	return identity_of_claims(r, &w->known, &w->why);
}

static int
judge(struct work *w)
{
	struct question q = {
		.who = &w->peer->asker, .id = &w->known.id, .ask = &w->ask, .settings = &w->settings, .files = &w->files,
		.source = { .root = -1, .udev = true },
	};
	autoclose int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (root == -1)
		return refuse(&w->why, WHY_IO, "/: %s", strerror(errno));
	q.source.root = root;
	/* the kernel shows GPUs as the cgroup's device rules are (amdkfd): no caller may have them counted differently */
	if (leave_cgroup(w->peer->starter, &w->why) == -1)
		return -1;
	w->judged = true;
	decide(&q, &w->decision, NULL, NULL);
	/* the one place where a verdict becomes an act */
	if (w->decision.verdict == VERDICT_GRANT)
		return label_choose(&w->decision.policy, w->request, &w->label, &w->why);
	w->why = w->decision.why;
	return -1;
}

/* The worker's own word, which can only take away. */
static int
bound_ask(struct work *w)
{
	if (!w->settings.respect_allocation)
		return 0;
	return ask_bound(&w->ask, GPU_NVIDIA, w->request->cuda_visible, &w->why) == -1 ? -1 :
	    ask_bound(&w->ask, GPU_AMD, w->request->rocr_visible, &w->why);
}

static int
prepare(struct work *w)
{
	const struct request *r = w->request;

	if (settings_load(GPUHELPER_CONFDIR, true, &w->settings, NULL, NULL, &w->why) == -1 ||
	    policy_files_load(GPUHELPER_CONFDIR, true, &w->files, &w->why) == -1)
		return -1;
	if (r->privileged && w->settings.privileged == PRIVILEGED_DENY)
		return refuse(&w->why, WHY_DENIED, "privileged containers are not allowed on this host (privileged = \"deny\" "
		    "in gpuhelper.conf)");
	w->unasked = r->token == NULL && r->gpus == NULL && r->folders == NULL;
	if (w->unasked && !w->settings.grant_unasked)
		return refuse(&w->why, WHY_DENIED, "the container asks for nothing");
	if (ask_parse(r->gpus, r->folders, &w->ask, &w->why) == -1 || bound_ask(w) == -1)
		return -1;
	if (identify(w) == -1)
		return -1;
	w->prepared = true;
	return 0;
}

/*
 * The users that the container's processes may run as, for a container that no
 * cgroup tells apart: whoever the caller may become, whatever the request says.
 * What it says besides is someone else, who would hold the lease for ever.
 */
static int
fill_users(struct work *w)
{
	const struct asker *who = &w->peer->asker;
	uint32_t first[SUBUIDS_MAX], size[SUBUIDS_MAX];
	struct lease *l = &w->lease;
	int i, n;

	if (who->enforced)
		return 0;
	if ((n = user_subuids(who->uid, who->user, first, size, SUBUIDS_MAX)) == -1)
		return refuse(&w->why, WHY_IO, "/etc/subuid: %s: the users of the container can't be known",
		    errno == E2BIG ? "too many ranges of one user" : strerror(errno));
	if ((l->user = calloc((size_t)n + 1, sizeof(*l->user))) == NULL)
		return refuse_nomem(&w->why);
	l->user[l->users++] = (struct idspan){ who->uid, 1 };
	for (i = 0; i < n; i++)
		l->user[l->users++] = (struct idspan){ first[i], size[i] };
	return 0;
}

static int
fill_lease(struct work *w)
{
	const struct request *r = w->request;
	struct lease *l = &w->lease;
	unsigned dirs = CGROUP_DIRS;

	lease_key(w->peer->asker.uid, r->runtime_root, r->id, l->key);
	l->id = strdup(r->id);
	l->root = strdup(r->runtime_root);
	l->policy = strdup(w->decision.policy.name);
	if (w->known.id.pipeline == NULL)
		l->pipeline = strdup("");
	else if (asprintf(&l->pipeline, "%s/%s", w->known.id.team, w->known.id.pipeline) == -1)
		l->pipeline = NULL;
	if (l->id == NULL || l->root == NULL || l->policy == NULL || l->pipeline == NULL)
		return refuse_nomem(&w->why);
	l->uid = w->peer->asker.uid;
	l->pid = w->peer->pid;
	l->start = w->peer->start;
	snprintf(l->boot, sizeof(l->boot), "%s", w->peer->boot);
	l->since = time(NULL);
	if (fill_users(w) == -1)
		return -1;
	if (w->peer->asker.enforced && r->systemd_cgroup && r->cgroups_path[0] == '\0')
		return refuse(&w->why, WHY_DATA, "config.json has no linux.cgroupsPath: with systemd's cgroups, what is granted "
		    "could not be followed without");
	if (cgroup_candidates(w->peer->pid, r->cgroups_path, r->id, &l->cgroups, &w->why) == -1)
		return -1;
	/* its end is seen by its cgroup: that has to be there, and its own */
	if (w->peer->asker.enforced && l->cgroups.n == 0)
		return refuse(&w->why, WHY_IO, "/proc/%d/cgroup names no cgroup: are cgroups mounted?", w->peer->pid);
	if (cgroup_populated(&l->cgroups, &dirs))
		return refuse(&w->why, WHY_DATA, "the container's cgroup %s has processes in it already: it must have one of its own",
		    *r->cgroups_path ? r->cgroups_path : r->id);
	return 0;
}

static void
audit_end(void *ctx, const struct lease *l)
{
	const struct work *w = ctx;

	audit_lease(w->audit, "end", l);
}

/* A place in the queue for a request that may wait, so that it is the next time no later than those behind it. */
static int
stay_in_queue(struct work *w, struct queue *q, struct waiter *me)
{
	const struct lease *l = &w->lease;
	struct why why;

	if (w->why.code != WHY_AGAIN || w->decision.grant.wait == 0)
		return -1;
	me->uid = l->uid;
	me->pid = l->pid;
	me->start = l->start;
	if ((me->id = strdup(l->id)) == NULL || (me->pipeline = strdup(l->pipeline)) == NULL)
		return refuse_nomem(&w->why);
	if (queue_stay(q, me, &why) == -1) {
		w->why = why;
		return -1;
	}
	w->waits = true;
	return -1;
}

/* One step for every node that the picked GPUs need. */
static int
each_node(struct work *w, const struct device_view *all, device_do *what)
{
	struct device_view view = *all;
	size_t i;

	for (i = 0; i < w->lease.gpus; i++) {
		view.alone = w->lease.gpu[i].exclusive && w->lease.gpu[i].part[0] == '\0';
		if (device_each(&view, w->picks[i].gpu, w->picks[i].rule->capabilities, what, &w->edits, &w->why) == -1)
			return -1;
	}
	for (i = 0; i < w->more.n; i++)
		if (what(all, &w->more.v[i], &w->edits, &w->why) == -1)
			return -1;
	return 0;
}

/* Of the CDI specs that the GPUs are in. */
static int
add_driver(struct work *w)
{
	struct driver_want want[GPUS_MAX];
	const struct driver_question q = { &w->decision.specs, &w->decision.inventory, &w->settings, want, w->lease.gpus };
	size_t i;

	for (i = 0; i < w->lease.gpus; i++)
		want[i] = (struct driver_want){ w->picks[i].gpu, w->picks[i].rule };
	if (driver_files(&q, &w->edits, &w->specs, &w->why) == -1 || driver_nodes(&q, &w->more, &w->why) == -1)
		return -1;
	edits_sort_mounts(&w->edits);
	return 0;
}

/* For a vendor's runtime below: what was granted, and no more. */
static int
add_vendor_env(struct work *w)
{
	struct vendor_grant granted[GPUS_MAX];
	size_t i;

	for (i = 0; i < w->lease.gpus; i++)
		granted[i] = (struct vendor_grant){ w->picks[i].gpu, w->picks[i].rule->capabilities };
	return w->settings.driver_files != DRIVER_FILES_VENDOR_RUNTIME ? 0 :
	    vendor_env(&w->decision.inventory, granted, w->lease.gpus, &w->edits.env, &w->why);
}

/* A choice among the host's GPUs means another one among those that the container sees: all of them. */
static int
renumber(struct work *w, enum gpu_vendor vendor, const char *variable)
{
	autobuf struct buf b = { 0 };
	unsigned n = 0;
	size_t i;

	if (!w->ask.bound[vendor].set)
		return 0;
	buf_printf(&b, "%s=", variable);
	for (i = 0; i < w->lease.gpus; i++)
		if (w->picks[i].gpu->vendor == vendor) {
			buf_printf(&b, n > 0 ? ",%u" : "%u", n);
			n++;
		}
	return b.failed || !edits_add_env(&w->edits, b.p) ? refuse_nomem(&w->why) : 0;
}

/*
 * The nodes are made and opened to the container, and the lease is written down:
 * whatever is done is in it before it is done.
 */
static int
open_gpus(struct work *w, const struct leases *ls)
{
	const struct inventory *inv = &w->decision.inventory;
	const struct device_view view = { .inv = inv, .subject = &w->subject, .peer = w->peer, .others = ls,
		.lease = &w->lease, .label = &w->label };
	const struct birth birth = { inv->nvidia_mode, inv->nvidia_uid, inv->nvidia_gid };

	if (add_driver(w) == -1 || renumber(w, GPU_NVIDIA, "CUDA_VISIBLE_DEVICES") == -1 ||
	    renumber(w, GPU_AMD, "ROCR_VISIBLE_DEVICES") == -1 || each_node(w, &view, device_plan) == -1)
		return -1;
	if (w->lease.acts > 0 && (leases_write(ls, &w->lease, &w->why) == -1 ||
	    acts_make_nodes(ls, &w->lease, &birth, &w->why) == -1))
		return -1;
	if (each_node(w, &view, device_add) == -1 || leases_write(ls, &w->lease, &w->why) == -1)
		return -1;
	if (add_vendor_env(w) == -1 || acts_allow(ls, &w->lease, &w->why) == -1)
		return -1;
	/* under the lock, too: whoever ends the lease removes its record with it */
	return exec_record_write(w->peer, &w->lease, &w->edits, &w->why);
}

/* Under the lock: pick, write down, open.  Nothing that the caller controls is touched while it is held. */
static int
take_lease(struct work *w, struct traces *t)
{
	struct queue q = { .dir = -1 };
	struct waiter me = { 0 };
	struct leases ls;
	struct why ignored;
	int ret;

	memcpy(me.key, w->lease.key, sizeof(me.key));
	queue_renew(me.key);
	ret = leases_open(&ls, w->peer->asker.uid, audit_end, w, &w->why);
	/* a crowd at the lock is no reason to give up for who may wait anyway */
	if (ret == -1 && w->why.code == WHY_AGAIN && w->decision.grant.wait > 0)
		w->waits = true;
	if (ret == 0)
		ret = queue_open(&q, &w->why);
	w->ahead = queue_place(&q, me.key);
	if (ret == 0 && (ret = allot(&ls, &q, &w->decision, &w->lease, &me, w->picks, GPUS_MAX, &w->why)) == -1)
		ret = stay_in_queue(w, &q, &me);
	else if (ret == 0 && (ret = leases_admit(&ls, &w->lease, &w->why)) == 0 &&
	    (ret = label_admit(&w->label, &ls, &w->lease, &w->why)) == 0) {
		if ((ret = open_gpus(w, &ls)) == 0) {
			memcpy(t->lease, w->lease.key, sizeof(t->lease));
			queue_leave(&q, me.key);
		} else
			(void)leases_remove(&ls, &w->lease, &ignored);
	}
	queue_close(&q);
	waiter_free(&me);
	leases_close(&ls);
	return ret;
}

static int
name_gpus(struct work *w)
{
	autobuf struct buf name = { 0 };
	const struct gpu *g;
	char part[16];
	size_t i;

	for (i = 0; i < w->lease.gpus; i++) {
		g = w->picks[i].gpu;
		name.len = 0;
		gpu_part(&w->decision.inventory, g, part);
		buf_printf(&name, "%s %s%s%s%s%s", gpu_vendor_name(g->vendor), g->pci, g->uuid[0] ? " " : "", g->uuid,
		    part[0] ? " part " : "", part);
		if (name.failed || !strlist_add(&w->gpu_names, name.p, SIZE_MAX))
			return refuse_nomem(&w->why);
	}
	return 0;
}

/* /proc in a container shows every NVIDIA GPU of the host: hide those that are not granted. */
static int
mask_others(struct work *w)
{
	const struct gpu *granted[GPUS_MAX];
	size_t i;

	for (i = 0; i < w->lease.gpus; i++)
		granted[i] = w->picks[i].gpu;
	return procmask_others(&w->decision.inventory, granted, w->lease.gpus, &w->edits.masked) ? 0 :
	    refuse_nomem(&w->why);
}

static int
add_env(struct work *w)
{
	const struct strlist *env = &w->decision.policy.env;
	size_t i;

	for (i = 0; i < env->n; i++)
		if (!strlist_add(&w->edits.env, env->v[i], SIZE_MAX))
			return refuse_nomem(&w->why);
	return 0;
}

/* For the specification. */
static int
add_labels(struct work *w)
{
	const struct label *l = &w->label;

	if ((l->text[0] != '\0' && (w->edits.label = strdup(l->text)) == NULL) ||
	    (l->mount[0] != '\0' && (w->edits.mount_label = strdup(l->mount)) == NULL))
		return refuse_nomem(&w->why);
	return 0;
}

/* What can't be written down is not done; and one user can't pour records into the log without end. */
static int
record(struct work *w, const char *event, const struct why *why)
{
	const bool granted = strcmp(event, "grant") == 0;
	struct record rec = {
		.event = event, .peer = w->peer, .request = w->request,
		.known = w->prepared || w->known.token_hash[0] ? &w->known : NULL,
		.policy = granted ? w->decision.policy.name : NULL, .gpus = granted ? &w->gpu_names : NULL,
		.specs = granted ? &w->specs : NULL,
		.edits = granted ? &w->edits : NULL, .why = why };

	if (!rate_allows(w->peer->asker.uid, time(NULL), &rec.suppressed))
		return refuse(&w->why, WHY_AGAIN, "more than %d requests of uid %u in a minute: try again later",
		    RATE_PER_MINUTE, w->peer->asker.uid);
	return audit_write(w->audit, &rec, &w->why);
}

static void
take_back(const struct peer *p, const struct request *r, const struct traces *t)
{
	struct why ignored;

	binding_drop(t->binding);
	if (t->lease[0] != '\0')
		(void)leases_drop(p, r->runtime_root, r->id, &ignored);
}

static int
bind_token(struct work *w, struct traces *t)
{
	if (w->known.id.kind != IDENTITY_TOKEN || w->known.issuer->reuse)
		return 0;
	return binding_take(&w->known, w->lease.key, t->binding, &w->why);
}

static int
find_folders(struct work *w)
{
	int ret;

	end_after(FIND_MS);
	ret = folders_resolve(&w->decision.grant, &w->subject, &w->edits, &w->why) == -1 ||
	    label_folders(&w->label, &w->edits, &w->lease, &w->why) == -1 ? -1 : 0;
	end_after(0);
	return ret;
}

/* Everything up to the reply; *t grows with what is done, for take_back(). */
static int
carry_out(struct work *w, struct traces *t)
{
	if (!idmap_compose(&w->peer->uids, &w->request->uids, &w->uids) ||
	    !idmap_compose(&w->peer->gids, &w->request->gids, &w->gids))
		return refuse(&w->why, WHY_DATA, "linux.uidMappings and the caller's own user namespace make more than %d "
		    "ranges of ids", IDMAP_MAX);
	subject_of(w->request, &w->uids, &w->gids, &w->subject);
	if (find_folders(w) == -1 || add_env(w) == -1 || fill_lease(w) == -1 || take_lease(w, t) == -1)
		return -1;
	if (relabel_look(&w->label, w->peer, &w->edits, &w->relabelling, &w->why) == -1 || bind_token(w, t) == -1 ||
	    name_gpus(w) == -1 || mask_others(w) == -1 || add_labels(w) == -1 || record(w, "grant", NULL) == -1) {
		take_back(w->peer, w->request, t);
		return -1;
	}
	/* last, and told of before: labels stay, whatever becomes of the grant */
	if (relabel_change(w->relabelling, &w->why) == -1) {
		grant_undo(w->peer, w->request, t);
		return -1;
	}
	return 0;
}

static void
answer_refusal(struct work *w, struct reply *reply)
{
	const struct why why = w->why;

	/* busy is no decision yet: the wrapper asks again as long as the policy says */
	if (w->waits) {
		reply->kind = REPLY_BUSY;
		reply->wait = w->decision.grant.wait;
		reply->ahead = (unsigned)w->ahead;
	} else {
		reply->kind = REPLY_REFUSED;
		(void)record(w, "refuse", &why);
	}
	reply->why = why;
}

void
grant(const struct peer *p, const struct request *r, struct reply *reply, struct traces *t)
{
	struct work w = { .peer = p, .request = r, .audit = -1 };

	*reply = (struct reply){ 0 };
	*t = (struct traces){ 0 };
	if ((w.audit = audit_open(&w.why)) == -1) {
		reply->kind = REPLY_REFUSED;
		reply->why = w.why;
	} else if (prepare(&w) == 0 && judge(&w) == 0 && carry_out(&w, t) == 0) {
		reply->kind = REPLY_GRANT;
		snprintf(reply->policy, sizeof(reply->policy), "%s", w.decision.policy.name);
		reply->edits = w.edits;
		w.edits = (struct edits){ 0 };
	} else if (w.unasked && w.judged && w.why.code == WHY_DENIED) {
		reply->kind = REPLY_PLAIN;
	} else
		answer_refusal(&w, reply);
	work_free(&w);
}

void
grant_undo(const struct peer *p, const struct request *r, const struct traces *t)
{
	const struct record rec = { .event = "undo", .peer = p, .request = r };
	struct why ignored;
	int fd;

	take_back(p, r, t);
	if ((fd = audit_open(&ignored)) != -1) {
		(void)audit_write(fd, &rec, &ignored);
		close(fd);
	}
}

void
note(const struct peer *p, const struct request *r, struct reply *reply)
{
	struct work w = { .peer = p, .request = r, .audit = -1 };
	struct why told = { 0 };
	bool refused = r->verb == VERB_REFUSED;

	*reply = (struct reply){ .kind = REPLY_NOTED };
	if (refused)
		refuse(&told, WHY_DATA, "gpuhelper-runc: %s", r->reason != NULL ? r->reason : "(no reason given)");
	if ((w.audit = audit_open(&w.why)) == -1 ||
	    record(&w, refused ? "refuse" : "plain", refused ? &told : NULL) == -1) {
		reply->kind = REPLY_REFUSED;
		reply->why = w.why;
	}
	work_free(&w);
}
