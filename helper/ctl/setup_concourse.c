/*
 * gpuhelperctl setup concourse: a worker of Concourse's, which starts a containerd of its own.  That containerd
 * looks into /opt/containerd/bin first, so that one link is enough, the worker needs no restart, and an upgrade of
 * it changes nothing.  Touches none of the worker's own files.  With --image, the same in an image from which a
 * worker will be started.
 */
#include "setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../pure/cleanup.h"
#include "../pure/path.h"
#include "../user/rootfs.h"
#include "../user/runtime.h"
#include "containerdconf.h"

#define CONCOURSE_RUNC "/usr/local/concourse/bin/runc"	/* where Concourse's archive has it */
#define IMAGE_WORK_DIR "/worker-state"			/* of Concourse's official image */

/* A trailing slash is no other directory. */
static int
add_volumes(struct setup *s, const char *dir, const char *below, struct why *why)
{
	autofree char *path = NULL, *clean = NULL;

	if (asprintf(&path, "%s%s", dir, below) == -1)
		path = NULL;
	clean = path != NULL ? path_cleaned(path) : NULL;
	return clean != NULL && strlist_add(&s->volumes, clean, SIZE_MAX) ? 0 : refuse_nomem(why);
}

/* By a containerd of its own, or a link in containerd's way would change nothing. */
static int
check_engine(struct worker *w, const char *dir, struct why *why)
{
	const bool first = w->path != NULL && text_starts(w->path, CONTAINERD_OPT ":");

	if (w->concourse == 0 && dir == NULL)
		return refuse(why, WHY_CONFIG, "no running Concourse worker of root's can be seen (one in a container can't: see "
		    "gpuhelper-concourse(7)): start it, or name its work directory (--worker-dir)");
	if (w->concourse == 0 && w->engine != 0 && first)
		return refuse(why, WHY_CONFIG, "%s (PID %d) runs, and no Concourse worker of root's: its containers would be judged, "
		    "too; start the worker, or see «setup containerd» and gpuhelper-runc(1) for other engines", w->name, w->engine);
	if (w->concourse == 0) {
		worker_free(w);
		return 0;
	}
	if (!w->own_containerd)
		return refuse(why, WHY_CONFIG, "the worker (PID %d) has no containerd of its own to be seen.  With guardian, set "
		    "CONCOURSE_GARDEN_RUNTIME_PLUGIN=" WRAPPER " in its environment, and runtime and volumes in gpuhelper.conf",
		    w->concourse);
	if (!first)
		return refuse(why, WHY_CONFIG, "the worker's containerd (PID %d) does not look into " CONTAINERD_OPT " first (its "
		    "plugin «opt»): make the link by hand (gpuhelperctl doctor says where)", w->engine);
	return 0;
}

/* Of several workers the one whose volumes lie in the directory that was named; 0: none, or it is not needed. */
static pid_t
named_worker(const struct setup *s, const struct engines *e)
{
	const struct engine_process *p = NULL;

	while (s->volumes.n > 0 && (p = engines_next(e, ENGINE_CONCOURSE, p)) != NULL) {
		autofree char *clean = p->is.volumes != NULL ? path_cleaned(p->is.volumes) : NULL;

		if (clean != NULL && strcmp(clean, s->volumes.v[0]) == 0)
			return p->is.concourse;
	}
	return 0;
}

/*
 * The link is in the way of all workers: one whose volumes gpuhelper.conf has not would have its containers
 * refused.
 */
