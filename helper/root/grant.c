/*
 * See grant.h.  Data flows one way here: request, policy, decision, edits.  The
 * decision is gpuhelper-judge's (decision.c); what this file adds is only
 * what needs root: nodes, leases, the audit log.
 */
#include "grant.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../host/cgroup.h"
#include "../host/folders.h"
#include "../host/nestedplace.h"
#include "../host/spaces.h"
#include "../host/users.h"
#include "../pure/nested.h"
#include "../pure/procmask.h"
#include "audit.h"
#include "binding.h"
#include "charlink.h"
#include "decision.h"
#include "host.h"
#include "judge.h"
#include "leaseend.h"
#include "owncgroup.h"
#include "reader.h"
#include "take.h"
#include "timer.h"
#include "ways.h"
#include "work.h"

#define SUBUIDS_MAX 64
#define FIND_MS 8000		/* for what takes milliseconds */

/* Who is it, and how is that known? */
static int
identify(struct work *w)
{
	const struct request *r = w->request;

	if (r->token != NULL)
		return judge_identifies(r->token, &w->settings, &w->known, &w->why);
	/* what a silent container's environment says of pipelines is no asking: only a «caller» policy may cover it */
	if (w->unasked) {
		w->known.id.kind = IDENTITY_CALLER;
		return 0;
	}
	return identity_of_claims(r, judge_parses_vars, &w->known, &w->why);
}

static int
judge(struct work *w)
{
	w->judged = true;
	/* the one place where a verdict becomes an act */
	return decision_reach(w, w->request) == 0 && w->decision.verdict == VERDICT_GRANT ?
	    label_choose(w->decision.policy, w->request, &w->label, &w->why) : -1;
}

/* Its words are the judge's to read. */
static bool
wants_gpus(const struct request *r)
{
	return r->gpus != NULL ? strcmp(r->gpus, "none") != 0 : r->folders == NULL;
}

