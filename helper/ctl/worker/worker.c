/*
 * See worker.h.  Believes a process's name: whoever runs such a process has the worker's rights already.  A process of
 * root's must also execute a program of that name that is root's alone, because any user can start a setuid program
 * under any name.
 */
#include "worker.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/path.h"
#include "../../base/text.h"
#include "../../host/file.h"
#include "../../host/process/hostprocess.h"
#include "../../host/process/process.h"
#include "../../host/trust.h"
#include "../../user/spec/spec.h"
#include "../ctl.h"
#include "containerdconf.h"

#define TEXT_MAX (1024 * 1024)	/* bytes of an environment or a command line */

struct engine_search {
	int proc;
	struct host_process home;
	uint32_t uid;
	struct engines *out;
};

/* Adds the words of /proc/PID/cmdline or environ.  False if they can't be read. */
static bool
read_words(int proc, const char *pid, const char *file, struct strlist *out)
{
	autofree char *text = NULL;
	char name[40];
	size_t len, i;

	snprintf(name, sizeof(name), "%.12s/%s", pid, file);
	if ((text = file_read_at(proc, name, TEXT_MAX, &len)) == NULL)
		return false;
	for (i = 0; i < len; i += strlen(text + i) + 1)
		if (!strlist_add(out, text + i, SIZE_MAX))
			return false;
	return true;
}

const char *
words_option(const struct strlist *words, const char *name)
{
	const size_t n = strlen(name);
	size_t i;

	for (i = 1; i < words->n; i++)
		if (strncmp(words->v[i], name, n) == 0) {
			if (words->v[i][n] == '=')
				return words->v[i] + n + 1;
			if (words->v[i][n] == '\0' && i + 1 < words->n)
				return words->v[i + 1];
		}
	return NULL;
}

static const char *
either_option(const struct strlist *words, const char *name, const char *letter)
{
	const char *value = words_option(words, name);

	return value != NULL ? value : words_option(words, letter);
}

static char *
copy_if_any(const char *text)
{
	return text != NULL ? strdup(text) : NULL;
}

static const char *
variable(const struct strlist *env, const char *name)
{
	const char *value;
	size_t i;

	for (i = 0; i < env->n; i++)
		if ((value = env_value(env->v[i], name)) != NULL)
			return value;
	return NULL;
}

