/*
 * The questions of the helper to gpuhelper-engine (root/child/engine.h), and the answers, as lines (lines.h) that begin
 * with the writer's version. Each function writes or reads a value; a value that was read must be freed in any case.
 */
#ifndef GPUHELPER_ASK_ENGINEASK_H
#define GPUHELPER_ASK_ENGINEASK_H

#include "../base/lines.h"
#include "../lease/edits.h"
#include "../policy/driverwant.h"
#include "../policy/settings.h"
#include "pickask.h"

/* The first is asked first; the others are about what it granted. */
enum engine_verb {
	ENGINE_AUTHZ,	/* what may this request have? authzask.h */
	ENGINE_NODES,	/* which extra nodes do GPUs have by their rules? Either picks the GPUs first, or is asked about some */
	ENGINE_EDITS,	/* the same, and all else that a container gets with the GPUs in addition to their nodes */
};

/*
 * Each message begins with one of these bytes. The helper sends a question, about a request (authzask.h) or about GPUs.
 * gpuhelper-engine sends the answer, or before that, while it answers about a request, questions for gpuhelper-judge:
 * the helper passes them on, and then what came back, or a reason. It reads only what comes back about the host's GPUs.
 */
enum {
	ENGINE_TAKES_REQUEST = 'r', ENGINE_TAKES_GPUS = 'g',
	ENGINE_ANSWERS = 'a', ENGINE_ASKS = 'j',
	ENGINE_ASKS_HOST = 'h',		/* about the host's GPUs: it wants the CDI specs, too, while the judge looks */
	ENGINE_HEARS = '+', ENGINE_FAILS = '-',
};

/* A file of specs, which gpuhelper-read has parsed, or why it was not. */
struct engine_spec {
	char *path;
	uint32_t dir;			/* the index of its directory */
	bool read;			/* its text was read; then gpuhelper-read's answer has it */
	struct strlist problems;
};

/* The CDI specs of this host: after ENGINE_ASKS_HOST it hears these first, and then the judge's answer. */
struct engine_specs {
	struct engine_spec *v;
	size_t n;
	struct strlist problems;	/* of directories */
	bool cached;			/* gpuhelper-read's answer was kept from an earlier request */
};

#define ENGINE_WANTS_MAX 64

/* A GPU, and the rule that gives it, by their indexes in the answer to ENGINE_AUTHZ. */
struct engine_want {
	uint32_t gpu, rule;
};

struct engine_ask {
	enum engine_verb verb;
	bool picks;			/* it is to pick the GPUs first, by «pick»; else «want» names them */
	struct pick_ask pick;
	struct engine_want *want;
	size_t wants;
};

struct engine_answer {
	bool other_version;		/* the writer has another version, so the rest is not read */
	bool heard;			/* all of it was read: «why» is an answer */
	struct why why;			/* WHY_NONE: the answer follows */
	struct pick_answer pick;	/* if it was to pick: also read if it picked, and «why» is of what comes after */
	struct gpu_node *node;		/* only paths and numbers */
	size_t nodes;
	struct edits edits;		/* ENGINE_EDITS: the driver's mounts, hooks, variables, notes; masked paths */
	struct strlist specs;		/* ENGINE_EDITS: paths of the specs that gave them */
};

#define ENGINE_SAYS_MAX (257U << 20)	/* a question for the judge (JUDGE_ASK_MAX), and a byte */
#define ENGINE_HEARS_MAX (261U << 20)	/* the specs, or an answer of the judge, and a byte */
#define ENGINE_ANSWER_MAX (4U << 20)	/* to ENGINE_NODES and ENGINE_EDITS */
#define ENGINE_MASKED_MAX 8192	/* some paths for each GPU and part of the host */

/*
 * Packs lines, and «len» bytes, as they are, after them. The caller frees the *size bytes; NULL if memory is short, or
 * was for the lines.
 */
char *pack_with(const struct buf *lines, const char *bytes, size_t len, size_t *size);
/* Finds both: *t reads the lines; *bytes points into the message. False if it is malformed. */
bool unpack_with(const char *message, size_t size, struct lines *t, const char **bytes, size_t *len);

void engine_specs_lines(struct lines *t, struct engine_specs *s);
void engine_specs_free(struct engine_specs *s);

void engine_ask_lines(struct lines *t, struct engine_ask *a);

/* picks: it was asked to pick. */
void engine_answer_lines(struct lines *t, enum engine_verb verb, bool picks, struct engine_answer *a);
void engine_answer_free(struct engine_answer *a);
#define autoengineanswer __attribute__((cleanup(engine_answer_free)))

/*
 * Checks what gpuhelper-engine says, as far as that can be checked without the host: paths are clean, nodes lie in
 * /dev, options are those of a driver's mounts, variables are not gpuhelper's. 0, or -1 with *why.
 */
int engine_answer_check(const struct engine_answer *a, struct why *why);

#endif
