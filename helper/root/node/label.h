/*
 * SELinux labels of a container with a grant: of its processes, of the file systems that its runtime mounts for it,
 * and of the device nodes and folders that it gets. If SELinux is absent, these functions do nothing.
 */
#ifndef GPUHELPER_ROOT_NODE_LABEL_H
#define GPUHELPER_ROOT_NODE_LABEL_H

#include "../../ask/labelquery.h"
#include "../../ask/request.h"
#include "../../host/selinux.h"
#include "../../lease/change.h"
#include "../../lease/edits.h"
#include "../../policy/policy.h"
#include "../lease/leaselist.h"

struct label {
	enum selinux_state state;	/* SELINUX_ABSENT: all other members are empty */
	struct secontext process;
	char text[SECONTEXT_MAX];	/* process, as text */
	char mount[SECONTEXT_MAX];	/* of its file systems; "": the label in its config.json may stay */
	bool drawn;			/* its categories are random: label_decide() may draw others */
	bool from_policy;			/* its level is the policy's, which all containers of that policy share */
	bool own_mount;			/* mount is our own label, with the same level */
};

/*
 * Chooses the container's label from its policy and from the label that the engine asks for (in the request).
 * -1 with *why: the engine's label is malformed, its categories are not one container's own, or the loaded SELinux
 * policy lacks the resulting label. Where SELinux is permissive, and the policy names no label, a label that the loaded
 * policy lacks is no error: *out is then as if SELinux were absent.
 */
int label_choose(const struct policy *p, const struct request *r, struct label *out, struct why *why);

/* Gets the label of the lease's container. 0, also where it has none. -1 with *why. */
int label_of_lease(const struct lease *lease, struct label *out, struct why *why);

/*
 * Checks that the container can read or write the folders among the mounts, with the labels that they have or that
 * «relabel» will give them. Adds each folder to the lease. -1 with *why, which names a command that helps.
 */
int label_folders(const struct label *l, const struct edits *e, struct lease *lease, struct why *why);

/*
 * Under the lock: makes sure that no live lease's categories include those of *l, or are included in them; draws
 * others if they are random. One user's leases, and one policy's, may share fixed ones. Writes the label into the
 * lease. -1 with *why: the categories are fixed and clash with those of another user's container, or a folder is
 * private to another container, or was to be private and another container has it.
 */
int label_decide(struct label *l, const struct leases *ls, struct lease *lease, struct why *why);

/*
 * Checks that the container can use the host's node, which is pinned as fd, so. With «alone» no other container may use
 * the node, nor through it the GPU, even if this one does not: the node is to get the container's categories, for which
 * a change is planned. -1 with *why.
 */
int label_node(const struct label *l, int fd, const struct change *node, enum label_use use, bool alone,
    struct changes *changes, struct why *why);

/* Begins a question about a path. */
void label_query_for(const struct label *l, enum label_verb verb, const char *path, struct label_query *out);

/* Gives the node (pinned as fd) this label, unless it has it. -1 with *why. */
int label_set(int fd, const char *path, const char *label, struct why *why);
/* Gives the node the label that it had before, «was», if it has the other one. -1 with *why. */
int label_reset(int fd, const char *path, const char *label, const char *was, struct why *why);

#endif
