/*
 * gpuhelperctl setup containerd: for the host's own containerd.  Its plugin «opt» puts one directory first in the PATH
 * of all shims, so they call a link named runc there for each container whose runtime names no other program.
 * containerd's settings stay, and it needs no restart.  An imported file of settings would do harm: containerd 1.x
 * takes each plugin's section from the last file that has it, and CRI's section holds the runtimes and the network's
 * paths.
 */
#include "setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/path.h"
#include "../../host/file.h"
#include "../../user/command/runtime.h"
#include "../../user/mount/rootfs.h"
#include "../runprogram.h"
#include "../worker/containerdconf.h"

#define SOCKET "/run/containerd/containerd.sock"
#define SPACE "gpuhelper-setup"		/* the containerd namespace of the trial */

/* Finds the one containerd that no Concourse worker started. */
static int
find_daemon(struct setup *s, const struct engines *e, struct why *why)
{
	const struct engine_process *p = engines_next(e, ENGINE_CONTAINERD, NULL), *next;

	if (p == NULL)
		return refuse(why, WHY_CONFIG, "no running containerd of root's is visible: start it (for a Concourse worker's own: "
		    "gpuhelperctl setup concourse)");
	if ((next = engines_next(e, ENGINE_CONTAINERD, p)) != NULL)
		return refuse(why, WHY_CONFIG, "several containerd run (PIDs %d and %d): make each call the wrapper by hand "
		    "(gpuhelper-runc(1))", p->is.engine, next->is.engine);
	worker_from(p, &s->worker);
	if (s->worker.path == NULL)
		return refuse(why, WHY_CONFIG, "the PATH of containerd (PID %d) can't be seen", p->is.engine);
	return 0;
}

/* Has the daemon's own program print its settings, with imports and defaults, as the daemon reads them at its start. */
static int
read_settings(const struct setup *s, struct containerd_conf *conf, struct why *why)
{
	const struct worker *w = &s->worker;
	const char *const argv[] = { w->program != NULL ? w->program : "containerd", "--config",
		w->config != NULL ? w->config : CONTAINERD_CONF, "config", "dump", NULL };
	struct ran r;
	int ret;

	if (strstr(argv[0], " (deleted)") != NULL)
		return refuse(why, WHY_CONFIG, "containerd (PID %d) was upgraded since it was started: restart it", w->engine);
	if (w->config != NULL && *w->config != '/')
		return refuse(why, WHY_CONFIG, "containerd (PID %d) was started with --config %.200s, and its working directory "
		    "can't be seen: start it with an absolute path", w->engine, w->config);
	if ((ret = program_run(argv, &r, why)) == 0 && r.status != 0)
		ret = refuse(why, WHY_CONFIG, "%s config dump: %s", argv[0], r.said);
	if (ret == 0)
		ret = containerd_conf_read(conf, r.out, "containerd config dump", why);
	free(r.out);
	return ret;
}

/* Finds the link by the settings that the files have now; the daemon may have been started with others. */
static int
find_link(struct setup *s, const struct containerd_conf *conf, struct why *why)
{
	const struct worker *w = &s->worker;

	if (conf->path != NULL)
		return refuse(why, WHY_CONFIG, "containerd (PID %d) gives its shims their own PATH (plugin shim.v1.manager, env: "
		    "%.200s): make a link named runc to " WRAPPER " in its first directory", w->engine, conf->path);
	if (conf->opt_off)
		return refuse(why, WHY_CONFIG, "containerd (PID %d) has its plugin «opt» disabled: remove "
		    "io.containerd.internal.v1.opt from disabled_plugins, and restart it", w->engine);
	if (asprintf(&s->link, "%s/bin/runc", conf->opt != NULL ? conf->opt : "/opt/containerd") == -1) {
		s->link = NULL;
		return refuse_nomem(why);
	}
	return *s->link == '/' ? 0 : refuse(why, WHY_CONFIG, "containerd's plugin «opt» has no absolute path: %s", s->link);
}

/* A runtime of CRI that names its own program does not use the link. */
static int
check_handlers(const struct containerd_conf *conf, struct why *why)
{
	const char *usual = conf->usual != NULL ? conf->usual : "runc", *calls;
	size_t i;

	for (i = 0; !conf->cri_off && i < conf->handlers; i++) {
		const struct containerd_handler *h = &conf->handler[i];

		if ((calls = containerd_handler_calls(h, WRAPPER)) == NULL)
			continue;
		if (strcmp(h->name, usual) == 0)
			return refuse(why, WHY_CONFIG, "CRI's default runtime, «%s», calls %s, so gpuhelper would not judge pods: in "
			    "containerd's settings set its BinaryName = \"" WRAPPER "\", and in gpuhelper.conf runtime = \"%s\"",
			    h->name, calls, *calls == '/' ? calls : "/PATH");
		say("engine: CRI's runtime «%s» calls %s: gpuhelper will not judge pods that name it", h->name, calls);
	}
	return 0;
}

