/*
 * What the wrapper asks the helper.  Every field is the caller's assertion;
 * nothing in it is opened, executed or believed by name.
 */
#ifndef GPUHELPER_PURE_REQUEST_H
#define GPUHELPER_PURE_REQUEST_H

#include <stdbool.h>

#include "gpu.h"
#include "idmap.h"
#include "pausing.h"
#include "text.h"
#include "why.h"

enum verb {
	VERB_GRANT,	/* may this container be created, and with what? */
	VERB_LOOK,	/* see whether this container's lease is over */
	VERB_REFUSED,	/* the wrapper refused by itself: write it down */
	VERB_PLAIN,	/* a container that asks for nothing: write it down (audit.plain) */
	VERB_STATUS,	/* who holds what, and who waits: a caller sees its own, root all */
	VERB_RELEASE,	/* the runtime says that this container is deleted */
	VERB_REAPPLY,	/* do again, for all leases, what something undid on the nodes */
	VERB_CREATED,	/* the runtime has made the container: see where it is */
	VERB_EXEC,	/* the process that asks is about to put another one into the container */
};

#define REQUEST_GIDS_MAX 64
#define REQUEST_SHUT_MAX 64

struct request {
	enum verb verb;
	char *id;			/* container id: 1 to 255 of what runc takes */
	char *runtime_root;		/* the runtime's --root as given, absolute, at most 1024 bytes; "" if none */
	char *cgroups_path;		/* linux.cgroupsPath, at most 1024 bytes; "" if none */
	bool systemd_cgroup;
	struct idmap uids, gids;	/* linux.uidMappings, gidMappings */
	char *label, *mount_label;	/* process.selinuxLabel, linux.mountLabel; NULL: none */
	uint32_t uid, gid;		/* process.user, ids inside */
	uint32_t gid_list[REQUEST_GIDS_MAX];
	size_t gid_count;
	bool at_once;			/* the task starts before anyone can see where its folders came from (run) */
	bool dac_override;		/* the process has CAP_DAC_OVERRIDE in its namespace */
	bool privileged;
	char *token;			/* NULL: none */
	char *team, *pipeline, *job, *instance_vars;	/* BUILD_*: claims; NULL: none */
	char *gpus, *folders;		/* as asked for; NULL: not asked for */
	/* what a workload manager let the worker have, in the wrapper's own environment; NULL: no word of it */
	char *cuda_visible, *rocr_visible;
	/* process.args[0], and the file that the specification binds there from outside of «volumes»; NULL: none is */
	char *init_path;
	struct file_id init_file;
	struct strlist shut;		/* leases (keys) whose containers' access was taken away, as the helper had said */
	bool no_chores;			/* the one before it failed: give no more of them */
	char *reason;			/* VERB_REFUSED: the line that the user saw */
};

/* The request as JSON, which the caller frees; NULL: no memory. */
char *request_encode(const struct request *r);
/* Reads it back, strictly: an unknown field, a wrong type or a number out of range is refused. */
int request_decode(const char *text, size_t len, struct request *r, struct why *why);
void request_free(struct request *r);
#define autorequest __attribute__((cleanup(request_free)))

/* What a container asks for, read. */
enum ask_access { ASK_ANY, ASK_RO, ASK_RW };
struct ask_folder {
	char *path;
	enum ask_access access;
};
struct ask_count {
	bool has_vendor;
	enum gpu_vendor vendor;
	unsigned n;
};
/* GPUs beyond which a container gets none, whatever its policy says. */
struct gpu_bound {
	bool set;
	struct strlist names;		/* as gpu_is_named() takes them, ranks too; empty: none at all */
};
struct ask {
	bool everything;		/* neither was asked for: all that the policy lists */
	bool all_gpus;
	struct ask_count count[8];
	size_t counts;
	struct strlist gpu_ids;
	bool all_folders;
	struct ask_folder *folder;
	size_t folders;
	struct gpu_bound bound[GPU_VENDORS];
};

/*
 * Reads GPUHELPER_GPUS ("2", "amd:1", "all", "none", UUIDs and PCI addresses,
 * parted by commas) and GPUHELPER_FOLDERS ("/srv/a:ro,/srv/b:rw", "all",
 * "none"); either may be NULL.
 */
int ask_parse(const char *gpus, const char *folders, struct ask *out, struct why *why);
/*
 * Reads a workload manager's choice, which SLURM and the like leave in
 * CUDA_VISIBLE_DEVICES (NVIDIA: ranks by PCI address, "GPU-UUID", "MIG-UUID") and
 * ROCR_VISIBLE_DEVICES (AMD: ranks, "GPU-" and 16 hex digits); "", "-1" and
 * "NoDevFiles" are none.  NULL text: no bound.  -1 with *why for anything else:
 * half of a list is not a bound to rely on.
 */
int ask_bound(struct ask *a, enum gpu_vendor vendor, const char *text, struct why *why);
bool ask_wants_gpus(const struct ask *a);
void ask_free(struct ask *a);
#define autoask __attribute__((cleanup(ask_free)))

#endif
