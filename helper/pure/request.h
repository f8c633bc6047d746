/*
 * What the wrapper asks the helper.  Every field is the caller's assertion;
 * nothing in it is opened, executed or believed by name.
 */
#ifndef GPUHELPER_PURE_REQUEST_H
#define GPUHELPER_PURE_REQUEST_H

#include <stdbool.h>

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

/*
 * The request as *len bytes (request.c has their order), which the caller frees;
 * NULL: no memory.  What is out of bounds in it, the helper refuses.
 */
char *request_encode(const struct request *r, size_t *len);
/* Reads it back, strictly: what is out of range, no UTF-8, missing or too much is refused.  Free *r then, too. */
int request_decode(const char *bytes, size_t len, struct request *r, struct why *why);
void request_free(struct request *r);
#define autorequest __attribute__((cleanup(request_free)))

#endif
