/* A container that is about to be made, and the checks that hold for every container, whatever it asks for. */
#ifndef GPUHELPER_USER_NEWCONTAINER_H
#define GPUHELPER_USER_NEWCONTAINER_H

#include <sys/stat.h>

#include "../ask/reply.h"
#include "../lease/editsdriver.h"
#include "../policy/settings.h"
#include "ask/ask.h"
#include "cgroup/nodeaccess.h"
#include "command/argv.h"
#include "privilege/privilege.h"
#include "spec/bundle.h"
#include "spec/spec.h"

/* A container that is about to be made. */
struct new_container {
	const struct command *command;
	const struct settings *settings;
	const char *runtime;
	struct bundle bundle;
	struct spec spec;
	struct request request;
	struct devmajors majors;
	struct helper_conn *conn;		/* where the grant comes from */
	struct node_access *access;	/* to the granted nodes */
	struct reply reply;
	char *before;			/* config.json without what an earlier grant added; NULL: nothing was added */
	bool stale;			/* it has a mark of such a grant that does not fit */
	char removed[NOTE_MAX];		/* a warning of what the container does not get; "": none */
	struct edits plain;		/* for a container without a grant: a label, at most */
	char privilege[PRIVILEGE_MAX];	/* why only a policy can allow the container: it is privileged; "": it is not */
	int rootfd;
	char *rootpath;
	char *text;			/* the new config.json */
	size_t len;
	char staged[64];
	bool granted;
	struct why why;
};

void new_container_free(struct new_container *n);

/* Begins a request of this kind about the container. Returns 0, or -1 with n->why. */
int new_container_fill_request(struct new_container *n, enum verb verb);

/*
 * Checks everything that holds for every container, whatever it asks for, with the command, the settings and the
 * runtime in *n, and fills the rest, up to the root directory and the request. *asks says whether it asks for anything.
 * Returns 0, or -1 with n->why.
 */
int new_container_check(struct new_container *n, bool *asks);

/*
 * If another user can write on the way to the root directory, the directory must be checked again after the runtime has
 * used it: *root_redirectable is true then, and *root is the directory. For «create» by the host's root that later
 * check is cheap. Another user may not be able to see the new container's root directory; for such a user, all
 * processes are scanned now, to see whether a container can write on the way. Returns 0, or -1 with *why.
 */
int new_container_check_root(const struct new_container *n, bool *root_redirectable, struct stat *root,
    struct why *why);

/* True if the capabilities of root's container are to be checked once the runtime has made it. */
bool new_container_checks_capabilities(const struct new_container *n);

/* True if GPUs that were not granted are taken away from the container. */
bool new_container_hides_gpus(const struct new_container *n);

#endif
