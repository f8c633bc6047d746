/*
 * The request of the wrapper to the helper. Every field is the caller's assertion: nothing in it may be
 * opened, executed or believed by name.
 */
#ifndef GPUHELPER_ASK_REQUEST_H
#define GPUHELPER_ASK_REQUEST_H

#include <stdbool.h>

#include "../base/text.h"
#include "../base/why.h"
#include "../kernel/idmap.h"
#include "../lease/leasetasks.h"

enum verb {
	VERB_GRANT,	/* may this container be created, and with what? */
	VERB_REAP,	/* check which leases are over: the caller's own, or all for root */
	VERB_REFUSED,	/* the wrapper itself refused: record it */
	VERB_PLAIN,	/* a container that asks for nothing: record it (audit.plain) */
	VERB_STATUS,	/* who holds what, and who waits: root sees all, others only their own */
	VERB_RELEASE,	/* the runtime deleted this container */
	VERB_REAPPLY,	/* restore what something undid on the nodes, for the caller's leases, or all for root */
	VERB_CREATED,	/* the runtime made the container: see where it is */
	VERB_EXEC,	/* the asking process is about to start a process in the container: record it */
	/*
	 * the process «waiter» in the container waits for the GPUs that were promised: take them for it. Pid 0: the runtime
	 * is starting it; a second request on the same connection will name it
	 */
	VERB_TASK,
	VERB_OVER,	/* the process «waiter» has ended: give its position or its GPUs back */
	VERBS
};

#define REQUEST_GIDS_MAX 64
#define REQUEST_REVOKED_MAX 64

/* What the task's author wrote or its worker set: gpuhelper-judge alone parses it. NULL: not said. */
struct untrusted {
	char *token;
	char *team, *pipeline, *job, *instance_vars;	/* BUILD_*: claims */
	char *gpus, *folders;		/* as requested */
	char *cuda_visible, *rocr_visible;	/* a workload manager's variables in the wrapper's environment */
};

/* The container that is to be made, by its config.json. */
struct request_spec {
	char *cgroups_path;		/* linux.cgroupsPath, at most 1024 bytes; "" if none */
	bool systemd_cgroup;
	struct idmap uids, gids;	/* linux.uidMappings, gidMappings */
	char *label, *mount_label;	/* process.selinuxLabel, linux.mountLabel; NULL: none */
	uint32_t uid, gid;		/* process.user, ids inside */
	uint32_t gid_list[REQUEST_GIDS_MAX];
	size_t gid_count;
	bool is_run;			/* «run»: the task starts before anyone can see where its folders came from */
	bool promises;			/* VERB_GRANT: the wrapper can put its waiter in front of the tasks (leasetasks.h) */
	bool dac_override;		/* the process has CAP_DAC_OVERRIDE in its namespace */
	bool privileged;
	/* process.args[0], and the file that the spec bind-mounts there from outside «volumes»; NULL: none */
	char *init_path;
	struct file_id init_file;
};

/* What a wrapper that asks again has done, or waits for. */
struct request_retry {
	struct strlist revoked;		/* leases (keys) whose containers' access was taken away by operations of the helper */
	bool no_ops;			/* an operation failed: give no more */
	bool await_keys;		/* keys are being fetched: a token that none here has signed is not refused yet */
	bool scan_first;		/* look who has a GPU open before it is granted, not while the container is made */
};

struct request {
	enum verb verb;
	char *id;			/* container id: 1 to 255 characters that runc allows */
	char *runtime_root;		/* the runtime's --root as given, absolute, at most 1024 bytes; "" if none */
	struct untrusted untrusted;	/* VERB_GRANT; of VERB_TASK the last two; and to be recorded */
	struct request_spec spec;	/* VERB_GRANT */
	struct request_retry retry;	/* VERB_GRANT, VERB_TASK, VERB_OVER, VERB_REAP, VERB_RELEASE */
	struct process_id waiter;	/* VERB_TASK, VERB_OVER: as the asking process sees it; else pid 0 */
	char *reason;			/* VERB_REFUSED: the line for the user */
};

/* Where a request has its text number i, of TEXTS (requesthead.h). */
char **request_text(struct request *r, size_t i);
/*
 * Decodes a request (requesthead.h has the form) strictly: refuses values out of range, text that is not UTF-8, missing
 * and extra bytes. 0, or -1 with *why. request_free() in any case.
 */
int request_decode(const char *bytes, size_t len, struct request *r, struct why *why);
void request_free(struct request *r);

/*
 * The verb of a request by the beginning of its message, header included; -1: there is too little of the message, or no
 * such verb.  A hint of what will be needed: request_decode() alone says what is asked.
 */
#define REQUEST_HINT_BYTES 64
int request_hint(const void *message, size_t len);
#define autorequest __attribute__((cleanup(request_free)))

#endif
