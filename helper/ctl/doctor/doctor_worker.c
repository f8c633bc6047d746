/* See doctor.h: checks which runtime the engine and the wrapper call, and the worker's volumes.  Starts nothing. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/text.h"
#include "../../host/users.h"
#include "../../user/command/runtime.h"
#include "../../user/mount/rootfs.h"
#include "../../user/mount/volumes.h"
#include "../runprogram.h"
#include "../worker/containerdconf.h"
#include "../worker/containersconf.h"
#include "../worker/daemonjson.h"
#include "doctor.h"

/* True if the first runc in the engine's PATH is the wrapper. */
static bool
called_first(const struct doctor *d)
{
	bool wrapper = false;
	autofree char *first = runtime_first_in(d->worker.path, &wrapper);

	return first != NULL && wrapper;
}

#define SETUP "gpuhelperctl setup concourse"

/* Adds the engines that this host has, as «setup» names them. docker brings a containerd of its own. */
static void
engines_here(const struct doctor *d, struct strlist *out)
{
	static const struct {
		const char *engine, *program;
	} engines[] = { { "podman", "podman" }, { "docker", "dockerd" }, { "containerd", "containerd" } };
	size_t i;

	if (d->worker.concourse != 0)
		(void)strlist_add(out, "concourse", SIZE_MAX);
	for (i = 0; i < sizeof(engines) / sizeof(engines[0]); i++) {
		autofree char *program = program_find(engines[i].program);

		if (program != NULL && (strcmp(engines[i].engine, "containerd") != 0 || !strlist_has(out, "docker")))
			(void)strlist_add(out, engines[i].engine, SIZE_MAX);
	}
}

/* No engine calls the wrapper: reports only the engines that this host has. */
static void
say_set_up_none(struct doctor *d)
{
	autostrlist struct strlist here = { 0 };
	autobuf struct buf fix = { 0 };
	size_t i;

	engines_here(d, &here);
	for (i = 0; i < here.n; i++)
		buf_printf(&fix, "%sgpuhelperctl setup %s", i > 0 ? ", or " : "", here.v[i]);
	if (here.n == 0)
		doctor_say(d, FINDING_WARN, "engine", "install one, then run gpuhelperctl setup ENGINE", "no container engine is "
		    "found that could call gpuhelper-runc");
	else
		doctor_say(d, FINDING_WARN, "engine", fix.failed ? NULL : fix.p, "nothing on this host calls gpuhelper-runc: "
		    "no engine is set up");
}

/*
 * True if «setup concourse» would set the worker up, and nobody has yet.  A link that is made by hand is not enough:
 * then gpuhelper would refuse each container of the worker.
 */
static bool
is_for_setup(const struct doctor *d, uint32_t uid)
{
	const struct worker *w = &d->worker;
	struct stat st;

	if (uid != 0 || w->concourse == 0 || !w->own_containerd || !text_starts(w->path, CONTAINERD_OPT ":") ||
	    lstat(CONTAINERD_RUNC, &st) == 0)
		return false;
	return !called_first(d);
}

/* True if «setup containerd» would set the engine up. */
static bool
is_hosts_containerd(const struct doctor *d)
{
	const struct worker *w = &d->worker;
	struct stat st;

	return d->uid == 0 && w->concourse == 0 && !w->own_containerd && strcmp(w->name, "containerd") == 0 &&
	    lstat(CONTAINERD_RUNC, &st) == -1;
}

/* Reports what a running engine calls: the first runc in its PATH. */
static void
look_at_called(struct doctor *d)
{
	const struct worker *w = &d->worker;
	const int n = (int)strcspn(w->path, ":");
	autofree char *fix = NULL;
	bool wrapper = false;
	autofree char *first = runtime_first_in(w->path, &wrapper);

	if (asprintf(&fix, "mkdir -p %.*s && ln -sf " WRAPPER " %.*s/runc", n, w->path, n, w->path) == -1)
		fix = NULL;
	if (wrapper)
		doctor_say(d, FINDING_OK, "engine", NULL, "%s (PID %d) finds it first, as %s", w->name, w->engine, first);
	else
		doctor_say(d, FINDING_WARN, "engine", is_for_setup(d, d->uid) ? SETUP : is_hosts_containerd(d) ?
		    "gpuhelperctl setup containerd" : fix,
		    "%s (PID %d) finds %s first, which is not gpuhelper-runc", w->name, w->engine, first != NULL ? first : "no runc");
}

