/* See doctor.h: what the engine calls, what is below it, and where the worker keeps images.  Starts nothing. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../pure/cleanup.h"
#include "../pure/text.h"
#include "../user/rootfs.h"
#include "../user/runtime.h"
#include "containerdconf.h"
#include "doctor.h"

#define SETUP "gpuhelperctl setup concourse"

/*
 * The worker is one that «setup» takes, and calls no wrapper yet.  The link alone, made by hand, would have each of its
 * containers refused.
 */
static bool
is_for_setup(const struct worker *w, uint32_t uid)
{
	autofree char *first = NULL;
	bool wrapper = false;
	struct stat st;

	if (uid != 0 || w->concourse == 0 || !w->own_containerd || !text_starts(w->path, CONTAINERD_OPT ":") ||
	    lstat(CONTAINERD_RUNC, &st) == 0)
		return false;
	first = runtime_first_in(w->path, &wrapper);
	return !wrapper;
}

/* A running engine calls the first runc of its PATH. */
static void
look_at_called(struct doctor *d)
{
	const struct worker *w = &d->worker;
	const int n = (int)strcspn(w->path, ":");
	autofree char *mend = NULL;
	bool wrapper = false;
	autofree char *first = runtime_first_in(w->path, &wrapper);

	if (asprintf(&mend, "mkdir -p %.*s && ln -sf " WRAPPER " %.*s/runc", n, w->path, n, w->path) == -1)
		mend = NULL;
	if (wrapper)
		doctor_say(d, FINDING_OK, "engine", NULL, "%s (PID %d) finds it first, as %s", w->name, w->engine, first);
	else
		doctor_say(d, FINDING_WARN, "engine", is_for_setup(w, d->uid) ? SETUP : mend,
		    "%s (PID %d) finds %s first, which is not gpuhelper-runc", w->name, w->engine, first != NULL ? first : "no runc");
}

void
doctor_engine(struct doctor *d)
{
	struct stat st;

	if (d->worker.engine != 0)
		look_at_called(d);
	else if (leads_to_wrapper(CONTAINERD_RUNC))
		doctor_say(d, FINDING_OK, "engine", NULL, "containerd finds it first, as %s", CONTAINERD_RUNC);
	else if (lstat(CONTAINERD_RUNC, &st) == 0)
		doctor_say(d, FINDING_WARN, "engine", "ln -sf " WRAPPER " " CONTAINERD_RUNC,
		    "%s, which containerd takes before any other, is not gpuhelper-runc", CONTAINERD_RUNC);
	else
		doctor_say(d, FINDING_WARN, "engine", "mkdir -p " CONTAINERD_OPT " && ln -s " WRAPPER " " CONTAINERD_RUNC,
		    "there is no %s, so containerd finds runc by itself (podman's --runtime and docker's daemon.json are not "
		    "looked at)", CONTAINERD_RUNC);
}

/* Without a line in gpuhelper.conf it is the worker's PATH that decides, and not that of who runs this. */
static void
look_at_path(struct doctor *d)
{
	const struct worker *w = &d->worker;
	autofree char *path = w->engine != 0 ? runtime_find_in(w->path, &d->why) : runtime_find(NULL, &d->why);

	if (w->engine == 0 && path != NULL)
		doctor_say(d, FINDING_WARN, "runtime", "say runtime = \"/PATH\" in gpuhelper.conf", "%s by this PATH, which is a "
		    "guess: no running worker or containerd of user %s can be seen", path, d->user != NULL ? d->user : "without a "
		    "name");
	else if (w->engine == 0)
		doctor_say(d, FINDING_FAIL, "runtime", NULL, "%s (this PATH; the worker's can't be seen)", d->why.text);
	else if (path != NULL)
		doctor_say(d, FINDING_OK, "runtime", NULL, "%s, by the PATH of %s (PID %d)", path, w->name, w->engine);
	else
		doctor_say(d, FINDING_FAIL, "runtime", NULL, "%s (%s, PID %d)", d->why.text, w->name, w->engine);
}

void
doctor_runtime(struct doctor *d)
{
	autofree char *path = NULL;

	if (d->settings.runtime == NULL)
		look_at_path(d);
	else if ((path = runtime_find(d->settings.runtime, &d->why)) != NULL)
		doctor_say(d, FINDING_OK, "runtime", NULL, "%s, by gpuhelper.conf", path);
	else
		doctor_say(d, FINDING_FAIL, "runtime", NULL, "%s", d->why.text);
}

/* Where a running worker of Concourse's keeps root filesystems. */
static void
look_at_workers_volumes(struct doctor *d)
{
	const struct worker *w = &d->worker;
	autofree char *mend = NULL;
	struct stat st;

	if (asprintf(&mend, "say volumes = [ \"%s\" ] in gpuhelper.conf", w->volumes) == -1)
		mend = NULL;
	if (stat(w->volumes, &st) == -1)
		doctor_say(d, FINDING_WARN, "volumes", NULL, "Concourse's worker (PID %d) has them in %s: %s", w->concourse,
		    w->volumes, strerror(errno));
	else if (rootfs_may_lie_in(w->volumes, &d->settings))
		doctor_say(d, FINDING_OK, "volumes", NULL, "Concourse's worker (PID %d) has them in %s", w->concourse, w->volumes);
	else if (is_for_setup(w, d->uid))
		doctor_say(d, FINDING_WARN, "volumes", SETUP, "Concourse's worker (PID %d) has them in %s, which is in none of "
		    "gpuhelper.conf's volumes: its containers would be refused if it called gpuhelper-runc",
		    w->concourse, w->volumes);
	else
		doctor_say(d, FINDING_FAIL, "volumes", mend, "Concourse's worker (PID %d) has them in %s, which is in none of "
		    "gpuhelper.conf's volumes: its containers are refused", w->concourse, w->volumes);
}

void
doctor_volumes(struct doctor *d)
{
	const struct strlist *v = &d->settings.volumes;
	struct stat st;
	size_t i;

	if (d->worker.volumes != NULL) {
		look_at_workers_volumes(d);
		return;
	}
	for (i = 0; i < v->n && stat(v->v[i], &st) == -1 && errno != EACCES; i++)
		;
	if (i < v->n)
		doctor_say(d, FINDING_OK, "volumes", NULL, "%s; no running worker of Concourse's can be seen to compare with",
		    v->v[i]);
	else
		doctor_say(d, FINDING_WARN, "volumes", "say volumes = [ \"/PATH\" ] in gpuhelper.conf", "none of those of "
		    "gpuhelper.conf, or of the defaults, is there: a container is refused whose root filesystem is not in its "
		    "bundle");
}
