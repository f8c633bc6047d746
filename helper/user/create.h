/* Has the runtime make a container and end (create, run --detach), then checks the container. */
#ifndef GPUHELPER_USER_CREATE_H
#define GPUHELPER_USER_CREATE_H

#include <sys/stat.h>

#include "../base/text.h"
#include "../policy/settings.h"
#include "ask/ask.h"
#include "cgroup/nodeaccess.h"
#include "command/argv.h"
#include "mount/foldermounts.h"

struct creation {
	const struct command *command;
	enum door_setting door;
	const char *runtime;
	char *const *argv;
	bool leased;			/* something was granted: the helper has to see the container */
	bool promised;		/* its device rules must deny the granted nodes until a task takes some of them */
	bool check_rules;		/* the container's device rules must be enforced */
	bool check_capabilities;	/* it must have no strong one (speccapability.h) */
	const struct stat *root;	/* its root directory; NULL if nobody could redirect root.path */
	const struct folder_mounts *folders;
	struct node_access *access;	/* to the granted nodes */
	const char *cgroups_path;	/* the container's linux.cgroupsPath, or "" */
	struct helper_conn *conn;		/* where the grant came from */
};

enum created {
	CREATED_IN_CHILD,	/* this is the child, which is to become the runtime (runtime_fork()) */
	CREATED_NOT,		/* with *why: there is no container */
	CREATED_IN_VAIN,	/* the same, because somebody has its GPU open: another request may get another GPU */
};

/*
 * Forks the runtime. This process adopts the runtime's orphans, so that the container's first process becomes
 * its child. In the parent, exits with the runtime's status if the container is as it should be.
 */
enum created create_container(const struct creation *c, struct why *why);

/*
 * Checks, before the runtime starts a container of the host's root, that create_container() has checked what it was
 * granted, if anything; and that it still can't open GPUs that it was only promised. Returns 0, or -1 with *why.
 */
int create_check_start(const struct command *c, struct why *why);

#endif
