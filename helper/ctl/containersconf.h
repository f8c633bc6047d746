/* containers.conf(5): which runtime podman calls, by the files that it reads. */
#ifndef GPUHELPER_CTL_CONTAINERSCONF_H
#define GPUHELPER_CTL_CONTAINERSCONF_H

#include <stdbool.h>

/* The file of setup's own, and the name that it gives to the wrapper. */
#define PODMAN_DROP_IN_DIR "/etc/containers/containers.conf.d"
#define PODMAN_DROP_IN_NAME "90-gpuhelper.conf"
#define PODMAN_DROP_IN PODMAN_DROP_IN_DIR "/" PODMAN_DROP_IN_NAME
#define PODMAN_RUNTIME "gpuhelper"

struct podman_conf {
	char *runtime;		/* a name or a path; NULL: podman's own default */
	char *file;		/* that says so last */
	char *path;		/* what the files say that PODMAN_RUNTIME is; NULL: nothing */
};

/* Of root, with home NULL, or of the user with this home directory.  False: no memory. */
bool podman_conf_load(struct podman_conf *c, const char *home);
void podman_conf_free(struct podman_conf *c);
#define autopodman __attribute__((cleanup(podman_conf_free)))

#endif
