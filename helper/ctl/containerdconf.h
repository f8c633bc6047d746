/* What containerd's settings say of where it looks for runtimes, in all versions of their form (2 to 4). */
#ifndef GPUHELPER_CTL_CONTAINERDCONF_H
#define GPUHELPER_CTL_CONTAINERDCONF_H

#include <stdbool.h>
#include <stddef.h>

#define CONTAINERD_CONF "/etc/containerd/config.toml"
#define CONTAINERD_OPT "/opt/containerd/bin"	/* where it looks first, unless told otherwise (its plugin «opt») */
#define CONTAINERD_RUNC CONTAINERD_OPT "/runc"

/* A runtime that Kubernetes' pods name (CRI's). */
struct containerd_handler {
	char *name;
	char *type;		/* NULL: not said */
	char *binary;		/* NULL: «runc», which is looked for in PATH */
};

struct containerd_conf {
	char *opt;		/* the directory of plugin «opt»; NULL: the default */
	bool opt_off;
	char *path;		/* the PATH that shims are given instead; NULL: none */
	char *address;		/* where it listens; NULL: the default */
	char *usual;		/* the handler of pods that name none; NULL: runc */
	bool cri_off;
	struct containerd_handler *handler;
	size_t handlers;
};

/* From text: a file, or what «containerd config dump» prints.  Later calls override.  False: no memory. */
bool containerd_conf_read(struct containerd_conf *c, const char *text);
/*
 * Reads a file (NULL: CONTAINERD_CONF) and those that it imports.  A file that can't be read adds nothing, nor does one
 * with a relative path.  False: no memory.
 */
bool containerd_conf_load(struct containerd_conf *c, const char *file);
void containerd_conf_free(struct containerd_conf *c);
#define autocontainerd __attribute__((cleanup(containerd_conf_free)))

/* The PATH of its shims, where «path» is the PATH that it was started with.  The caller frees; NULL: no memory. */
char *containerd_path(const struct containerd_conf *c, const char *path);

/*
 * The program that the handler calls where that is not the runc of PATH, nor «wrapper»: its binary, or its type.
 * NULL: it calls one of these.
 */
const char *containerd_handler_calls(const struct containerd_handler *h, const char *wrapper);

#endif
