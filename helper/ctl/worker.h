/* The worker and the engine that run on this host. */
#ifndef GPUHELPER_CTL_WORKER_H
#define GPUHELPER_CTL_WORKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "../pure/text.h"

struct worker {
	pid_t engine;		/* containerd, its shim, or Concourse's worker; 0: none can be seen */
	char name[16];		/* of that process */
	char *path;		/* in which it looks for «runc», and gpuhelper-runc for the runtime; NULL with engine 0 */
	pid_t concourse;	/* Concourse's worker; 0: none can be seen */
	char *volumes;		/* where it keeps root filesystems; NULL where that can't be seen */
	bool own_containerd;	/* the engine is the containerd that it started */
	bool quickstart;	/* it is one with a web node, and has its settings under other names */
	bool tagged;		/* it has tags */
	char *program;		/* of the engine, where it is containerd */
	char *config;		/* its settings, and the socket that it listens on, where its command line says them */
	char *address;
};

/*
 * A process of an engine.  Its kinds, from the one that says least of what runc is called to the one that says
 * most.
 */
enum engine_kind {
	ENGINE_NONE, ENGINE_DOCKER, ENGINE_CONCOURSE, ENGINE_SHIM, ENGINE_CONTAINERD, ENGINE_CONTAINERD_OF_CONCOURSE,
};

struct engine_process {
	enum engine_kind kind;
	pid_t parent;		/* of a containerd of Concourse's: the worker */
	struct worker is;	/* of this process alone: engine is its pid, whatever it is */
	struct strlist words;	/* docker's: its command line */
};

struct engines {
	struct engine_process *v;
	size_t n;
};

/*
 * Looks at the processes of this user that are no container's, as far as who asks may read their command lines and
 * environments.  A process of root's counts only where its program is root's and has its name.
 */
void engines_find(uint32_t uid, struct engines *out);
void engines_free(struct engines *e);
#define autoengines __attribute__((cleanup(engines_free)))

/* The next process of this kind after «last» (NULL: the first); NULL: there is none. */
const struct engine_process *engines_next(const struct engines *e, enum engine_kind kind,
    const struct engine_process *last);

/*
 * The worker of Concourse's with this pid (0: the first), and its own containerd.  Without one, another engine: a
 * containerd, before a shim, before the worker itself.
 */
void worker_of(const struct engines *e, pid_t concourse, struct worker *out);
/* One process as the engine. */
void worker_from(const struct engine_process *p, struct worker *out);

/* The value of «--NAME VALUE» or «--NAME=VALUE» in a command line; NULL: it is not there. */
const char *words_option(const struct strlist *words, const char *name);

/* engines_find() and worker_of(), for who wants no more. */
void worker_find(uint32_t uid, struct worker *out);
void worker_free(struct worker *w);

/* Does the path lead to gpuhelper-runc? */
bool leads_to_wrapper(const char *path);

#endif
