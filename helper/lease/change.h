/*
 * Changes to device nodes of the host. Each is done for a lease, and undone with the last lease that has it
 * (ledgerfile.h).
 */
#ifndef GPUHELPER_LEASE_CHANGE_H
#define GPUHELPER_LEASE_CHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/text.h"
#include "../kernel/secontext.h"

struct change {
	enum change_kind {
		CHANGE_MAKE_NODE,		/* the node itself */
		CHANGE_ALLOW_USER,		/* an ACL entry «user:id:rw» on a node */
		CHANGE_ALLOW_GROUP,	/* likewise «group:id:rw» */
		CHANGE_LABEL,		/* a node's SELinux label */
	} kind;
	char path[64];			/* of the node, beneath /dev */
	uint32_t major, minor;
	uint32_t id;			/* uid or gid of the host; 0 but for entries */
	char label[SECONTEXT_MAX];	/* the new label; "" but for CHANGE_LABEL */
	bool shared;			/* CHANGE_MAKE_NODE: the node was made for another lease, and this lease shares it */
};

extern const char *const change_kinds[];	/* «make node», «allow user» */

/* The changes that a plan needs. Begins as zero. */
struct changes {
	struct change *v;
	size_t n;
};

/* True if a change of this kind adds to a node's ACL. */
bool change_is_acl(enum change_kind kind);

/* Adds a copy, unless the same change is there. False if memory is short. */
bool changes_add(struct changes *all, const struct change *a);
/* Adds a line for each: «allow user 1000 /dev/nvidia0», «make node /dev/nvidiactl». False if memory is short. */
bool changes_describe(const struct changes *all, struct strlist *out);
/* True if a node is still to be made. */
bool changes_make_any(const struct changes *all);
/* Keeps the changes that make nodes, and drops the others. */
void changes_keep_nodes(struct changes *all);
void changes_free(struct changes *all);

#endif
