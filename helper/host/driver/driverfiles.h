/*
 * The driver files of a granted GPU: the libraries and programs that the GPU's CDI spec lists in addition to its device
 * nodes, as changes to a container.
 * By writing a spec, root decides which files of the host go into containers, but decides only once. So every grant
 * checks anew whether the files exist and only root can change them.
 */
#ifndef GPUHELPER_HOST_DRIVER_DRIVERFILES_H
#define GPUHELPER_HOST_DRIVER_DRIVERFILES_H

#include "../../gpu/gpu.h"
#include "../../lease/edits.h"
#include "../../policy/grantedgpu.h"
#include "../../policy/settings.h"
#include "cdidirs.h"

struct driver_question {
	const struct cdi_registry *specs;	/* loaded as «trusted» */
	const struct inventory *inventory;	/* with the specs' names in it (cdigpus.h) */
	const struct settings *settings;
	const struct granted_gpu *granted;
	size_t grants;
	bool promise;		/* a task gets some of them later, and what comes with the container stays */
};

/*
 * Adds mounts, variables and, with cdi_hooks = "allow", hooks to *out, and the paths of the specs to *used. Adds a
 * note to *out if a socket of the driver's services is missing, or a library without which no program can use the GPU.
 * Overrides nothing in *out: a variable stays, and a mount in the place of another one is refused. Of a promise, adds
 * only the variables that the devices, or their specs, set alike for all GPUs of a rule.
 * Returns 0, or -1 with *why if a spec can't be used, is older than the loaded driver, or names a file that
 * does not exist or that others than root can change.
 */
int driver_files(const struct driver_question *q, struct edits *out, struct strlist *used, struct why *why);

/*
 * Finds the spec's device that is this GPU. *e is NULL if there is none and none is needed. Returns 0, or -1
 * with *why.
 */
int driver_entry(const struct driver_question *q, const struct granted_gpu *w, const struct cdi_entry **e,
    struct why *why);

struct stat;
/*
 * True for the directory of the MPS server, directly in /tmp, where the sticky bit keeps all but root from replacing
 * it. It must be on /tmp's own file system: a user may have mounted a FUSE file system there, which reports any owner
 * that the user likes. «real» and *st are of cdi_find_source().
 */
bool driver_is_mps_dir(const char *real, const struct stat *st);

/*
 * Gets the version of the NVIDIA driver ("580.95.05") from the file name of one of its libraries; "" for any
 * other file, and for a library with a version of its own.
 */
void driver_library_version(const char *path, char out[32]);

#endif
