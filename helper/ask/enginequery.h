/*
 * The questions of the helper to gpuhelper-engine (root/child/engine.h), and the answers, as lines (lines.h) that begin
 * with the writer's version. Each function writes or reads a value; a value that was read must be freed in any case.
 */
#ifndef GPUHELPER_ASK_ENGINEQUERY_H
#define GPUHELPER_ASK_ENGINEQUERY_H

#include "../base/lines.h"
#include "../lease/edits.h"
#include "../policy/grantedgpu.h"
#include "../policy/settings.h"
#include "pickquery.h"

/* The first is asked first; the others are about what it granted. */
enum engine_verb {
	ENGINE_AUTHZ,	/* what may this request have? authzquery.h */
	ENGINE_NODES,	/* which nodes do CDI specs add for GPUs? It picks the GPUs first, or the question names them */
	ENGINE_EDITS,	/* the same, and all else that a container gets with the GPUs in addition to their nodes */
};

/*
 * Each message begins with one of these bytes. The helper sends a question, about a request (authzquery.h) or about
 * GPUs. gpuhelper-engine sends the answer, or before that, while it answers about a request, questions for
 * gpuhelper-judge: the helper passes them on, and then what came back, or a reason. It reads only what comes back about
 * the host's GPUs.
 */
enum {
	ENGINE_TAKES_REQUEST = 'r', ENGINE_TAKES_GPUS = 'g',
	ENGINE_ANSWERS = 'a', ENGINE_ASKS = 'j',
	ENGINE_ASKS_HOST = 'h',		/* about the host's GPUs: it wants the CDI specs, too, while the judge looks */
	ENGINE_HEARS = '+',
	ENGINE_HEARS_NOTHING = '-',	/* why no answer came from gpuhelper-judge, or no specs */
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

#define ENGINE_GPUS_MAX 64
#define ENGINE_LINE_MAX 512	/* bytes, with the terminating 0 */

/* A GPU, by its place in the judge's report, and the rule that gives it, by its index in the policy that grants. */
struct granted_index {
	uint32_t gpu, rule;
};

struct engine_query {
	enum engine_verb verb;
	bool picks;			/* it is to pick the GPUs first, by «pick»; else «granted» names them */
	struct pick_query pick;
	struct granted_index *granted;
	size_t grants;
	bool cuda_bound, rocr_bound;	/* CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES of a workload manager number the GPUs */
	struct edit_mount *folder;	/* the container's folders: only source and target */
	size_t folders;
};

struct engine_answer {
	bool other_version;		/* the writer has another version, so the rest is not read */
	bool heard;			/* all of it was read: «why» is an answer */
	struct why why;			/* WHY_NONE: the answer follows */
	struct pick_answer pick;	/* if it was to pick: also read if it picked, and «why» is of what comes after */
	struct gpu_node *node;		/* only paths and numbers */
	size_t nodes;
	struct strlist env;		/* ENGINE_NODES: variables of a task that gets picks */
	char line[ENGINE_LINE_MAX];	/* ENGINE_NODES: which GPUs it gets, for its log */
	struct driver_edits driver;	/* ENGINE_EDITS */
};

#define ENGINE_SAYS_MAX (257U << 20)	/* a question for the judge (JUDGE_QUERY_MAX), and a byte */
#define ENGINE_ANSWER_MAX (4U << 20)	/* to ENGINE_NODES and ENGINE_EDITS */

/*
 * Packs lines, and «len» bytes, as they are, after them. The caller frees the *size bytes; NULL if memory is short, or
 * was for the lines.
 */
char *pack_with(const struct buf *lines, const char *bytes, size_t len, size_t *size);

void engine_specs_lines(struct lines *t, struct engine_specs *s);

void engine_query_lines(struct lines *t, struct engine_query *a);

/* picks: it was asked to pick. */
void engine_answer_lines(struct lines *t, enum engine_verb verb, bool picks, struct engine_answer *a);
void engine_answer_free(struct engine_answer *a);
#define autoengineanswer __attribute__((cleanup(engine_answer_free)))

/*
 * Checks what gpuhelper-engine says, as far as that can be checked without the host: paths are clean, nodes lie in
 * /dev. What the container gets for its driver is unread: the wrapper checks that (driveredits.h). 0, or -1 with *why.
 */
int engine_answer_check(const struct engine_answer *a, struct why *why);

#endif
