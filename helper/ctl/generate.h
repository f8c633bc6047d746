/*
 * gpuhelperctl cdi generate: what its parts share.  They read the host and put
 * together a spec; a file or node that is not as it should be is told on stderr
 * and left out, and nothing is run or opened for more than reading.
 */
#ifndef GPUHELPER_CTL_GENERATE_H
#define GPUHELPER_CTL_GENERATE_H

#include "../host/gpus.h"
#include "../pure/cdimake.h"
#include "ctl.h"

struct generating {
	const struct options *o;
	struct gpu_source host;		/* whose GPUs and files these are */
	bool live;			/* that is this host, and its root is "/" */
	const struct inventory *inv;
	enum gpu_vendor vendor;
	struct cdi_spec spec;
	struct strlist told;		/* nodes of which something was told */
	json_t *files;			/* with --json, and where files are written: what became of each; else NULL */
};

/* A shared library of the host. */
struct host_library {
	char *real;			/* its file, without links */
	char soname[256];		/* its file's name where it has none */
	const char *subdir;		/* where beneath the loader's directories it belongs: "vdpau/" or "" */
	unsigned bits, machine;
	size_t order;
};

struct host_libraries {
	struct host_library *v;
	size_t n;
};

/*
 * Adds the library at «path», unless it is there already.  1: there is no such
 * file; 0 too where it is left out, which is told.  -1 with *why: no memory.
 */
int gen_library(const struct generating *g, struct host_libraries *l, const char *path, const char *subdir,
    struct why *why);

/*
 * Mounts them all, under their SONAMEs and, with «vendor_names», under the other
 * names that NVIDIA's programs load them by, into the directories where the
 * loaders of images look that are made like Debian's and like RHEL's.
 */
int gen_mount_libraries(struct generating *g, struct host_libraries *l, bool vendor_names, struct why *why);
void gen_libraries_free(struct host_libraries *l);
#define autolibraries __attribute__((cleanup(gen_libraries_free)))

/*
 * Mounts a file of root's from the first of these paths (ends with NULL) where
 * there is one; to «container», or, NULL, to where it was found.  1: there is
 * none; -1 with *why.
 */
int gen_file(struct generating *g, const char *const *paths, const char *container, struct why *why);

/* What a vendor's GPUs need beside their nodes.  -1 with *why. */
int gen_nvidia(struct generating *g, struct why *why);
int gen_rocm(struct generating *g, struct why *why);

/*
 * Where --output says, for this vendor: stdout where it says nothing; else a
 * file that is replaced at once and as a whole, and left where its text is the
 * same.  -1 with *why, too where CDI would then use neither it nor a file that
 * is there.
 */
int gen_output(const struct generating *g, const char *text, struct why *why);
/* Does it name a directory, with a file for each vendor? */
bool gen_many(const struct options *o);

#endif
