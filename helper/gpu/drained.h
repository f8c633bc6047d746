/*
 * The list of GPUs that are out of service until somebody puts them back into service. «gpuhelperctl drain» writes it
 * to the helper's state, as lines (lines.h). Computes only.
 */
#ifndef GPUHELPER_GPU_DRAINED_H
#define GPUHELPER_GPU_DRAINED_H

#include <stdint.h>

#include "drainedfile.h"
#include "pick.h"

#define DRAINED_MAX 128			/* GPUs */
#define DRAINED_WHY 128			/* bytes of a reason, including its NUL */

struct drained_gpu {
	struct leased_gpu gpu;	/* exclusive: nobody shares it */
	int64_t since;		/* seconds since 1970 */
	bool sick;		/* set by «gpuhelperctl health», until a reboot; else an administrator drained it */
	char why[DRAINED_WHY];	/* the reason; "": none given */
};

struct drained {
	struct drained_gpu *v;
	size_t n;
};

/* The file's text, which the caller frees. NULL if memory is short. */
char *drained_encode(const struct drained *d);
/* Reads the text. 0, or -1 with *why, and *d empty. The caller calls drained_free() in any case. */
int drained_decode(const char *text, size_t len, struct drained *d, struct why *why);
/* As lines (lines.h): writes the list, or reads it back.  False: it is no list of this version, or no memory. */
bool drained_lines(struct lines *s, struct drained *d);

/* Refuses a list that could not be read for this reason: names the file, and what to do. Always -1. */
int drained_refuse(const struct why *bad, struct why *why);
void drained_free(struct drained *d);
#define autodrained __attribute__((cleanup(drained_free)))

/* The entry of this GPU, of the GPU that it is a part of, or of a part of it. NULL if it is in service. */
const struct drained_gpu *drained_find(const struct drained *d, const struct leased_gpu *g);

#endif