/* Reports the runtimes of a host's containerd that call another program: Kubernetes' pods may name them. */
static void
look_at_handlers(struct doctor *d)
{
	autocontainerd struct containerd_conf conf = { 0 };
	const char *calls;
	size_t i;

	if (d->worker.own_containerd || !text_starts(d->worker.name, "containerd"))
		return;
	if (containerd_conf_load(&conf, d->worker.config, &d->why) == -1)
		doctor_say(d, FINDING_WARN, "engine", NULL, "%s", d->why.text);
	for (i = 0; !conf.cri_off && i < conf.handlers; i++)
		if ((calls = containerd_handler_calls(&conf.handler[i], WRAPPER)) != NULL)
			doctor_say(d, FINDING_WARN, "engine", NULL, "containerd's CRI runtime «%s» calls %s: gpuhelper does not judge pods "
			    "that name it or get it by default", conf.handler[i].name, calls);
}

/* A user whose home directory is looked for. */
struct seeker {
	const char *user;
	char *home;		/* NULL: not found */
};

/* For users_each(). */
static int
take_home(void *ctx, const char *name, uint32_t uid, const char *home)
{
	struct seeker *s = ctx;

	(void)uid;
	if (strcmp(name, s->user) != 0)
		return 0;
	s->home = strdup(home);
	return 1;
}

/* The home directory of a user of /etc/passwd; NULL if there is none.  The caller frees. */
static char *
home_of_user(const char *user)
{
	struct seeker s = { .user = user };

	(void)users_each(take_home, &s);
	return s.home;
}

/* Reports what podman calls by this user's files.  False if no file names gpuhelper. */
static bool
look_at_podman(struct doctor *d)
{
	autopodman struct podman_conf conf = { 0 };
	autofree char *home = d->uid != 0 && d->user != NULL ? home_of_user(d->user) : NULL;
	const char *path;
	bool usual, ours;

	if (podman_conf_load(&conf, home, &d->why) == -1)
		doctor_say(d, FINDING_WARN, "engine", NULL, "%s", d->why.text);
	usual = conf.runtime != NULL && strcmp(conf.runtime, PODMAN_RUNTIME) == 0;
	/* «setup podman --undo» leaves the name with another path, and no default */
	if (conf.path == NULL ? access(PODMAN_DROP_IN, F_OK) == -1 :
	    !usual && strcmp(conf.path, WRAPPER) != 0 && !leads_to_wrapper(conf.path))
		return false;
	path = usual ? conf.path : conf.runtime;
	ours = path != NULL && *path == '/' && leads_to_wrapper(path);
	if (ours)
		doctor_say(d, FINDING_OK, "engine", NULL, "podman calls it, by %s", conf.file);
	else
		doctor_say(d, FINDING_WARN, "engine", NULL, "podman calls %s, by %s, and not gpuhelper-runc: remove «runtime» "
		    "there", conf.runtime != NULL ? conf.runtime : "its own runtime",
		    conf.file != NULL ? conf.file : "its own default");
	return true;
}

/* Reports what docker calls by daemon.json, which it may not have read yet.  False if the file lacks gpuhelper. */
static bool
look_at_docker(struct doctor *d)
{
	autofree char *text = daemon_json_load();
	autodaemonjson struct daemon_json conf = { 0 };
	struct why ignored;

	if (text == NULL || daemon_json_read(text, &conf, &ignored) == -1 || !conf.runtime)
		return false;
	if (conf.usual != NULL && strcmp(conf.usual, DOCKER_RUNTIME) == 0)
		doctor_say(d, FINDING_OK, "engine", NULL, "docker calls it, by " DOCKER_CONF);
	else
		doctor_say(d, FINDING_WARN, "engine", "gpuhelperctl setup docker", "docker calls %s, and gpuhelper-runc only for "
		    "docker run --runtime (" DOCKER_CONF ", default-runtime)", conf.usual != NULL ? conf.usual : "runc");
	return true;
}

