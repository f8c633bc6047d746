/*
 * Questions of the helper to gpuhelper-label (root/child/labeller.h). Both are of one installation, so members are
 * sent as they are in memory. After a question about a folder, one byte of its own carries the descriptors
 * (SCM_RIGHTS in unix(7)) of the folder and of the process that asked (pidfd_open(2)).
 */
#ifndef GPUHELPER_ASK_LABELQUERY_H
#define GPUHELPER_ASK_LABELQUERY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../base/why.h"
#include "../kernel/secontext.h"

#define LABEL_VERSION_MAX 16
#define LABEL_DESCRIPTORS 2
#define LABEL_FOLDERS_MAX 1024	/* to relabel for one container */

/* How a process will use an object; label/loaded.c has SELinux's permissions for each. */
enum label_use {
	LABEL_NO_USE,		/* of a node: the container has one of its own, or none */
	LABEL_READ_NODE,
	LABEL_USE_NODE,
	LABEL_READ_FOLDER,
	LABEL_WRITE_FOLDER,
};

struct label_query {
	char version[LABEL_VERSION_MAX];	/* GPUHELPER_VERSION of the helper */
	enum label_verb {
		LABEL_IS_VALID,		/* are «who» and «object» labels of the loaded policy? */
		/* may a process with label «who» do «use» to a node or folder with label «object», once that is relabelled? */
		LABEL_LETS,
		LABEL_WALK,		/* walk a folder, change nothing; it then has the next number, from 0 on */
		LABEL_CHANGE,		/* relabel the folder of that number, whose descriptor is sent again */
	} verb;
	enum label_use use;	/* for LABEL_LETS */
	enum relabel relabel;	/* for LABEL_LETS and LABEL_WALK; RELABEL_PRIVATE: one container has the node alone */
	uint32_t enforcing;	/* likewise; 1: SELinux enforces */
	uint32_t ms;		/* time limit, also for LABEL_CHANGE */
	uint32_t folder;	/* LABEL_CHANGE: the folder's number */
	char who[SECONTEXT_MAX];	/* label of the container's processes; not for LABEL_CHANGE */
	char object[SECONTEXT_MAX];
	char path[PATH_MAX];	/* of the node or folder, for messages only: must never be opened */
};

struct label_answer {
	char version[LABEL_VERSION_MAX];
	/* 1: yes, or done; 0: no, or of LABEL_LETS: the node is to stay as it is; -1: unknown or refused, with why */
	int yes;
	uint32_t wrong;		/* LABEL_WALK: entries with a wrong label, at most UINT32_MAX */
	/* LABEL_IS_VALID: the canonical spelling of «who», or after a no, which one; LABEL_LETS: the object's, relabelled */
	char label[SECONTEXT_MAX];
	struct why why;
};

/*
 * Checks that the bytes are an answer of this version, and terminates its texts. False with *why. For
 * questions see label/labelquestion.h.
 */
bool label_answer_read(const char *bytes, size_t len, struct label_answer *out, struct why *why);

/* Makes a question with only version and verb. */
void label_query_begin(struct label_query *a, enum label_verb verb);

/*
 * Copies a message of «size» bytes that begins with the version. False with *why, which says what to do about
 * another version.
 */
bool label_message_read(const char *bytes, size_t len, void *out, size_t size, struct why *why);

static inline bool
label_text_ends(const char *text, size_t size)
{
	return memchr(text, '\0', size) != NULL;
}

#endif
