/* The runtime makes a container and ends (create, run --detach); then what it made is looked at. */
#ifndef GPUHELPER_USER_CREATE_H
#define GPUHELPER_USER_CREATE_H

#include <sys/stat.h>

#include "../pure/settings.h"
#include "../pure/text.h"
#include "argv.h"
#include "places.h"

struct creation {
	const struct command *command;
	enum door_setting door;
	const char *runtime;
	char *const *argv;
	bool leased;			/* it was granted something: the helper is shown it */
	bool ruled;			/* its device rules are to hold */
	bool weak;			/* it must have no capability that is strong (capability.h) */
	const struct stat *root;	/* what its root directory has to be; NULL: nobody can have led root.path elsewhere */
	const struct granted_places *places;
};

/*
 * Runs the runtime as a child whose orphans become ours: the container's first
 * process is then our child.  Returns only in the child, as runtime_fork() does,
 * with 1, and with -1 and *why: then there is no container.  Otherwise this
 * process ends, with the runtime's status.
 */
int create_container(const struct creation *c, struct why *why);

#endif
