/*
 * SELinux labels: of a container that is granted something (its processes, and
 * the file systems that its runtime mounts for it), and of the nodes and folders
 * that it gets.  Where SELinux is absent nothing is done.
 */
#ifndef GPUHELPER_ROOT_LABEL_H
#define GPUHELPER_ROOT_LABEL_H

#include "../host/selinux.h"
#include "../pure/edits.h"
#include "../pure/policy.h"
#include "../pure/request.h"
#include "leaselist.h"

struct label {
	enum selinux_state state;	/* SELINUX_ABSENT: the rest is empty */
	struct secontext process;
	char text[SECONTEXT_MAX];	/* the same */
	char mount[SECONTEXT_MAX];	/* "" where the one that the specification has may stay */
	bool drawn;			/* its categories are chance's, and may be others */
	bool policys;			/* its level is what the policy says, which all its containers share */
	bool own_mount;			/* mount is ours, and has the same level */
};

/*
 * The label that the policy and the engine's own (the request's) make together.
 * -1 with *why where SELinux enforces and there can't be one, also because the
 * engine's has categories that are not one container's.
 */
int label_choose(const struct policy *p, const struct request *r, struct label *out, struct why *why);

/* The label that the container of this lease has.  -1 with *why. */
int label_of_lease(const struct lease *lease, struct label *out, struct why *why);

/*
 * Sees that the container can read, or write, the folders among the mounts, as
 * they are or will be labelled, and writes into the lease which they are.  -1 with
 * *why, which names a command.
 */
int label_folders(const struct label *l, const struct edits *e, struct lease *lease, struct why *why);

/*
 * Under the lock: gives it categories that no live lease has, nor more than
 * those or only some of those, and writes the label into the lease.  -1 with
 * *why where it has to have some that are another user's, or where a folder is
 * private to another container, or was to be private and another has it.
 */
int label_admit(struct label *l, const struct leases *ls, struct lease *lease, struct why *why);

/*
 * Sees that the container can use the host's node.  «alone»: it is the only one
 * that may: then the node is to get its categories, which becomes an act of the
 * lease, not yet done.  -1 with *why.
 */
int label_node(const struct label *l, int fd, const struct act *node, bool read_only, bool alone, struct lease *lease,
    struct why *why);

/*
 * The same for the host's node of a GPU that the container has alone, by another
 * node, which its runtime makes: so that nobody else uses it by the host's.
 */
int label_spare_node(const struct label *l, int fd, const struct act *node, struct lease *lease, struct why *why);

/* Gives the node of an act (pinned as fd) its label, if it has another one. */
int label_set(int fd, const struct act *a, struct why *why);
/* Gives it back the label that it had, if it has the act's. */
int label_reset(int fd, const struct act *a, struct why *why);

#endif
