/*
 * See worker.h.  A process is taken for what its name says: who runs it has the rights of the worker already.  Root's
 * is taken only where its program is root's, and has that name: any setuid program may be started under another.
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

#include "../host/file.h"
#include "../host/home.h"
#include "../host/process.h"
#include "../host/trust.h"
#include "../pure/cleanup.h"
#include "../pure/path.h"
#include "../pure/text.h"
#include "../user/spec.h"
#include "containerdconf.h"
#include "ctl.h"

#define TEXT_MAX (1024 * 1024)	/* bytes of an environment or a command line */

enum kind { KIND_NONE, KIND_CONCOURSE, KIND_SHIM, KIND_CONTAINERD, KIND_CONTAINERD_OF_CONCOURSE };

struct look {
	int proc;
	struct home home;
	uint32_t uid;
	enum kind best;
	struct worker *out;
};

/* The words of /proc/PID/cmdline or environ; false where they can't be read. */
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

/* The value of «--NAME VALUE» or «--NAME=VALUE». */
static const char *
option(const struct strlist *words, const char *name)
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
variable(const struct strlist *env, const char *name)
{
	const char *value;
	size_t i;

	for (i = 0; i < env->n; i++)
		if ((value = env_value(env->v[i], name)) != NULL)
			return value;
	return NULL;
}

static enum kind
kind_of(const char *comm, const struct strlist *words)
{
	if (strcmp(comm, "containerd") == 0)
		return KIND_CONTAINERD;
	if (strcmp(comm, "containerd-shim") == 0)
		return KIND_SHIM;
	if (strcmp(comm, "concourse") == 0 && (strlist_has(words, "worker") || strlist_has(words, "quickstart")))
		return KIND_CONCOURSE;
	return KIND_NONE;
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

/* Concourse looks beside its own program, too, and its containerd in what plugin «opt» says. */
static char *
path_of(const struct look *l, const char *pid, enum kind kind, const struct strlist *words, const struct strlist *env)
{
	const char *path = variable(env, "PATH");
	const char *conf = option(words, "--config");
	char name[40], exe[1024], *out = NULL;
	ssize_t n;

	if (path == NULL)
		return NULL;
	if (kind == KIND_SHIM)
		return strdup(path);
	if (kind != KIND_CONCOURSE)
		return containerd_path(conf != NULL ? conf : option(words, "-c"), path);
	snprintf(name, sizeof(name), "%.12s/exe", pid);
	if ((n = readlinkat(l->proc, name, exe, sizeof(exe) - 1)) <= 0)
		return containerd_path(NULL, path);
	exe[n] = '\0';
	*strrchr(exe, '/') = '\0';
	return asprintf(&out, CONTAINERD_OPT ":%s:%s", exe, path) != -1 ? out : NULL;
}

/* A worker's is in its command line, or in its environment. */
static const char *
concourse_setting(const struct strlist *words, const struct strlist *env, const char *const names[4])
{
	const char *value = NULL;
	size_t i;

	for (i = 0; i < 2 && value == NULL; i++)
		value = option(words, names[i]);
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

/* The process is this user's.  One of root's must execute a file that only root can write, named as the process is. */
static bool
is_users(const struct look *l, const char *pid, const char *comm)
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
	return text_starts(path_last(exe), comm) && trust_is_root(st.st_uid) && (st.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* A containerd whose parent is Concourse's worker is the worker's. */
static bool
is_of_concourse(const struct look *l, pid_t pid)
{
	char parent[16], comm[16];

	snprintf(parent, sizeof(parent), "%d", process_parent(pid));
	read_comm(l->proc, parent, comm);
	return strcmp(comm, "concourse") == 0 && is_users(l, parent, comm);
}

static void
look_at(struct look *l, const char *pid)
{
	autostrlist struct strlist words = { 0 }, env = { 0 };
	const pid_t number = (pid_t)atoi(pid);
	enum kind kind;
	char comm[16];
	char *path;

	read_comm(l->proc, pid, comm);
	if ((strcmp(comm, "concourse") != 0 && !text_starts(comm, "containerd")) ||
	    !is_users(l, pid, comm) ||
	    home_is_containers(&l->home, l->proc, pid) != 0 || !read_words(l->proc, pid, "cmdline", &words) ||
	    !read_words(l->proc, pid, "environ", &env) || (kind = kind_of(comm, &words)) == KIND_NONE)
		return;
	if (kind == KIND_CONCOURSE)
		note_concourse(l->out, number, &words, &env);
	if (kind == KIND_CONTAINERD && is_of_concourse(l, number))
		kind = KIND_CONTAINERD_OF_CONCOURSE;
	if (kind <= l->best || (path = path_of(l, pid, kind, &words, &env)) == NULL)
		return;
	free(l->out->path);
	l->out->path = path;
	l->out->engine = number;
	l->out->own_containerd = kind == KIND_CONTAINERD_OF_CONCOURSE;
	snprintf(l->out->name, sizeof(l->out->name), "%s", comm);
	l->best = kind;
}

void
worker_find(uint32_t uid, struct worker *out)
{
	int fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = file_list(fd);
	struct look l = { .proc = fd, .uid = uid, .out = out };
	struct dirent *e;

	*out = (struct worker){ 0 };
	if (d == NULL)
		return;
	while (home_find(fd, &l.home) && (e = readdir(d)) != NULL)
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9')
			look_at(&l, e->d_name);
	closedir(d);
}

void
worker_free(struct worker *w)
{
	free(w->path);
	free(w->volumes);
	*w = (struct worker){ 0 };
}

bool
leads_to_wrapper(const char *path)
{
	struct stat there, wrapper;

	return stat(path, &there) == 0 && stat(WRAPPER, &wrapper) == 0 && there.st_dev == wrapper.st_dev &&
	    there.st_ino == wrapper.st_ino;
}
