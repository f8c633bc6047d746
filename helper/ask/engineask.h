/*
 * The questions of the helper to gpuhelper-engine (root/child/engine.h), and the answers, as lines (lines.h) that begin
 * with the writer's version. No question has a word of a stranger. Each function writes or reads a value; a value that
 * was read must be freed in any case.
 */
#ifndef GPUHELPER_ASK_ENGINEASK_H
#define GPUHELPER_ASK_ENGINEASK_H

#include "../base/lines.h"
#include "../lease/edits.h"
#include "../policy/driverwant.h"
#include "../policy/settings.h"

/* In this order; each is asked once, except ENGINE_NODES and ENGINE_EDITS. */
enum engine_verb {
	ENGINE_SPECS,	/* the CDI specs of this host; engine_specs_pack() makes this question */
	ENGINE_NAMES,	/* which of the GPUs do the specs name, and how? */
	ENGINE_NODES,	/* which extra nodes do these GPUs have by their rules? */
	ENGINE_EDITS,	/* the same, and all else that a container gets with the GPUs in addition to their nodes */
};

/* A file of specs, which gpuhelper-read has parsed, or why it was not. */
struct engine_spec {
	char *path;
	uint32_t dir;			/* the index of its directory */
	bool read;			/* its text was read; then gpuhelper-read's answer has it */
	struct strlist problems;
};

struct engine_specs {
	struct engine_spec *v;
	size_t n;
	struct strlist problems;	/* of directories */
};

#define ENGINE_WANTS_MAX 64

struct engine_want {
	uint32_t gpu;			/* its index in the inventory of ENGINE_NAMES */
	struct gpu_rule rule;		/* borrowed when written, owned when read */
};

struct engine_ask {
	enum engine_verb verb;
	struct inventory inventory;	/* ENGINE_NAMES: without the majors of drivers, which gpuhelper-engine reads itself */
	enum driver_files driver_files;	/* ENGINE_EDITS, as in gpuhelper.conf */
	bool cdi_hooks;			/* likewise */
	struct engine_want *want;	/* ENGINE_NODES, ENGINE_EDITS */
	size_t wants;
};

struct engine_answer {
	bool other_version;		/* the writer has another version, so the rest is not read */
	struct why why;			/* WHY_NONE: the answer follows */
	bool malformed;			/* ENGINE_SPECS: gpuhelper-read's answer is malformed, as «why» says */
	struct inventory names;		/* ENGINE_NAMES: only names and problems (inventory_names_lines()) */
	struct gpu_node *node;		/* ENGINE_NODES, ENGINE_EDITS: only paths and numbers */
	size_t nodes;
	struct edits edits;		/* ENGINE_EDITS: the driver's mounts, hooks, variables, notes; masked paths */
	struct strlist specs;		/* ENGINE_EDITS: paths of the specs that gave them */
};

#define ENGINE_SPECS_MAX (260U << 20)	/* gpuhelper-read's answer, and the list of the specs */
#define ENGINE_ANSWER_MAX (4U << 20)
#define ENGINE_MASKED_MAX 8192	/* some paths for each GPU and part of the host */

/*
 * The first question: the list of the specs, and the answer of gpuhelper-read («len» bytes, as they are). The caller
 * frees the *size bytes; NULL if memory is short.
 */
char *engine_specs_pack(struct engine_specs *s, const char *answer, size_t len, size_t *size);
/*
 * Reads it. *answer points into the question. False if it is not one of this version. engine_specs_free() in any
 * case.
 */
bool engine_specs_unpack(const char *question, size_t size, struct engine_specs *s, const char **answer, size_t *len);
void engine_specs_free(struct engine_specs *s);
/* Used by both: the list alone. */
void engine_specs_lines(struct lines *t, struct engine_specs *s);

void engine_ask_lines(struct lines *t, struct engine_ask *a);
void engine_ask_free(struct engine_ask *a);	/* one that was read */

/* gpus: of the inventory that the question was about. */
void engine_answer_lines(struct lines *t, enum engine_verb verb, size_t gpus, struct engine_answer *a);
void engine_answer_free(struct engine_answer *a);
#define autoengineanswer __attribute__((cleanup(engine_answer_free)))

/*
 * Checks what gpuhelper-engine says, as far as that can be checked without the host: names are CDI names, paths are
 * clean, nodes lie in /dev, options are those of a driver's mounts, variables are not gpuhelper's. 0, or -1 with *why.
 */
int engine_answer_check(const struct engine_answer *a, struct why *why);

#endif
