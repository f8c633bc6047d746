/*
 * The helper's reply: a decision, and for a grant the vetted changes to
 * config.json.  Made by root, merged by the wrapper.  The «containerEdits»
 * member has the names of the CDI specification 1.1.0; what CDI has no word for
 * stands beside it.
 */
#ifndef GPUHELPER_PURE_EDITS_H
#define GPUHELPER_PURE_EDITS_H

#include <stdbool.h>
#include <stdint.h>

#include "chore.h"
#include "secontext.h"
#include "text.h"
#include "why.h"

struct edit_node {
	char path[64];			/* same on the host and in the container */
	uint32_t major, minor;		/* of a character device */
	uint32_t mode, uid, gid;	/* the host node's, mode without the file type */
};

struct edit_mount {
	char *source, *target;
	char *place;			/* of a granted folder, what root saw there: file system and path in it (way.h); else NULL */
	struct strlist options;
	bool driver;			/* one of the driver's files (not in the reply's text) */
	enum relabel relabel;		/* its SELinux label is to be made new (root's; likewise) */
};

/* A program that the runtime runs for the container (OCI's config.md, «POSIX-platform Hooks»). */
struct edit_hook {
	char *when;			/* "createContainer" */
	char *path;			/* root's program */
	struct strlist args, env;	/* env is all that it gets of one */
	uint32_t timeout;		/* seconds; 0: none */
};

struct edits {
	struct edit_node *node;
	size_t nodes;
	bool nodes_bound;		/* the wrapper's: they are among the mounts, too (not in the reply's text) */
	struct edit_mount *mount;
	size_t mounts;
	struct edit_hook *hook;
	size_t hooks;
	struct strlist env;		/* "NAME=value" */
	uint32_t gid[64];		/* supplementary groups, ids inside */
	size_t gids;
	struct strlist masked;		/* paths of the container's /proc to hide */
	char *label, *mount_label;	/* process.selinuxLabel, linux.mountLabel; NULL: as they are */
};

enum reply_kind {
	REPLY_GRANT,	/* merge the edits, answer with WIRE_DONE, go on */
	REPLY_PLAIN,	/* nothing is granted, nothing was asked for: go on as plain */
	REPLY_NOTED,	/* looked, or written down */
	REPLY_REFUSED,	/* no container */
	REPLY_BUSY,	/* all GPUs are taken: ask again for up to «wait» seconds */
	REPLY_KINDS
};
extern const char *const reply_kinds[REPLY_KINDS];	/* as the reply has them */

#define REPLY_LINE_MAX 512

struct reply {
	enum reply_kind kind;
	struct why why;			/* REPLY_REFUSED, REPLY_BUSY */
	unsigned wait, ahead;		/* REPLY_BUSY: seconds in all; how many wait before this one */
	char policy[256];		/* REPLY_GRANT: name of the file that granted */
	struct edits edits;		/* REPLY_GRANT */
	char *status;			/* REPLY_NOTED, to VERB_STATUS: JSON, of «leases» and «waiters»; else NULL */
	char line[REPLY_LINE_MAX];	/* REPLY_NOTED, to VERB_EXEC: what is to be told to the user; "": nothing */
	struct chores chores;		/* REPLY_NOTED, REPLY_BUSY: to be done before the next asking, or before the exec */
};

/* The reply as JSON, which the caller frees; NULL: no memory, or something is not UTF-8. */
char *reply_encode(const struct reply *r);
/* Reads it back; the wrapper runs it on what the helper wrote. */
int reply_decode(const char *text, size_t len, struct reply *r, struct why *why);
void reply_free(struct reply *r);
#define autoreply __attribute__((cleanup(reply_free)))

bool edits_add_node(struct edits *e, const struct edit_node *n);
/* Takes no ownership; options end with NULL. */
bool edits_add_mount(struct edits *e, const char *source, const char *target, const char *const *options);
/* Adds "NAME=value", unless there is one of this name: what comes first stays.  False: no memory. */
bool edits_add_env(struct edits *e, const char *entry);
/* A new hook to be filled in, valid until the next one is added; NULL: no memory. */
struct edit_hook *edits_add_hook(struct edits *e);
/* Mounts in the order of their targets' depth, so that a parent never covers its child. */
void edits_sort_mounts(struct edits *e);
/* The groups that the container gets, as an array of JSON. */
void edits_write_groups(struct jsonout *j, const char *key, const struct edits *e);
void edits_free(struct edits *e);

#endif
