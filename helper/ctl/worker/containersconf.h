/* Finds in containers.conf(5) and the files beside it which runtime podman calls. */
#ifndef GPUHELPER_CTL_WORKER_CONTAINERSCONF_H
#define GPUHELPER_CTL_WORKER_CONTAINERSCONF_H

#include "../../base/why.h"

/* The file that setup writes, and its name for the wrapper. */
#define PODMAN_DROP_IN_DIR "/etc/containers/containers.conf.d"
#define PODMAN_DROP_IN_NAME "90-gpuhelper.conf"
#define PODMAN_DROP_IN PODMAN_DROP_IN_DIR "/" PODMAN_DROP_IN_NAME
#define PODMAN_RUNTIME "gpuhelper"

struct podman_conf {
	char *runtime;		/* a name or a path; NULL for podman's own default */
	char *file;		/* the file that decides this */
	char *path;		/* of the runtime PODMAN_RUNTIME; NULL if the files do not name it */
};

/*
 * Reads root's files, or with «home» also those of the user with that home directory.  -1 with *why: a file is no TOML,
 * or memory is short; *c has what the files before say.
 */
int podman_conf_load(struct podman_conf *c, const char *home, struct why *why);
void podman_conf_free(struct podman_conf *c);
#define autopodman __attribute__((cleanup(podman_conf_free)))

#endif
