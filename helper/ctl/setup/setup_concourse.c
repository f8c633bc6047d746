/*
 * gpuhelperctl setup concourse: for a Concourse worker that starts its own containerd.  That containerd searches
 * /opt/containerd/bin first, so one link is enough: the worker needs no restart, and an upgrade of the worker does not
 * replace the link.  Changes none of the worker's files.  With --image, does the same in the image of a worker.
 */
#include "../../base/pathclean.h"
#include "setup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/path.h"
#include "../../user/command/runtime.h"
#include "../../user/mount/rootfs.h"
#include "../worker/containerdconf.h"

#define CONCOURSE_RUNC "/usr/local/concourse/bin/runc"	/* in Concourse's archive */
#define IMAGE_WORK_DIR "/worker-state"			/* of Concourse's official image */

/* Adds DIR BELOW, cleaned: a trailing slash makes no difference. */
static int
add_volumes(struct setup *s, const char *dir, const char *below, struct why *why)
{
	autofree char *path = NULL, *clean = NULL;

	if (asprintf(&path, "%s%s", dir, below) == -1)
		path = NULL;
	clean = path != NULL ? path_cleaned(path) : NULL;
	return clean != NULL && strlist_add(&s->volumes, clean, SIZE_MAX) ? 0 : refuse_nomem(why);
}

/* The link has an effect only if the worker has its own containerd, and that searches the link's directory first. */
static int
check_engine(struct worker *w, const char *dir, struct why *why)
{
	const bool first = w->path != NULL && text_starts(w->path, CONTAINERD_OPT ":");
	autocontainerd struct containerd_conf conf = { 0 };

	if (w->own_containerd && containerd_conf_load(&conf, w->config, why) == -1)
		return -1;
	if (w->concourse == 0 && dir == NULL)
		return refuse(why, WHY_CONFIG, "no running Concourse worker of root's is visible (for one in a container see "
		    "gpuhelper-concourse(7)): start it, or name its work directory (--worker-dir)");
	if (w->concourse == 0 && w->engine != 0 && first)
		return refuse(why, WHY_CONFIG, "%s (PID %d) runs, but no Concourse worker of root's, and gpuhelper would judge its "
		    "containers: start the worker, or see «setup containerd» and gpuhelper-runc(1) for other engines",
		    w->name, w->engine);
	if (w->concourse == 0) {
		worker_free(w);
		return 0;
	}
	if (!w->own_containerd)
		return refuse(why, WHY_CONFIG, "the worker (PID %d) has no visible containerd of its own.  With guardian, set "
		    "CONCOURSE_GARDEN_RUNTIME_PLUGIN=" WRAPPER " in its environment, and runtime and volumes in gpuhelper.conf",
		    w->concourse);
	if (!first)
		return refuse(why, WHY_CONFIG, "the worker's containerd (PID %d) does not search " CONTAINERD_OPT " first (its "
		    "plugin «opt»): make the link by hand (gpuhelperctl doctor says where)", w->engine);
	return 0;
}

/* The worker whose volumes lie in the directory that --worker-dir names; 0 if there is none, or no such option. */
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

/* The link affects all workers: gpuhelper would refuse the containers of a worker whose volumes it does not know. */
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
		return refuse(why, WHY_CONFIG, "the worker with PID %d runs on this host too, and gpuhelper would refuse its "
		    "containers: add its volumes%s%.200s to gpuhelper.conf first, and name the work directory of the worker that "
		    "you set up (--worker-dir)", p->is.concourse, v != NULL ? ", " : "", v != NULL ? v : "");
	}
	if ((p = engines_next(e, ENGINE_CONTAINERD, NULL)) != NULL && p->is.path != NULL &&
	    text_starts(p->is.path, CONTAINERD_OPT ":"))
		say("engine: %s (PID %d) searches " CONTAINERD_OPT " first, too: gpuhelper will also judge its containers",
		    p->is.name, p->is.engine);
	return 0;
}

/* The runc that the worker calls now. */
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

	/* only root's: another user's process would choose what root writes */
	engines_find(0, &e);
	worker_of(&e, named_worker(s, &e), &s->worker);
	if (check_engine(&s->worker, dir, why) == -1)
		return -1;
	if (dir == NULL && s->worker.volumes == NULL)
		return refuse(why, WHY_CONFIG, "the worker (PID %d) does not show where it keeps volumes: name its work directory "
		    "(--worker-dir DIR)", s->worker.concourse);
	if (dir == NULL && add_volumes(s, s->worker.volumes, "", why) == -1)
		return -1;
	return check_others(s, &e, why);
}

/* A worker makes the directory at its first start. More likely a missing one is a mistake, which volumes would keep. */
static int
check_work_dir(const char *dir, struct why *why)
{
	struct stat st;

	if (stat(dir, &st) == -1)
		return refuse(why, WHY_USAGE, "--worker-dir %s: %s: name the worker's work directory (CONCOURSE_WORK_DIR)%s", dir,
		    strerror(errno), errno == ENOENT ? ", or make it, if the worker is yet to start" : "");
	return S_ISDIR(st.st_mode) ? 0 : refuse(why, WHY_USAGE, "--worker-dir %s: is no directory: name the worker's work "
	    "directory (CONCOURSE_WORK_DIR)", dir);
}

static int
find(struct setup *s, struct why *why)
{
	const char *dir = s->options->worker_dir;

	if (dir == NULL && s->options->image)
		dir = IMAGE_WORK_DIR;
	if (dir != NULL && *dir != '/')
		return refuse(why, WHY_USAGE, "--worker-dir %s: must begin with /", dir);
	if (dir != NULL && !s->options->image && check_work_dir(dir, why) == -1)
		return -1;
	if (s->options->image && s->options->tags)
		return refuse(why, WHY_USAGE, "--tags needs a running worker, and an image has none: give the container "
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
		say("worker: no worker runs now; its volumes will be in %s", s->volumes.v[0]);
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

/* False for a link that only «setup containerd» made. */
static bool
in_place(const char *gone)
{
	autofree char *ours = setup_link_recorded("concourse"), *theirs = setup_link_recorded("containerd");

	if ((gone != NULL && strcmp(gone, CONTAINERD_RUNC) == 0) || !leads_to_wrapper(CONTAINERD_RUNC))
		return false;
	return ours != NULL || theirs == NULL || strcmp(theirs, CONTAINERD_RUNC) != 0;
}

const struct engine engine_concourse = { "concourse", find, NULL, put, undo, in_place };
