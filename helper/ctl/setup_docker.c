/*
 * gpuhelperctl setup docker: the wrapper as a runtime in daemon.json, tried by docker itself, and then as the
 * default one. dockerd reads both keys again when it gets SIGHUP (systemctl reload docker), so that it needs no
 * restart.
 */
#include "setup.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../host/file.h"
#include "../pure/cleanup.h"
#include "../pure/path.h"
#include "../user/runtime.h"
#include "daemonjson.h"

#define CONF_MAX_BYTES (1024 * 1024)
#define DOCKER_DIR "/etc/docker"
#define DOCKER_NAME "daemon.json"
#define SOCKET "unix:///var/run/docker.sock"
#define RELOAD_TRIES 50		/* of a tenth of a second */

/* A file that is not there is an empty one. */
static char *
read_conf(struct why *why)
{
	const int root = file_root();
	char *text = file_read_at(root, &DOCKER_CONF[1], CONF_MAX_BYTES, NULL);

	if (text == NULL && (errno == ENOENT || errno == ENOTDIR))
		text = strdup("");
	if (text == NULL)
		refuse(why, WHY_IO, DOCKER_CONF ": %s", strerror(errno));
	return text;
}

/* "": the file goes away. */
static int
write_conf(const char *text, struct why *why)
{
	autoclose int dir = -1;

	if (setup_make_dir(DOCKER_DIR, why) == -1)
		return -1;
	if ((dir = open(DOCKER_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		return refuse(why, WHY_IO, DOCKER_DIR ": %s", strerror(errno));
	if (*text == '\0')
		return unlinkat(dir, DOCKER_NAME, 0) == 0 || errno == ENOENT ? 0 :
		    refuse(why, WHY_IO, DOCKER_CONF " can't be removed: %s", strerror(errno));
	return ctl_change_file(dir, DOCKER_NAME, DOCKER_CONF, text, strlen(text), why);
}

/* What docker says of itself (a new reference); NULL where it, or its client, can't be asked. */
static json_t *
info(const struct setup *s)
{
	const char *const argv[] = { s->program, "-H", s->address, "info", "--format", "{{json .}}", NULL };
	struct ran r = { 0 };
	struct why ignored;
	json_t *j = NULL;

	if (s->program != NULL && setup_run(argv, &r, &ignored) == 0 && r.status == 0)
		j = json_loads(r.out, 0, NULL);
	free(r.out);
	return j;
}

static bool
info_is(const struct setup *s, const char *usual)
{
	json_t *j = info(s);
	const json_t *ours = json_object_get(json_object_get(j, "Runtimes"), DOCKER_RUNTIME);
	bool is = ours != NULL && (usual == NULL || strcmp(get_text(j, "DefaultRuntime"), usual) == 0);

	json_decref(j);
	return is;
}

/* Has dockerd read the file again, and waits until it calls this runtime by default (NULL: until it has ours). */
static bool
reload(const struct setup *s, const char *usual)
{
	const struct timespec tenth = { .tv_nsec = 100000000 };
	int i;

	if (kill(s->daemon, SIGHUP) == -1)
		return false;
	for (i = 0; i < RELOAD_TRIES; i++) {
		if (info_is(s, usual))
			return true;
		(void)nanosleep(&tenth, NULL);
	}
	return false;
}

/* dockerd does not start with a key that is both in the file and on its command line. */
static int
check_words(const struct engine_process *p, struct why *why)
{
	static const char *const flags[] = { "--default-runtime", "--add-runtime" };
	const char *file = words_option(&p->words, "--config-file");
	size_t i;

	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (words_option(&p->words, flags[i]) != NULL)
			return refuse(why, WHY_CONFIG, "dockerd (PID %d) has %s on its command line, and would not start with the same in "
			    DOCKER_CONF ": take it from there first", p->is.engine, flags[i]);
	if (file != NULL && strcmp(file, DOCKER_CONF) != 0)
		return refuse(why, WHY_CONFIG, "dockerd (PID %d) reads %.200s, and setup knows " DOCKER_CONF " alone: put the "
		    "runtime there by hand (gpuhelper-runc(1))", p->is.engine, file);
	return 0;
}

static int
find_daemon(struct setup *s, struct why *why)
{
	autoengines struct engines e = { 0 };
	const struct engine_process *p;
	const char *host = NULL;

	engines_find(0, &e);
	if ((p = engines_next(&e, ENGINE_DOCKER, NULL)) != NULL) {
		if (check_words(p, why) == -1)
			return -1;
		s->daemon = p->is.engine;
		if ((host = words_option(&p->words, "--host")) == NULL)
			host = words_option(&p->words, "-H");
	}
	s->program = setup_program("docker");
	s->address = strdup(host != NULL && text_starts(host, "unix://") ? host : SOCKET);
	return s->address != NULL ? 0 : refuse_nomem(why);
}

/* Where docker keeps root filesystems: no more than these, for they may be a container's root. */
static int
add_volumes(struct setup *s, const char *root, const char *driver, struct why *why)
{
	static const char *const below[][2] = { { "vfs", "vfs/dir" }, { "btrfs", "btrfs/subvolumes" }, { "zfs", "zfs/graph" },
		{ "overlayfs", "rootfs" }, { "native", "rootfs" } };
	autofree char *path = NULL, *clean = NULL;
	const char *dir = driver;
	size_t i;

	for (i = 0; i < sizeof(below) / sizeof(below[0]); i++)
		if (strcmp(below[i][0], driver) == 0)
			dir = below[i][1];
	if (asprintf(&path, "%s/%s", root, dir) == -1)
		path = NULL;
	clean = path != NULL ? path_cleaned(path) : NULL;
	return clean != NULL && strlist_add(&s->volumes, clean, SIZE_MAX) ? 0 : refuse_nomem(why);
}

static int
find_storage(struct setup *s, const struct daemon_json *conf, struct why *why)
{
	json_t *j = s->daemon != 0 ? info(s) : NULL;
	const char *root = conf->data_root != NULL ? conf->data_root : "/var/lib/docker";
	const char *driver = conf->driver != NULL ? conf->driver : "overlay2";
	int ret;

	if (j != NULL && *get_text(j, "DockerRootDir") != '\0' && *get_text(j, "Driver") != '\0') {
		root = get_text(j, "DockerRootDir");
		driver = get_text(j, "Driver");
		if (json_integer_value(json_object_get(j, "Containers")) > 0 && !conf->runtime)
			say("docker: containers that are there keep the runtime that they were made with, and are not judged");
	}
	if (s->daemon != 0)
		say("docker: PID %d, with its storage in %s (%s)%s", s->daemon, root, driver, j != NULL ? "" :
		    "; the client «docker» can't ask it");
	else
		say("docker: does not run now; its storage will be in %s (%s)", root, driver);
	ret = add_volumes(s, root, driver, why);
	json_decref(j);
	return ret;
}

/* The runc that docker's containerd finds: the host's, or one that dockerd has started with its own PATH. */
static int
find_runtime(struct setup *s, struct why *why)
{
	autoengines struct engines e = { 0 };
	const struct engine_process *p;
	autofree char *found = NULL;

	engines_find(0, &e);
	if ((p = engines_next(&e, ENGINE_CONTAINERD, NULL)) == NULL)
		p = engines_next(&e, ENGINE_DOCKER, NULL);
	if (s->settings.runtime == NULL && p != NULL && p->is.path != NULL &&
	    (found = runtime_find_in(p->is.path, why)) == NULL)
		return -1;
	return setup_runtime(s, found, why);
}

static int
find(struct setup *s, struct why *why)
{
	autofree char *text = read_conf(why), *with = NULL, *dockerd = setup_program("dockerd");
	autodaemonjson struct daemon_json conf = { 0 };

	if (text == NULL || find_daemon(s, why) == -1)
		return -1;
	if (s->daemon == 0 && dockerd == NULL)
		return refuse(why, WHY_CONFIG, "there is no docker on this host: no dockerd of root's runs, and none is installed");
	if (daemon_json_read(text, &conf, why) == -1 || (with = daemon_json_with(text, true, why)) == NULL ||
	    find_storage(s, &conf, why) == -1)
		return -1;
	return find_runtime(s, why);
}

/* As one runtime among others: nothing calls it but the trial. */
static int
try_with(struct setup *s, const char *text, struct why *why)
{
	static const char *const run[] = { "run", "--rm", "--network", "none", "--runtime", DOCKER_RUNTIME, NULL };
	static const char *const import[] = { "import", NULL }, *const remove[] = { "rmi", NULL };
	const char *const docker[] = { s->program, "-H", s->address, NULL };
	const struct trial trial = { "docker", docker, import, run, remove, false };
	autofree char *with = daemon_json_with(text, false, why);

	if (with == NULL || write_conf(with, why) == -1)
		return -1;
	if (!reload(s, NULL))
		return refuse(why, WHY_CONFIG, "dockerd (PID %d) did not take the runtime \"" DOCKER_RUNTIME "\" from " DOCKER_CONF
		    " (see its log)", s->daemon);
	return setup_try_image(&trial, why);
}

static int
try(struct setup *s, struct why *why)
{
	struct why ignored;

	if (s->daemon == 0 || s->program == NULL) {
		say("trial: docker %s: it was not tried", s->daemon == 0 ? "does not run" : "has no client here, «docker»");
		return 0;
	}
	if ((s->before = read_conf(why)) == NULL)
		return -1;
	if (try_with(s, s->before, why) == 0)
		return 0;
	(void)write_conf(s->before, &ignored);
	(void)kill(s->daemon, SIGHUP);
	return -1;
}

static int
put_conf(struct setup *s, const char *with, struct why *why)
{
	struct why ignored;

	if (write_conf(with, why) == -1)
		return -1;
	if (s->daemon == 0 || s->program == NULL || reload(s, DOCKER_RUNTIME))
		return 0;
	if (s->before != NULL)
		(void)write_conf(s->before, &ignored);
	(void)kill(s->daemon, SIGHUP);
	return refuse(why, WHY_CONFIG, "dockerd (PID %d) did not make \"" DOCKER_RUNTIME "\" its default runtime (see its "
	    "log): " DOCKER_CONF " is again as it was before", s->daemon);
}

static int
put(struct setup *s, bool dry, struct why *why)
{
	autofree char *text = read_conf(why), *with = text != NULL ? daemon_json_with(text, true, why) : NULL;
	bool there;

	if (with == NULL)
		return -1;
	there = strcmp(text, with) == 0;
	if (dry) {
		say(there ? "docker: " DOCKER_CONF " names gpuhelper-runc as its default runtime" :
		    "docker: would name gpuhelper-runc as the default runtime in " DOCKER_CONF);
		return 0;
	}
	if (s->before == NULL)
		s->before = strdup(text);
	if (put_conf(s, with, why) == -1)
		return -1;
	say("docker: " DOCKER_CONF " names gpuhelper-runc as the default runtime: gpuhelper judges every new container "
	    "%s, but for those of docker run --runtime", s->daemon == 0 ? "once docker runs" :
	    s->program != NULL ? "from now on" : "after systemctl reload docker");
	return 0;
}

/* Told first, for a dockerd that runs keeps a default that is no longer said. */
static void
tell(struct setup *s, const char *text)
{
	struct why ignored;
	autofree char *told = daemon_json_without(text, true, &ignored);

	if (find_daemon(s, &ignored) == -1 || s->daemon == 0 || told == NULL)
		return;
	if (write_conf(told, &ignored) == -1 || s->program == NULL || !reload(s, "runc"))
		say("docker: systemctl restart docker, or dockerd (PID %d) goes on with gpuhelper-runc", s->daemon);
}

static int
undo(struct setup *s, bool dry, struct why *why)
{
	autofree char *text = read_conf(why), *without = text != NULL ? daemon_json_without(text, false, why) : NULL;

	if (without == NULL)
		return -1;
	if (strcmp(text, without) == 0) {
		say("docker: " DOCKER_CONF " does not name gpuhelper-runc");
		return 0;
	}
	if (!dry)
		tell(s, text);
	/* a file that had nothing else was setup's */
	if (!dry && write_conf(without[strspn(without, "{} \t\r\n")] == '\0' ? "" : without, why) == -1)
		return -1;
	say("docker: %s gpuhelper-runc from " DOCKER_CONF, dry ? "would take" : "took");
	say("docker: containers made meanwhile keep the runtime " DOCKER_RUNTIME ", and start no more: docker rm");
	return 0;
}

static bool
in_place(const char *gone)
{
	autodaemonjson struct daemon_json conf = { 0 };
	struct why ignored;
	autofree char *text = read_conf(&ignored);

	(void)gone;
	return text != NULL && daemon_json_read(text, &conf, &ignored) == 0 && conf.runtime;
}

const struct engine engine_docker = { "docker", find, try, put, undo, in_place };
