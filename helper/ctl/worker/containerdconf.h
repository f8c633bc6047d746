/* Finds in containerd's settings, of the versions 2 to 4, which runtimes it calls. */
#ifndef GPUHELPER_CTL_WORKER_CONTAINERDCONF_H
#define GPUHELPER_CTL_WORKER_CONTAINERDCONF_H

#include <stdbool.h>
#include <stddef.h>

#include "../../base/why.h"

#define CONTAINERD_CONF "/etc/containerd/config.toml"
#define CONTAINERD_OPT "/opt/containerd/bin"	/* containerd searches it first, by default (its plugin «opt») */
#define CONTAINERD_RUNC CONTAINERD_OPT "/runc"

/* A runtime of CRI, which Kubernetes' pods name. */
struct containerd_handler {
	char *name;
	char *type;		/* NULL if the settings have none */
	char *binary;		/* NULL for the «runc» of PATH */
};

struct containerd_conf {
	char *opt;		/* the directory of the plugin «opt»; NULL for the default */
	bool opt_off;
	char *path;		/* a PATH for the shims; NULL if the settings have none */
	char *address;		/* of its socket; NULL for the default */
	char *usual;		/* CRI's default runtime; NULL for runc */
	bool cri_off;
	struct containerd_handler *handler;
	size_t handlers;
};

/*
 * Reads the output of «containerd config dump»; «name» is for messages.  Later calls override.  -1 with *why: the text
 * is no TOML (then with the line), or memory is short.
 */
int containerd_conf_read(struct containerd_conf *c, const char *text, const char *name, struct why *why);
/*
 * Reads a file (NULL: CONTAINERD_CONF) and those that it imports.  A file that can't be read adds nothing, nor does one
 * with a relative path.  -1 with *why, as above.
 */
int containerd_conf_load(struct containerd_conf *c, const char *file, struct why *why);
void containerd_conf_free(struct containerd_conf *c);
#define autocontainerd __attribute__((cleanup(containerd_conf_free)))

/* The PATH of the shims of a containerd with the PATH «path».  The caller frees; NULL if memory is short. */
char *containerd_path(const struct containerd_conf *c, const char *path);

/* The binary or type of a runtime that calls neither the runc of PATH nor «wrapper»; NULL if it calls one of them. */
const char *containerd_handler_calls(const struct containerd_handler *h, const char *wrapper);

#endif
