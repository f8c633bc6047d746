/*
 * What the helper asks gpuhelper-read (root/reader.h): files, as bytes.  Both are of one build, so numbers stand as
 * they lie in memory; the answer is lines (table.h) that begin with the version of who wrote them.
 */
#ifndef GPUHELPER_PURE_READASK_H
#define GPUHELPER_PURE_READASK_H

#include "lines.h"
#include "why.h"

enum read_verb {
	READ_POLICIES,	/* the first file is gpuhelper.conf, empty where there is none; the others are policies */
	READ_SPECS,	/* CDI specs, by names that tell JSON from YAML */
};

#define READ_VERSION_MAX 16

/*
 * What a question begins with.  For each file follow the length of its text (64 bits), its name and NUL, its text and
 * NUL.
 */
struct read_head {
	char version[READ_VERSION_MAX];
	uint32_t verb, files;
};

struct read_file {
	const char *name, *text;	/* the text has a NUL after its end */
	size_t len;
};

struct read_ask {
	enum read_verb verb;
	struct read_file *file;		/* freed by the caller; what it points to is not */
	size_t files;
};

#define READ_ASK_MAX (1U << 30)
#define READ_ANSWER_MAX (256U << 20)

/* The bytes, *len of them, which the caller frees; NULL: no memory. */
char *read_ask_pack(const struct read_ask *a, size_t *len);

/*
 * The first line of an answer: the version, and what is wrong ("": nothing, and the answer goes on).  Reading, false
 * with *why for another version, and for what is wrong.
 */
bool read_answer_begin(struct lines *t, char *wrong, size_t size, struct why *why);

/* What both ways of reading share. */
bool read_version_is_ours(const char version[READ_VERSION_MAX]);
int read_refuse_version(struct why *why);

#endif
