/* Makes a bundle ready for the runtime: checks it, asks the helper, and writes the new config.json. */
#ifndef GPUHELPER_USER_PREPARE_H
#define GPUHELPER_USER_PREPARE_H

#include <sys/stat.h>

#include "../policy/settings.h"
#include "ask/ask.h"
#include "cgroup/nodeaccess.h"
#include "command/argv.h"
#include "mount/foldermounts.h"

/* What create.c must know after the runtime has made the container. */
struct prepared {
	bool granted;
	bool promised;			/* device rules must deny the granted nodes until a task takes some (lease/leasetasks.h) */
	struct helper_conn conn;		/* the helper may stay there until it has seen the container */
	bool check_rules;		/* root's container, whose device rules must be enforced */
	bool check_capabilities;	/* root's container without a user namespace, which must not be privileged */
	bool root_redirectable;			/* its root directory must be checked again */
	struct stat root;
	struct folder_mounts folders;
	struct node_access access;	/* to the granted nodes */
	char *cgroups_path;		/* the container's; NULL or "" without one */
};

/*
 * Prepares the container of the command for this runtime («runtime» is its path), and fills *p, which begins as
 * { .conn = HELPER_CONN_NONE }. Tells the user of what the container lacks. scan_first: the helper is to look who
 * has a GPU open before it grants it. Returns 0; the caller then calls prepared_free(), after create_container() if it
 * does. Or -1 with *why: there must be no container.
 */
int prepare_container(const struct command *c, const struct settings *settings, const char *runtime, bool scan_first,
    struct prepared *p, struct why *why);
/* Frees all but p->conn, which ask_end() ends. */
void prepared_free(struct prepared *p);

#endif
