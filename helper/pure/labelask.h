/*
 * What the helper asks gpuhelper-label (root/labeller.h), as bytes: both are of one installation, so numbers stand as
 * they lie in memory. After a question about a folder, with a byte of their own (SCM_RIGHTS in unix(7)), come the
 * folder's descriptor and that of the process that asked (pidfd_open(2)).
 */
#ifndef GPUHELPER_PURE_LABELASK_H
#define GPUHELPER_PURE_LABELASK_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "secontext.h"
#include "why.h"

#define LABEL_VERSION_MAX 16
#define LABEL_DESCRIPTORS 2
#define LABEL_FOLDERS_MAX 1024	/* of one container, that are to be relabelled */

/* What a process would like to do with something, by the name of which permissions of SELinux (label/loaded.c). */
enum label_use {
	LABEL_READ_NODE,
	LABEL_USE_NODE,
	LABEL_READ_FOLDER,
	LABEL_WRITE_FOLDER,
};

struct label_ask {
	char version[LABEL_VERSION_MAX];	/* GPUHELPER_VERSION of who asks */
	enum label_verb {
		LABEL_IS_VALID,		/* is «object» a label of the loaded policy?  The answer has its own spelling */
		LABEL_LETS,		/* may a process of label «who» do that with something of label «object»? */
		LABEL_LOOK,		/* through a folder, which is then known by its number: 0, 1, ... */
		LABEL_CHANGE,		/* label the folder of that number, whose descriptor comes along again */
	} verb;
	enum label_use use;	/* for LABEL_LETS */
	enum relabel relabel;	/* from here on for LABEL_LOOK */
	uint32_t enforced;	/* 1: SELinux holds to it */
	uint32_t ms;		/* that it may take; for LABEL_CHANGE, too */
	uint32_t folder;	/* for LABEL_CHANGE: its number */
	char who[SECONTEXT_MAX];	/* for LABEL_LOOK: the level of the container, and nothing else */
	char object[SECONTEXT_MAX];
	char path[PATH_MAX];	/* of the folder, for words alone: nothing is opened by it */
};

struct label_answer {
	char version[LABEL_VERSION_MAX];
	int yes;		/* 1: it is, may, or is done; 0: not; -1: it can't be known, or is refused: why */
	uint32_t wrong;		/* LABEL_LOOK: entries that another label is due to, at most UINT32_MAX */
	char label[SECONTEXT_MAX];	/* LABEL_IS_VALID, where it is one */
	struct why why;
};

/*
 * Sees that the bytes are an answer of this version; all its texts end then. False with *why.  For questions:
 * label/question.h.
 */
bool label_answer_read(const char *bytes, size_t len, struct label_answer *out, struct why *why);

/* A question with nothing in it but the version and the verb. */
void label_ask_begin(struct label_ask *a, enum label_verb verb);

/*
 * What both ways of reading begin with: a message of «size» bytes, which has the version first.  False with *why, which
 * says what to do about another version.
 */
bool label_message_read(const char *bytes, size_t len, void *out, size_t size, struct why *why);

static inline bool
label_text_ends(const char *text, size_t size)
{
	return memchr(text, '\0', size) != NULL;
}

#endif