void
doctor_engine(struct doctor *d)
{
	bool told = look_at_podman(d);
	struct stat st;

	told = look_at_docker(d) || told;
	/*
	 * if podman or docker is set up, a containerd or shim that does not call gpuhelper may be meant so: report
	 * no fault
	 */
	if (d->worker.engine != 0 && (!told || d->worker.concourse != 0 || called_first(d))) {
		look_at_called(d);
		look_at_handlers(d);
	} else if (!told && leads_to_wrapper(CONTAINERD_RUNC))
		doctor_say(d, FINDING_OK, "engine", NULL, "containerd finds it first, as %s", CONTAINERD_RUNC);
	else if (!told && lstat(CONTAINERD_RUNC, &st) == 0)
		doctor_say(d, FINDING_WARN, "engine", "ln -sf " WRAPPER " " CONTAINERD_RUNC,
		    "%s, which containerd takes before any other, is not gpuhelper-runc", CONTAINERD_RUNC);
	else if (!told)
		say_set_up_none(d);
}

/* Reports the runtime if gpuhelper.conf names none: then the worker's PATH decides, and not the PATH of doctor. */
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

/*
 * True if gpuhelper.conf names the worker's volume, but the volume does not count for the worker's user. *why says
 * why.
 */
static bool
is_named_in_vain(const struct doctor *d, struct why *why)
{
	autofree char *real = NULL;

	return strlist_has(&d->settings.volumes, d->worker.volumes) &&
	    volume_resolve(d->worker.volumes, d->uid, &real, why) == -1;
}

/* Reports whether gpuhelper.conf names the directory where a running Concourse worker keeps root filesystems. */
static void
look_at_workers_volumes(struct doctor *d)
{
	const struct worker *w = &d->worker;
	autofree char *fix = NULL;
	struct stat st;

	if (asprintf(&fix, "say volumes = [ \"%s\" ] in gpuhelper.conf", w->volumes) == -1)
		fix = NULL;
	if (stat(w->volumes, &st) == -1)
		doctor_say(d, FINDING_WARN, "volumes", NULL, "Concourse's worker (PID %d) has them in %s: %s", w->concourse,
		    w->volumes, strerror(errno));
	else if (rootfs_may_lie_in(w->volumes, &d->settings, d->uid))
		doctor_say(d, FINDING_OK, "volumes", NULL, "Concourse's worker (PID %d) has them in %s", w->concourse, w->volumes);
	else if (is_named_in_vain(d, &d->why))
		doctor_say(d, FINDING_FAIL, "volumes", NULL, "gpuhelper refuses the containers of Concourse's worker (PID %d): %s",
		    w->concourse, d->why.text);
	else if (is_for_setup(d, d->uid))
		doctor_say(d, FINDING_WARN, "volumes", SETUP, "Concourse's worker (PID %d) has them in %s, which is in none of "
		    "gpuhelper.conf's volumes: its containers would be refused if it called gpuhelper-runc",
		    w->concourse, w->volumes);
	else
		doctor_say(d, FINDING_FAIL, "volumes", fix, "Concourse's worker (PID %d) has them in %s, which is in none of "
		    "gpuhelper.conf's volumes: gpuhelper refuses its containers", w->concourse, w->volumes);
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
		doctor_say(d, FINDING_OK, "volumes", NULL, "%s; no running Concourse worker is visible to compare with",
		    v->v[i]);
	else
		doctor_say(d, FINDING_WARN, "volumes", "say volumes = [ \"/PATH\" ] in gpuhelper.conf", "none of those "
		    "of gpuhelper.conf, or of the defaults, exists: gpuhelper refuses a container whose root filesystem is not in "
		    "its bundle");
}
