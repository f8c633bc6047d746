/* Which system calls this process has left, and with what: for when something in it is not ours any more. */
#ifndef GPUHELPER_ROOT_FILTER_H
#define GPUHELPER_ROOT_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../pure/why.h"

#define FILTER_MAJORS_MAX 16
#define FILTER_CHILDREN_MAX 4

/*
 * What nodes may be made, and to whom they are given then: the driver's own numbers.
 * Whether links to them may be made, which is for containers of root's alone (charlink.h).
 * The programs that it started, which it may end, and the channel by which gpuhelper-label gets folders (labeller.h);
 * -1: there is none.
 * And who this process may become, all ids at once, to end as his; 0: nobody.
 */
struct filter_nodes {
	uint32_t major[FILTER_MAJORS_MAX];
	size_t majors;
	uint32_t uid, gid;
	bool links;
	uint32_t child[FILTER_CHILDREN_MAX];
	size_t children;
	int labeller_channel;
	uint32_t caller;
};

/*
 * Ends the process at what it never does, lets it do what it does, and says ENOSYS
 * to all else, so that a C library of another day does it by an older call.  For
 * good.  -1 with *why: also where this machine is none that there is a filter for,
 * or its kernel has no seccomp(2).  Needs no_new_privs.
 */
int filter_install(const struct filter_nodes *nodes, struct why *why);

/*
 * Likewise for the looker (lookerloop.h), which opens for reading, copies itself, and changes nothing; for
 * gpuhelper-label, which uses what is there, labels it, and makes nothing; for gpuhelper-judge while it looks at the
 * host, which opens for reading, and takes the next one then; and for gpuhelper-read and gpuhelper-judge, each of which
 * has its channel and memory, and nothing else.
 */
enum filter_child { FILTER_LOOKER, FILTER_LABELLER, FILTER_SEER, FILTER_READER };
int filter_install_for(enum filter_child child, struct why *why);

#endif
