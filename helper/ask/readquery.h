/*
 * Questions of the helper to gpuhelper-read (root/child/reader.h): files, as bytes. Both are of one build, so
 * numbers are sent as they are in memory. The answer is lines (parsed.h) that begin with the writer's version.
 */
#ifndef GPUHELPER_ASK_READQUERY_H
#define GPUHELPER_ASK_READQUERY_H

#include "../base/lines.h"
#include "../base/why.h"

enum read_verb {
	READ_POLICIES,	/* first gpuhelper.conf, empty if missing; then the policies */
	READ_SPECS,	/* CDI specs; their names tell JSON from YAML */
};

#define READ_VERSION_MAX 16

/*
 * The head of a question. For each file follow the length of its text (64 bits), its name with NUL, and its
 * text with NUL.
 */
struct read_head {
	char version[READ_VERSION_MAX];
	uint32_t verb, files;
};

struct read_file {
	const char *name, *text;	/* the text is terminated */
	size_t len;
};

struct read_query {
	enum read_verb verb;
	struct read_file *file;		/* freed by the caller, but not the texts in it */
	size_t files;
};

/* The descriptor over which gpuhelper-read is asked: a stream socket. */
#define READ_CHANNEL 3

#define READ_QUERY_MAX (1U << 30)
#define READ_ANSWER_MAX (256U << 20)

/* Packs the question. The caller frees the *len bytes; NULL if memory is short. */
char *read_query_pack(const struct read_query *a, size_t *len);

/*
 * The first line of an answer: the version, and what is wrong ("": nothing, and the answer follows). Reading,
 * false with *why for another version or if something is wrong.
 */
bool read_answer_begin(struct lines *t, char *wrong, size_t size, struct why *why);

/* Used by both readers. */
int read_refuse_version(struct why *why);

#endif