static int
check_others(const struct setup *s, const struct engines *e, struct why *why)
{
	const struct engine_process *p = NULL;
	const char *v;

	while ((p = engines_next(e, ENGINE_CONCOURSE, p)) != NULL) {
		autofree char *clean = (v = p->is.volumes) != NULL ? path_cleaned(v) : NULL;

		if (v == NULL ? p->is.concourse == s->worker.concourse : (clean != NULL && strcmp(clean, s->volumes.v[0]) == 0) ||
		    rootfs_may_lie_in(v, &s->settings, 0))
			continue;
		return refuse(why, WHY_CONFIG, "the worker with PID %d runs on this host, too, and gpuhelper would refuse its "
		    "containers: name its volumes%s%.200s in gpuhelper.conf first, and the work directory of the worker to set up "
		    "(--worker-dir)", p->is.concourse, v != NULL ? ", " : "", v != NULL ? v : "");
	}
	if ((p = engines_next(e, ENGINE_CONTAINERD, NULL)) != NULL && p->is.path != NULL &&
	    text_starts(p->is.path, CONTAINERD_OPT ":"))
		say("engine: %s (PID %d) looks into " CONTAINERD_OPT " first, too: gpuhelper will judge its containers as well",
		    p->is.name, p->is.engine);
	return 0;
}

/* The runc that the worker has called until now. */
static int
find_runtime(struct setup *s, struct why *why)
{
	autofree char *found = NULL;

	if (s->settings.runtime == NULL && s->worker.engine != 0 && (found = runtime_find_in(s->worker.path, why)) == NULL)
		return -1;
	if (found == NULL && access(CONCOURSE_RUNC, X_OK) == 0 && (found = strdup(CONCOURSE_RUNC)) == NULL)
		return refuse_nomem(why);
	return setup_runtime(s, found, why);
}

static int
find_worker(struct setup *s, struct why *why)
{
	const char *dir = s->options->worker_dir;
	autoengines struct engines e = { 0 };

	/* root's alone: whoever else runs one would choose what root writes */
	engines_find(0, &e);
	worker_of(&e, named_worker(s, &e), &s->worker);
	if (check_engine(&s->worker, dir, why) == -1)
		return -1;
	if (dir == NULL && s->worker.volumes == NULL)
		return refuse(why, WHY_CONFIG, "where the worker (PID %d) keeps volumes can't be seen: name its work directory "
		    "(--worker-dir DIR)", s->worker.concourse);
	if (dir == NULL && add_volumes(s, s->worker.volumes, "", why) == -1)
		return -1;
	return check_others(s, &e, why);
}

static int
find(struct setup *s, struct why *why)
{
	const char *dir = s->options->worker_dir;

	if (dir == NULL && s->options->image)
		dir = IMAGE_WORK_DIR;
	if (dir != NULL && *dir != '/')
		return refuse(why, WHY_USAGE, "--worker-dir %s: must begin with /", dir);
	if (s->options->image && s->options->tags)
		return refuse(why, WHY_USAGE, "--tags needs a worker that runs, and an image has none: give the container "
		    "CONCOURSE_TAG");
	if (dir != NULL && add_volumes(s, dir, "/volumes", why) == -1)
		return -1;
	if ((!s->options->image && find_worker(s, why) == -1) || find_runtime(s, why) == -1)
		return -1;
	if ((s->link = strdup(CONTAINERD_RUNC)) == NULL)
		return refuse_nomem(why);
	if (s->worker.concourse != 0)
		say("worker: PID %d, with its volumes in %s", s->worker.concourse, s->volumes.v[0]);
	else
		say("worker: none runs now; its volumes will be in %s", s->volumes.v[0]);
	return 0;
}

static int
put(struct setup *s, bool dry, struct why *why)
{
	return setup_link(s, dry, why);
}

static int
undo(struct setup *s, bool dry, struct why *why)
{
	return (s->link = strdup(CONTAINERD_RUNC)) != NULL ? setup_link_undo(s, dry, why) : refuse_nomem(why);
}

/* A link that only containerd was set up with is that engine's. */
static bool
in_place(const char *gone)
{
	autofree char *ours = setup_link_recorded("concourse"), *theirs = setup_link_recorded("containerd");

	if ((gone != NULL && strcmp(gone, CONTAINERD_RUNC) == 0) || !leads_to_wrapper(CONTAINERD_RUNC))
		return false;
	return ours != NULL || theirs == NULL || strcmp(theirs, CONTAINERD_RUNC) != 0;
}

const struct engine engine_concourse = { "concourse", find, NULL, put, undo, in_place };