static int
prepare(struct work *w)
{
	const struct request *r = w->request;

	/* both start while the files are found and read */
	reader_wake();
	judge_wake();
	if (reader_reads(&w->settings, &w->policies, &w->why) == -1)
		return -1;
	if (r->privileged && w->settings.privileged == PRIVILEGED_DENY)
		return refuse(&w->why, WHY_DENIED, "privileged containers are not allowed on this host (privileged = \"deny\" "
		    "in gpuhelper.conf)");
	w->unasked = r->token == NULL && r->gpus == NULL && r->folders == NULL;
	if (w->unasked && !w->settings.grant_unasked)
		return refuse(&w->why, WHY_DENIED, "the container asks for nothing");
	/* the kernel shows GPUs as the cgroup's device rules are (amdkfd): no caller may have them counted differently */
	if (leave_cgroup(w->peer->starter, &w->why) == -1)
		return -1;
	/* before the judge has heard a stranger's word */
	host_look(wants_gpus(r) ? policies_vendors(&w->policies, &w->peer->asker) : 0);
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

/*
 * A container whose first process only pauses is known by the file that it is to
 * run (created.c sees whether it does).  Its access must be of a kind that can be
 * ended: systemd may write a scope's device rules again, and a privileged
 * container can undo them.
 */
static void
fill_pausing(struct work *w)
{
	const struct request *r = w->request;
	const struct settings *s = &w->settings;
	struct lease *l = &w->lease;

	l->pauses = s->idle != IDLE_KEEP && work_has_placeholder(w) && w->peer->asker.enforced && !r->systemd_cgroup &&
	    !r->privileged && w->decision.grant.gpus > 0;
	if (!l->pauses)
		return;
	l->pausing = (struct pausing){ .program = r->init_file, .idle = s->idle, .first_exec = s->first_exec,
		.left_behind = s->left_behind, .uid = r->uid, .gid = r->gid, .who = identity_pack(&w->known.id) };
}

/* Where rules for devices hold, the cgroups that the runtime is going to name must be those that are seen from here. */
static int
check_place(pid_t asker, const struct request *r, struct why *why)
{
	uint64_t time_space;

	/* there, processes seem to have started at other times than elsewhere */
	if (space_of(getpid(), "time", &time_space) && time_space != SPACE_FIRST_TIME)
		return refuse(why, WHY_IO, "this engine is in a time namespace of its own: what is granted could not be followed");
	if (r->systemd_cgroup && r->cgroups_path[0] == '\0')
		return refuse(why, WHY_DATA, "config.json has no linux.cgroupsPath: with systemd's cgroups, what is granted "
		    "could not be followed without");
	if (r->systemd_cgroup && cgroup_check_scope(r->cgroups_path, why) == -1)
		return -1;
	return cgroup_is_shown(asker) ? 0 : refuse(why, WHY_IO, "/proc/%d/cgroup names a cgroup that /sys/fs/cgroup does not "
	    "have: in a cgroup namespace of its own, the engine has to mount /sys/fs/cgroup anew", asker);
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
	l->policy = strdup(w->decision.policy->name);
	if (w->known.id.pipeline == NULL)
		l->pipeline = strdup("");
	else if (asprintf(&l->pipeline, "%s/%s", w->known.id.team, w->known.id.pipeline) == -1)
		l->pipeline = NULL;
	if (l->id == NULL || l->root == NULL || l->policy == NULL || l->pipeline == NULL)
		return refuse_nomem(&w->why);
	l->uid = w->peer->asker.uid;
	l->asker = (struct process_id){ w->peer->pid, w->peer->start };
	snprintf(l->boot, sizeof(l->boot), "%s", w->peer->boot);
	l->since = time(NULL);
	fill_pausing(w);
	if (fill_users(w) == -1)
		return -1;
	l->privileged = r->privileged;
	if (!space_of(getpid(), "pid", &l->pids))
		return refuse(&w->why, WHY_IO, "/proc/self/ns/pid: %s", strerror(errno));
	if (w->peer->asker.enforced && check_place(w->peer->pid, r, &w->why) == -1)
		return -1;
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
	const struct strlist *env = &w->decision.policy->env;
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

static struct record
record_of(const struct work *w, const char *event, const struct why *why)
{
	const bool granted = strcmp(event, "grant") == 0;

	return (struct record){
		.event = event, ASKED_BY(w->peer), .request = w->request,
		.known = w->prepared || w->known.token_hash[0] || w->known.id.team != NULL ? &w->known : NULL,
		.policy = granted ? w->decision.policy->name : NULL, .gpus = granted ? &w->gpu_names : NULL,
		.specs = granted ? &w->specs : NULL, .waited = granted ? w->lease.pausing.waited : 0,
		.edits = granted ? &w->edits : NULL, .why = why };
}

/* What can't be written down is not done, nor what its user has no room left for in the log; a refusal stands. */
static int
record(struct work *w, const char *event, const struct why *why)
{
	const struct record rec = record_of(w, event, why);
	struct why ignored;

	/* who can't is refused for that, or for what was wrong before: his record stands outside the chain */
	(void)leave_cgroup(w->peer->starter, &ignored);
	return audit_count_and_write(w->audit, &rec, strcmp(event, "plain") == 0 ? RATE_PLAIN : RATE_REFUSAL, &w->why);
}

/*
 * Of a GPU under the lock: who saw the lease over meanwhile has told of its end, and may have told of the next one's
 * grant. Nothing of this one comes after that in the log.
 */
static int
record_grant(struct work *w)
{
	const struct record rec = record_of(w, "grant", NULL);
	struct audit_line line;
	struct leases ls = { .dir = -1, .lock = -1, .line = -1 };
	int ret;

	if ((ret = audit_count(w->audit, &rec, RATE_GRANT, &line, &w->why)) == 0) {
		/* for as long as who takes a lease back waits: it would have to be taken back else */
		if (w->lease.gpus > 0 && (ret = leases_open_again(&ls, w->peer->asker.uid, &w->why)) == -1)
			w->waits = w->why.code == WHY_AGAIN;	/* as in take.c */
		if (ret == 0 && (w->lease.gpus == 0 || (ret = check_planned(w, &ls)) == 0))
			ret = audit_append(w->audit, &line, &w->why);
		leases_close(&ls);
	}
	audit_line_end(w->audit, &line);
	return ret;
}

/* One that is not in the log: nothing was done for it.  False where it stays for a while. */
static bool
take_back(const struct peer *p, const struct request *r, const struct traces *t)
{
	struct why ignored;

	return t->lease[0] == '\0' || leases_drop(p, r->runtime_root, r->id, t->binding, NULL, &ignored) != -1;
}

static int
bind_token(struct work *w, struct traces *t)
{
	if (w->known.id.kind != IDENTITY_TOKEN || w->known.issuer->reuse)
		return 0;
	return binding_take(&w->known, w->lease.uid, w->lease.key, t->binding, &w->why);
}

static int
look_at_folders(struct work *w, struct edits *e, struct lease *l)
{
	automounts struct mount_table *mounts = w->decision.grant.folders > 0 ? mounts_read() : NULL;

	return folders_resolve_among(mounts, &w->decision.grant, &w->subject, e, &w->why) == -1 ||
	    ways_note(e, mounts, &w->uids, l, &w->why) == -1 ? -1 : ways_check_claim(l, w->peer->asker.uid, &w->why);
}

/* The wrapper sees in the container that it is these places that the runtime has mounted. */
static int
tell_places(struct work *w)
{
	size_t i;

	for (i = 0; i < w->edits.mounts && i < w->lease.ways; i++)
		if (w->lease.way[i].at.n == 0 || (w->edits.mount[i].place = strdup(w->lease.way[i].at.v[0])) == NULL)
			return refuse_nomem(&w->why);
	return 0;
}

static int
find_folders(struct work *w)
{
	int ret;

	end_after(FIND_MS);
	ret = look_at_folders(w, &w->edits, &w->lease) == -1 || tell_places(w) == -1 ||
	    (w->request->at_once && (nested_refuse(&w->policies, &w->edits, &w->why) == -1 ||
	    nested_refuse_places(&w->policies, &w->edits, &w->why) == -1)) ||
	    label_folders(&w->label, &w->edits, &w->lease, &w->why) == -1 ? -1 : 0;
	end_after(0);
	w->folder_ways = w->lease.ways;
	return ret;
}

/*
 * Until the lease was there, who had a folder on the way for writing could still put a link on it, and be
 * gone.  Since then nobody gets such a folder (ways.h): what is found now is what the runtime will find.
 * The driver's files were looked at under the lock, when the leases had been read: they stay what they were found.
 */
static int
find_folders_again(struct work *w)
{
	struct edits edits = { 0 };
	struct lease l = { 0 };
	size_t i;
	int ret;

	if (w->folder_ways == 0)
		return 0;
	end_after(FIND_MS);
	ret = look_at_folders(w, &edits, &l);
	end_after(0);
	for (i = 0; ret == 0 && i < w->folder_ways; i++)
		if (i >= l.ways || !way_same(&w->lease.way[i], &l.way[i]))
			ret = refuse(&w->why, WHY_AGAIN, "folder %s is not any more where it was a moment ago: try again",
			    w->lease.way[i].path);
	edits_free(&edits);
	lease_free(&l);
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
	if (find_folders(w) == -1 || add_env(w) == -1 || fill_lease(w) == -1 || take_lease(w, t->lease) == -1)
		return -1;
	if (find_folders_again(w) == -1 ||
	    relabel_look(&w->label, w->peer, &w->edits, &w->relabelling, &w->why) == -1 || bind_token(w, t) == -1 ||
	    name_gpus(w) == -1 || mask_others(w) == -1 || add_labels(w) == -1 || record_grant(w) == -1) {
		w->waits = take_back(w->peer, w->request, t) && w->waits;
		return -1;
	}
	/* told of before they are done; the labels last, for they stay whatever becomes of the grant */
	if (open_nodes(w) == -1 || relabel_change(w->relabelling, &w->why) == -1) {
		grant_undo(w->peer, w->request, t);
		return -1;
	}
	if (w->peer->asker.enforced && w->request->systemd_cgroup)
		charlink_nodes(&w->edits);
	return 0;
}

/* One that is not in the log says why not, but where its user has used up his room there. */
static void
refuse_on_record(struct work *w, struct why *why)
{
	const struct why told = *why;

	if (record(w, "refuse", &told) == -1 && w->why.code != WHY_AGAIN)
		refuse(why, told.code, "%.250s (not in " GPUHELPER_LOGDIR "/audit.jsonl: %.200s)", told.text, w->why.text);
}

static void
answer_refusal(struct work *w, struct reply *reply)
{
	struct why why = w->why;

	/* busy is no decision yet: the wrapper asks again as long as the policy says */
	if (w->waits) {
		reply->kind = REPLY_BUSY;
		reply->wait = w->soon ? 0 : w->decision.grant.wait;
		reply->ahead = (unsigned)w->ahead;
		reply->chores = w->chores;
		w->chores = (struct chores){ 0 };
	} else {
		reply->kind = REPLY_REFUSED;
		refuse_on_record(w, &why);
	}
	reply->why = why;
}

/* False: what was picked is open in a container that has no lease of it; with look_first it is not picked. */
static bool
try(const struct peer *p, const struct request *r, bool look_first, struct reply *reply, struct traces *t)
{
	struct work w = { .peer = p, .request = r, .audit = -1, .look_first = look_first };
	bool final;

	*reply = (struct reply){ 0 };
	*t = (struct traces){ 0 };
	if ((w.audit = audit_open(&w.why)) == -1) {
		reply->kind = REPLY_REFUSED;
		reply->why = w.why;
	} else if (prepare(&w) == 0 && judge(&w) == 0 && carry_out(&w, t) == 0) {
		reply->kind = REPLY_GRANT;
		snprintf(reply->policy, sizeof(reply->policy), "%s", w.decision.policy->name);
		reply->edits = w.edits;
		w.edits = (struct edits){ 0 };
	} else if (w.unasked && w.judged && w.why.code == WHY_DENIED) {
		reply->kind = REPLY_PLAIN;
	} else if (look_first || !w.met_stray)
		answer_refusal(&w, reply);
	final = look_first || !w.met_stray;
	work_free(&w);
	return final;
}

void
grant(const struct peer *p, const struct request *r, struct reply *reply, struct traces *t)
{
	if (!try(p, r, false, reply, t))
		(void)try(p, r, true, reply, t);
}

struct undoing {
	struct record record;
	bool told;
};

static void
tell_undo(void *ctx, bool draining)
{
	struct undoing *u = ctx;
	struct why ignored;
	int fd = audit_open(&ignored);

	u->told = true;
	u->record.draining = draining;
	if (fd == -1)
		return;
	(void)audit_write(fd, &u->record, &ignored);
	close(fd);
}

/* Its token stays bound: what it was good for may be in use still.  The same container may come again with it. */
void
grant_undo(const struct peer *p, const struct request *r, const struct traces *t)
{
	struct undoing u = { .record = { .event = "undo", ASKED_BY(p), .request = r } };
	const struct undo_teller tell = { tell_undo, &u };
	struct why why;

	/* told of twice rather than not with the reason why it could not be taken back */
	if (t->lease[0] != '\0' && leases_drop(p, r->runtime_root, r->id, "", &tell, &why) == -1) {
		u.record.why = &why;
		u.told = false;
	}
	if (!u.told)
		tell_undo(&u, u.record.draining);
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
	/* no judge is asked, and the variables stay what the task's author wrote */
	if (r->team != NULL && r->pipeline != NULL)
		w.known.id = (struct identity){ .kind = IDENTITY_CLAIM, .team = r->team, .pipeline = r->pipeline, .job = r->job };
	if ((w.audit = audit_open(&w.why)) == -1 ||
	    record(&w, refused ? "refuse" : "plain", refused ? &told : NULL) == -1) {
		reply->kind = REPLY_REFUSED;
		reply->why = w.why;
	}
	work_free(&w);
}