/* «of_concourse»: the parent is a Concourse worker, which may start its containerd under any name. */
static enum engine_kind
kind_of(const char *comm, const struct strlist *words, bool of_concourse)
{
	static const char *const verbs[] = { "config", "publish", "oci-hook" };
	size_t i;

	if (strcmp(comm, "concourse") == 0)
		return strlist_has(words, "worker") || strlist_has(words, "quickstart") ? ENGINE_CONCOURSE : ENGINE_NONE;
	if (strcmp(comm, "dockerd") == 0)
		return ENGINE_DOCKER;
	if (text_starts(comm, "containerd-shim"))
		return ENGINE_SHIM;
	if (text_starts(comm, "containerd-stres") || (!text_starts(comm, "containerd") &&
	    (!of_concourse || words_option(words, "--config") == NULL || words_option(words, "--address") == NULL)))
		return ENGINE_NONE;
	for (i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (strlist_has(words, verbs[i]))
			return ENGINE_NONE;
	return of_concourse ? ENGINE_CONTAINERD_OF_CONCOURSE : ENGINE_CONTAINERD;
}

static void
read_comm(int proc, const char *pid, char out[16])
{
	autofree char *text = NULL;
	char name[40];

	snprintf(name, sizeof(name), "%.12s/comm", pid);
	text = file_read_at(proc, name, 64, NULL);
	snprintf(out, 16, "%.*s", text != NULL ? (int)strcspn(text, "\n") : 0, text != NULL ? text : "");
}

/* The path of the program that the process executes; NULL if that can't be seen.  The caller frees. */
static char *
program_of(const struct engine_search *l, const char *pid)
{
	char name[40], exe[1024];
	ssize_t n;

	snprintf(name, sizeof(name), "%.12s/exe", pid);
	return (n = readlinkat(l->proc, name, exe, sizeof(exe) - 1)) > 0 ? strndup(exe, (size_t)n) : NULL;
}

/*
 * Makes a path from the process's command line absolute, by the process's working directory. The path stays
 * relative if that directory can't be seen. The caller frees; NULL for NULL.
 */
static char *
path_in_process(const struct engine_search *l, const char *pid, const char *path)
{
	char name[40], dir[1024], *whole;
	ssize_t n;

	if (path == NULL || *path == '/')
		return copy_if_any(path);
	snprintf(name, sizeof(name), "%.12s/cwd", pid);
	if ((n = readlinkat(l->proc, name, dir, sizeof(dir))) <= 0 || n == sizeof(dir))
		return strdup(path);
	return asprintf(&whole, "%.*s/%s", (int)n, dir, path) != -1 ? whole : NULL;
}

/*
 * The PATH in which the process looks for runc. Concourse also searches its program's directory, and containerd
 * that of its plugin «opt».
 */
static char *
path_of(enum engine_kind kind, const struct worker *w, const char *path)
{
	autocontainerd struct containerd_conf conf = { 0 };
	const char *slash = w->program != NULL ? strrchr(w->program, '/') : NULL;
	struct why ignored;
	char *out;

	if (path == NULL)
		return NULL;
	if (kind == ENGINE_SHIM || kind == ENGINE_DOCKER)
		return strdup(path);
	if (kind != ENGINE_CONCOURSE) {
		/* if its file is no TOML, this is containerd's default; setup refuses the file, and doctor tells of it */
		(void)containerd_conf_load(&conf, w->config, &ignored);
		return containerd_path(&conf, path);
	}
	if (slash == NULL)
		return asprintf(&out, CONTAINERD_OPT ":%s", path) != -1 ? out : NULL;
	return asprintf(&out, CONTAINERD_OPT ":%.*s:%s", (int)(slash - w->program), w->program, path) != -1 ? out : NULL;
}

/* A setting of a worker: two names are options of its command line, then two are variables. */
static const char *
concourse_setting(const struct strlist *words, const struct strlist *env, const char *const names[4])
{
	const char *value = NULL;
	size_t i;

	for (i = 0; i < 2 && value == NULL; i++)
		value = words_option(words, names[i]);
	for (; i < 4 && value == NULL; i++)
		value = variable(env, names[i]);
	return value;
}

static void
note_concourse(struct worker *out, pid_t pid, const struct strlist *words, const struct strlist *env)
{
	static const char *const tag[] = { "--tag", "--worker-tag", "CONCOURSE_TAG", "CONCOURSE_WORKER_TAG" };
	static const char *const volumes[] = { "--baggageclaim-volumes", "--worker-baggageclaim-volumes",
		"CONCOURSE_BAGGAGECLAIM_VOLUMES", "CONCOURSE_WORKER_BAGGAGECLAIM_VOLUMES" };
	static const char *const work[] = { "--work-dir", "--worker-work-dir", "CONCOURSE_WORK_DIR",
		"CONCOURSE_WORKER_WORK_DIR" };
	const char *dir = concourse_setting(words, env, volumes);

	out->concourse = pid;
	out->quickstart = strlist_has(words, "quickstart");
	out->tagged = concourse_setting(words, env, tag) != NULL;
	free(out->volumes);
	out->volumes = NULL;
	if (dir != NULL && *dir == '/')
		out->volumes = strdup(dir);
	else if (dir == NULL && (dir = concourse_setting(words, env, work)) != NULL && *dir == '/' &&
	    asprintf(&out->volumes, "%s/volumes", dir) == -1)
		out->volumes = NULL;
}

/*
 * True if the path is this file, and only root can change its directory and those above. In any other directory, a
 * user may have made a hard link to a setuid program, by any name (fs.protected_hardlinks=0). If the program's file
 * was replaced since its start, only the directories are checked.
 */
static bool
lies_at(const char *path, const struct stat *program)
{
	static const char gone[] = " (deleted)";
	const size_t len = strlen(path);
	const bool replaced = len > strlen(gone) && strcmp(path + len - strlen(gone), gone) == 0;
	const size_t n = *path == '/' ? (size_t)(path_last(path) - path) : 0;
	autofree char *dir = n > 0 ? strndup(path, n > 1 ? n - 1 : 1) : NULL;
	autoclose int fd = -1;
	struct why ignored;
	struct stat st;

	if (dir == NULL || (fd = trust_open_dir(dir, true, &ignored)) == -1)
		return false;
	return replaced || (fstatat(fd, path_last(path), &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_dev == program->st_dev &&
	    st.st_ino == program->st_ino);
}

/*
 * True if the process is this user's.  A process of root's must also execute a file that only root can change, and that
 * has the process's name.
 */
static bool
is_users(const struct engine_search *l, const char *pid, const char *comm)
{
	char name[40], exe[1024];
	struct stat st;
	ssize_t n;

	if (fstatat(l->proc, pid, &st, AT_SYMLINK_NOFOLLOW) == -1 || st.st_uid != l->uid)
		return false;
	if (l->uid != 0)
		return true;
	snprintf(name, sizeof(name), "%.12s/exe", pid);
	if ((n = readlinkat(l->proc, name, exe, sizeof(exe) - 1)) <= 0 || fstatat(l->proc, name, &st, 0) == -1)
		return false;
	exe[n] = '\0';
	return text_starts(path_last(exe), comm) && trust_is_root(st.st_uid) && (st.st_mode & (S_IWGRP | S_IWOTH)) == 0 &&
	    lies_at(exe, &st);
}

/* True if the process's parent is a Concourse worker. */
static bool
is_of_concourse(const struct engine_search *l, pid_t pid)
{
	char parent[16], comm[16];

	snprintf(parent, sizeof(parent), "%d", process_parent(pid));
	read_comm(l->proc, parent, comm);
	return strcmp(comm, "concourse") == 0 && is_users(l, parent, comm);
}

static void
keep(struct engine_search *l, struct engine_process *p)
{
	struct engine_process *v = reallocarray(l->out->v, l->out->n + 1, sizeof(*v));

	if (v == NULL) {
		strlist_free(&p->words);
		worker_free(&p->is);
		return;
	}
	l->out->v = v;
	v[l->out->n++] = *p;
}

static void
look_at_process(struct engine_search *l, const char *pid)
{
	autostrlist struct strlist words = { 0 }, env = { 0 };
	struct engine_process p = { .is = { .engine = (pid_t)atoi(pid) } };
	struct worker *w = &p.is;
	bool of_concourse;

	read_comm(l->proc, pid, w->name);
	of_concourse = is_of_concourse(l, w->engine);
	if ((strcmp(w->name, "concourse") != 0 && strcmp(w->name, "dockerd") != 0 && !text_starts(w->name, "containerd") &&
	    !of_concourse) || !is_users(l, pid, w->name) || process_in_container(&l->home, l->proc, pid, NULL) != 0 ||
	    !read_words(l->proc, pid, "cmdline", &words) || !read_words(l->proc, pid, "environ", &env) ||
	    (p.kind = kind_of(w->name, &words, of_concourse)) == ENGINE_NONE)
		return;
	if (p.kind == ENGINE_CONCOURSE)
		note_concourse(w, w->engine, &words, &env);
	else if (p.kind == ENGINE_DOCKER) {
		p.words = words;
		words = (struct strlist){ 0 };
	} else if (p.kind != ENGINE_SHIM) {
		w->config = path_in_process(l, pid, either_option(&words, "--config", "-c"));
		w->address = path_in_process(l, pid, either_option(&words, "--address", "-a"));
	}
	w->program = program_of(l, pid);
	p.parent = of_concourse ? process_parent(w->engine) : 0;
	w->own_containerd = p.kind == ENGINE_CONTAINERD_OF_CONCOURSE;
	w->path = path_of(p.kind, w, variable(&env, "PATH"));
	keep(l, &p);
}

void
engines_find(uint32_t uid, struct engines *out)
{
	int fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = file_list(fd);
	struct engine_search l = { .proc = fd, .uid = uid, .out = out };
	struct dirent *e;

	*out = (struct engines){ 0 };
	if (d == NULL)
		return;
	while (host_process_find(fd, &l.home) && (e = readdir(d)) != NULL)
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9')
			look_at_process(&l, e->d_name);
	closedir(d);
}

void
engines_free(struct engines *e)
{
	while (e->n > 0) {
		strlist_free(&e->v[--e->n].words);
		worker_free(&e->v[e->n].is);
	}
	free(e->v);
	*e = (struct engines){ 0 };
}

const struct engine_process *
engines_next(const struct engines *e, enum engine_kind kind, const struct engine_process *last)
{
	size_t i = last != NULL ? (size_t)(last - e->v) + 1 : 0;

	for (; i < e->n; i++)
		if (e->v[i].kind == kind)
			return &e->v[i];
	return NULL;
}

/* Takes this process as the engine if its kind says more than *best about which runc is called. */
static void
take_engine(struct worker *out, const struct engine_process *p, enum engine_kind *best)
{
	if (p == NULL || p->kind <= *best || p->is.path == NULL)
		return;
	free(out->path);
	free(out->program);
	free(out->config);
	free(out->address);
	out->path = strdup(p->is.path);
	out->program = copy_if_any(p->is.program);
	out->config = copy_if_any(p->is.config);
	out->address = copy_if_any(p->is.address);
	out->engine = out->path != NULL ? p->is.engine : 0;
	out->own_containerd = p->is.own_containerd;
	memcpy(out->name, p->is.name, sizeof(out->name));
	*best = p->kind;
}

void
worker_from(const struct engine_process *p, struct worker *out)
{
	enum engine_kind best = ENGINE_NONE;

	*out = (struct worker){ 0 };
	take_engine(out, p, &best);
}

void
worker_of(const struct engines *e, pid_t concourse, struct worker *out)
{
	const struct engine_process *own = engines_next(e, ENGINE_CONCOURSE, NULL), *p = NULL;
	enum engine_kind best = ENGINE_NONE;

	*out = (struct worker){ 0 };
	while (own != NULL && concourse != 0 && own->is.engine != concourse)
		own = engines_next(e, ENGINE_CONCOURSE, own);
	if (own != NULL) {
		out->concourse = own->is.concourse;
		out->volumes = copy_if_any(own->is.volumes);
		out->quickstart = own->is.quickstart;
		out->tagged = own->is.tagged;
		while ((p = engines_next(e, ENGINE_CONTAINERD_OF_CONCOURSE, p)) != NULL)
			if (p->parent == own->is.engine)
				take_engine(out, p, &best);
	}
	take_engine(out, engines_next(e, ENGINE_CONTAINERD, NULL), &best);
	take_engine(out, engines_next(e, ENGINE_SHIM, NULL), &best);
	take_engine(out, own, &best);
}

void
worker_find(uint32_t uid, struct worker *out)
{
	autoengines struct engines e = { 0 };

	engines_find(uid, &e);
	worker_of(&e, 0, out);
}

void
worker_free(struct worker *w)
{
	free(w->path);
	free(w->volumes);
	free(w->program);
	free(w->config);
	free(w->address);
	*w = (struct worker){ 0 };
}

bool
leads_to_wrapper(const char *path)
{
	struct stat there, wrapper;

	return stat(path, &there) == 0 && stat(WRAPPER, &wrapper) == 0 && there.st_dev == wrapper.st_dev &&
	    there.st_ino == wrapper.st_ino;
}
