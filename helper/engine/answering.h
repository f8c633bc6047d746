/* The answers of gpuhelper-engine (ask/engineask.h). */
#ifndef GPUHELPER_ENGINE_ANSWERING_H
#define GPUHELPER_ENGINE_ANSWERING_H

#include "../ask/engineask.h"
#include "../host/driver/cdidirs.h"

/* What it has heard so far. Begins as zero; nothing frees it, because the program ends with it. */
struct answering {
	struct cdi_registry specs;
	struct inventory inventory;	/* with the names that the specs give */
	bool has_specs, has_names;
};

/* Takes the first question. 0, or -1 with *why; *malformed: because gpuhelper-read's answer is malformed. */
int answering_load_specs(struct answering *e, const char *question, size_t len, bool *malformed, struct why *why);

/* Answers any other question, which gives its inventory away. 0, or -1 with out->why. */
int answer_questions(struct answering *e, struct engine_ask *a, struct engine_answer *out);

#endif
