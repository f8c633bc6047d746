/* The worker and the engine that run on this host. */
#ifndef GPUHELPER_CTL_WORKER_WORKER_H
#define GPUHELPER_CTL_WORKER_WORKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "../../base/text.h"

struct worker {
	pid_t engine;		/* containerd, its shim, or a Concourse worker; 0 if none is visible */
	char name[16];		/* the name of that process */
	char *path;		/* the PATH in which it looks for runc, and gpuhelper-runc for the runtime; NULL with engine 0 */
	pid_t concourse;	/* the Concourse worker; 0 if none is visible */
	char *volumes;		/* where the worker keeps root filesystems; NULL if that is not visible */
	bool own_containerd;	/* the engine is a containerd that the worker started */
	bool quickstart;	/* the worker has a web node, and its settings have other names */
	bool tagged;		/* the worker has tags */
	char *program;		/* the engine's program */
	char *config;		/* containerd's settings, if its command line names them; absolute if possible */
	char *address;		/* containerd's socket, if its command line names it */
};

/* The kinds of an engine's process: each says more than the one before about which runc is called. */
enum engine_kind {
	ENGINE_NONE, ENGINE_DOCKER, ENGINE_CONCOURSE, ENGINE_SHIM, ENGINE_CONTAINERD, ENGINE_CONTAINERD_OF_CONCOURSE,
};

struct engine_process {
	enum engine_kind kind;
	pid_t parent;		/* the worker, if this is its containerd */
	struct worker is;	/* this process alone; «engine» is its pid, whatever its kind */
	struct strlist words;	/* dockerd's command line */
};

struct engines {
	struct engine_process *v;
	size_t n;
};

/*
 * Finds the user's processes outside of containers whose command lines and environments the caller may read.  A process
 * of root's counts only if it executes a program of its name that is root's alone, in a directory that is root's alone.
 */
void engines_find(uint32_t uid, struct engines *out);
void engines_free(struct engines *e);
#define autoengines __attribute__((cleanup(engines_free)))

/* The next process of this kind after «last», or with NULL the first.  NULL if there is none. */
const struct engine_process *engines_next(const struct engines *e, enum engine_kind kind,
    const struct engine_process *last);

/*
 * Takes the Concourse worker with this pid (0: the first) and its own containerd.  If it has none, the engine is
 * another containerd, or else a shim, or else the worker itself.
 */
void worker_of(const struct engines *e, pid_t concourse, struct worker *out);
/* Takes one process as the engine. */
void worker_from(const struct engine_process *p, struct worker *out);

/* The value of «NAME VALUE» or «NAME=VALUE» in a command line; NULL if it is not there. */
const char *words_option(const struct strlist *words, const char *name);

/* Both engines_find() and worker_of(). */
void worker_find(uint32_t uid, struct worker *out);
void worker_free(struct worker *w);

/* True if the path leads to gpuhelper-runc. */
bool leads_to_wrapper(const char *path);

#endif