/* If a Concourse worker's containerd searches the same directory, gpuhelper must know that worker's volumes first. */
static int
check_workers(const struct setup *s, const struct engines *e, struct why *why)
{
	const struct engine_process *p = NULL;
	autofree char *dir = strndup(s->link, (size_t)(path_last(s->link) - s->link));

	if (dir == NULL)
		return refuse_nomem(why);
	dir[strlen(dir) - 1] = ':';
	while ((p = engines_next(e, ENGINE_CONTAINERD_OF_CONCOURSE, p)) != NULL)
		if (p->is.path != NULL && text_starts(p->is.path, dir) && !leads_to_wrapper(s->link))
			return refuse(why, WHY_CONFIG, "a Concourse worker's containerd (PID %d) searches the same directory: run "
			    "gpuhelperctl setup concourse first, which makes the same link", p->is.engine);
	return 0;
}

static int
find_runtime(struct setup *s, struct why *why)
{
	autofree char *found = NULL;

	if (s->settings.runtime == NULL && (found = runtime_find_in(s->worker.path, why)) == NULL)
		return -1;
	return setup_runtime(s, found, why);
}

/* The path of ctr: beside containerd's own program, or else in PROGRAM_PATH. */
static char *
find_ctr(const char *program)
{
	const char *slash = program != NULL ? strrchr(program, '/') : NULL;
	char *path = NULL;

	if (slash != NULL && asprintf(&path, "%.*s/ctr", (int)(slash - program), program) == -1)
		path = NULL;
	if (path != NULL && access(path, X_OK) == 0)
		return path;
	free(path);
	return program_find("ctr");
}

static int
find(struct setup *s, struct why *why)
{
	autocontainerd struct containerd_conf conf = { 0 };
	autoengines struct engines e = { 0 };
	const char *address;

	/* only root's: another user's process would choose what root writes */
	engines_find(0, &e);
	if (find_daemon(s, &e, why) == -1 || read_settings(s, &conf, why) == -1 || find_link(s, &conf, why) == -1)
		return -1;
	say("containerd: PID %d, which searches %.*s for runc first", s->worker.engine,
	    (int)(path_last(s->link) - s->link - 1), s->link);
	if (check_handlers(&conf, why) == -1 || check_workers(s, &e, why) == -1 || find_runtime(s, why) == -1)
		return -1;
	address = s->worker.address != NULL ? s->worker.address : conf.address != NULL ? conf.address : SOCKET;
	s->program = find_ctr(s->worker.program);
	return (s->address = strdup(address)) != NULL ? 0 : refuse_nomem(why);
}

/* The snapshotter «native» makes plain copies, which any file system can hold. */
static int
try(struct setup *s, struct why *why)
{
	static const char *const import[] = { "images", "import", "--snapshotter", "native", NULL };
	static const char *const run[] = { "run", "--rm", "--snapshotter", "native", "--runc-binary", WRAPPER, NULL };
	static const char *const remove[] = { "images", "remove", "--sync", NULL };
	const char *const ctr[] = { s->program, "--address", s->address, "--namespace", SPACE, NULL };
	const char *const drop[] = { s->program, "--address", s->address, "namespaces", "remove", SPACE, NULL };
	static const char *const kill[] = { "tasks", "delete", "--force", NULL };
	static const char *const end[] = { "containers", "delete", NULL }, *const *const ends[] = { kill, end, NULL };
	const struct trial trial = { .engine = "containerd", .command = ctr, .import = import, .run = run, .remove = remove,
		.ends = ends, .oci = true };
	struct ran dropped = { 0 };
	struct why ignored;
	int ret;

	if (s->program == NULL) {
		say("trial: there is no ctr, so containerd ran no container");
		return 0;
	}
	ret = setup_try_image(&trial, why);
	(void)program_run(drop, &dropped, &ignored);
	free(dropped.out);
	return ret;
}

static int
put(struct setup *s, bool dry, struct why *why)
{
	return setup_link(s, dry, why);
}

/* The link that setup made, or else the one in the directory that containerd searches first.  NULL with *why. */
static char *
link_now(struct why *why)
{
	autocontainerd struct containerd_conf conf = { 0 };
	autoengines struct engines e = { 0 };
	const struct engine_process *p;
	autofree char *path = NULL;
	char *link = setup_link_recorded("containerd");

	if (link != NULL)
		return link;
	engines_find(0, &e);
	if ((p = engines_next(&e, ENGINE_CONTAINERD, NULL)) != NULL && p->is.path != NULL)
		path = strdup(p->is.path);
	else if (containerd_conf_load(&conf, NULL, why) == -1)
		return NULL;
	else
		path = containerd_path(&conf, "/usr/bin");
	if (path == NULL || asprintf(&link, "%.*s/runc", (int)strcspn(path, ":"), path) == -1) {
		(void)refuse_nomem(why);
		return NULL;
	}
	return link;
}

static int
undo(struct setup *s, bool dry, struct why *why)
{
	return (s->link = link_now(why)) != NULL ? setup_link_undo(s, dry, why) : -1;
}

static bool
in_place(const char *gone)
{
	struct why ignored;
	autofree char *link = link_now(&ignored);

	return link != NULL && (gone == NULL || strcmp(gone, link) != 0) && leads_to_wrapper(link);
}

const struct engine engine_containerd = { "containerd", find, try, put, undo, in_place };
