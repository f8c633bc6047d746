/*
 * The changes to config.json by a grant: root makes them, the reply has them (ask/reply.h), and the wrapper merges
 * them. Members of «containerEdits» have the names of the CDI specification 1.1.0; members that CDI lacks are outside
 * of it.
 */
#ifndef GPUHELPER_LEASE_EDITS_H
#define GPUHELPER_LEASE_EDITS_H

#include <stdbool.h>
#include <stdint.h>

#include "../json/jsonout.h"
#include "../base/text.h"
#include "../base/why.h"
#include "../kernel/secontext.h"

struct edit_node {
	char path[64];			/* the same on the host and in the container */
	uint32_t major, minor;		/* of a character device */
	uint32_t mode, uid, gid;	/* the host node's, mode without the file type */
};

struct edit_mount {
	char *source, *target;
	uint32_t sum;			/* target_sum(target), if edits_add_mount() added it */
	uint32_t grant;			/* of a granted folder: the index of its struct folder_grant (not in the reply) */
	uint64_t mnt_id;			/* of a granted folder: the id of its mount; 0: not seen yet (not in the reply) */
	char *fs_path;			/* of a granted folder: its file system path (lookup.h) as root saw it; else NULL */
	struct strlist options;
	bool driver;			/* a driver file (in the reply: a mount without such a path) */
	bool linked;			/* used by the wrapper: left out, because a hook makes a link there (not in the reply) */
	enum relabel relabel;		/* how root is to relabel it (not in the reply's text) */
};

/* A program that the runtime runs for the container (OCI's config.md, «POSIX-platform Hooks»). */
struct edit_hook {
	char *when;			/* "createContainer" */
	char *path;			/* a program that only root can change */
	struct strlist args, env;	/* env is the hook's whole environment */
	uint32_t timeout;		/* seconds; 0: none */
};

/*
 * What gpuhelper-engine adds for the driver, as it wrote that (ask/driveredits.h). The helper reads only the lists. The
 * wrapper refuses a text that has other paths.
 */
struct driver_edits {
	char *files;			/* mounts, hooks and paths to hide; NULL: it adds nothing */
	char *process;			/* variables and notes: what execs get, too */
	struct strlist mounted, run;	/* sources of mounts, programs of hooks: paths of the host, in the text's order */
	struct strlist specs;		/* for the audit log: paths of the CDI specs that gave them */
};
void driver_edits_free(struct driver_edits *d);

struct edits {
	struct edit_node *node;
	size_t nodes;
	bool nodes_bound;		/* used by the wrapper: nodes are among the mounts, too (not in the reply's text) */
	struct edit_mount *mount;
	size_t mounts;
	struct edit_hook *hook;
	size_t hooks;
	struct strlist env;		/* "NAME=value" */
	bool env_secret;		/* some of them are a policy's, which may be secret */
	uint32_t gid[64];		/* supplementary groups, as ids in the container */
	size_t gids;
	struct strlist gpus;		/* the GPUs, as in the audit log: "nvidia 0000:3b:00.0 GPU-... part 0" */
	struct driver_edits driver;
	struct strlist masked;		/* paths of the container's /proc to hide */
	struct strlist notes;		/* warnings for the user, a line each: edits_add_note() */
	bool promise;			/* device rules must deny the nodes until a task takes some (leasetasks.h) */
	char *label, *mount_label;	/* process.selinuxLabel, linux.mountLabel; NULL: unchanged */
};

bool edits_add_node(struct edits *e, const struct edit_node *n);
/* A sum of the target's bytes. Targets with different sums differ: sums are compared faster than texts. */
uint32_t target_sum(const char *target);
/* Adds a copy; a NULL ends «options». False if memory is short. */
bool edits_add_mount(struct edits *e, const char *source, const char *target, const char *const *options);
/* Writes the mounts as the array «mounts» of JSON; a folder's has its place, too. */
void edits_write_mounts(struct jsonout *j, const struct edits *e);
/* Writes the container's groups as a JSON array. */
void edits_write_groups(struct jsonout *j, const char *key, const struct edits *e);
void edits_free(struct edits *e);

#endif
