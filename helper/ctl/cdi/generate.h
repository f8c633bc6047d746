/*
 * gpuhelperctl cdi generate: what its parts share.  They read the host and build a spec.  A file or node that is not as
 * it should be is left out and reported on stderr.  They run nothing, and open files for reading only.
 */
#ifndef GPUHELPER_CTL_CDI_GENERATE_H
#define GPUHELPER_CTL_CDI_GENERATE_H

#include "../../host/gpu/gpus.h"
#include "../ctl.h"
#include "cdimake.h"

struct generating {
	const struct options *o;
	struct gpu_source host;		/* the host to describe */
	bool live;			/* it is this host, not a directory that --root names */
	/* the root directory in which the driver's files are: host.root, or that of a driver in a container */
	int driver;
	char driver_root[256];		/* its path on the host: "/run/nvidia/driver"; "" for host.root */
	const struct inventory *inv;
	enum gpu_vendor vendor;
	struct cdi_spec spec;
	struct strlist told;		/* nodes whose problem was reported */
	json_t *files;			/* with --json, if files are written: the result of each; else NULL */
};

/*
 * Opens a file of the driver at this path in the driver's root directory, through links there (rootfile.h).  *real
 * gets its path on the host, without links; the caller frees it.  Returns a descriptor, or -1 with errno.
 */
int gen_open(const struct generating *g, const char *path, int flags, char **real);
/* The path in the driver's root directory of a file that has this path on the host; NULL if it is elsewhere. */
const char *gen_in_root(const struct generating *g, const char *path);

/* A shared library of the host. */
struct host_library {
	char *real;			/* its path on the host, without links */
	char soname[256];		/* its SONAME; if it has none, its file's name */
	const char *subdir;		/* its place beneath the loader's directories: "vdpau/" or "" */
	unsigned bits, machine;
	size_t order;
};

struct host_libraries {
	struct host_library *v;
	size_t n;
};

/*
 * Adds the library at «path» in the driver's root directory, unless it was added already.  A file that is no suitable
 * library is left out, which is reported; the result is 0 then too.  1: there is no such file.  -1 with *why: out of
 * memory.
 */
int gen_library(const struct generating *g, struct host_libraries *l, const char *path, const char *subdir,
    struct why *why);

/*
 * Adds mounts of all the libraries by SONAME, in each directory where the loader of a Debian-like or RHEL-like image
 * looks.  vendor_names: also by the other names by which NVIDIA's programs load them.  -1 with *why: out of memory.
 */
int gen_mount_libraries(struct generating *g, struct host_libraries *l, bool vendor_names, struct why *why);
void gen_libraries_free(struct host_libraries *l);
#define autolibraries __attribute__((cleanup(gen_libraries_free)))

/*
 * Adds a mount of the first of these paths in the driver's root directory (the list ends with NULL) that is a file
 * which only root can change.  «container» is its path in the container; NULL: the same path.  1: there is no such
 * file.  -1 with *why.
 */
int gen_file(struct generating *g, const char *const *paths, const char *container, struct why *why);

/* Add what a vendor's GPUs need in addition to their nodes.  -1 with *why. */
int gen_nvidia(struct generating *g, struct why *why);
int gen_rocm(struct generating *g, struct why *why);

/*
 * Finds the libraries of the loaded NVIDIA driver and mounts them.  Sets the driver's root directory.  -1 with *why,
 * also if there is no library of that driver.
 */
int gen_nvidia_libraries(struct generating *g, struct why *why);

/*
 * Writes the vendor's spec to stdout, or to the file that --output names.  Replaces the file atomically; leaves it
 * alone if its text is the same.  -1 with *why, also if an existing spec has the same device: CDI would then use
 * neither.
 */
int gen_output(const struct generating *g, const char *text, struct why *why);
/* True if --output names a directory, which gets a file for each vendor. */
bool gen_many(const struct options *o);

#endif
