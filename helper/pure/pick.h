/*
 * Which of the GPUs that a policy allows a container gets, given who holds what
 * and who waited before.  Values in, values out: the lock, the files and the
 * clock are helper/root/leaselist.c's.
 */
#ifndef GPUHELPER_PURE_PICK_H
#define GPUHELPER_PURE_PICK_H

#include <stdbool.h>
#include <stddef.h>

#include "gpu.h"
#include "jsonout.h"
#include "lines.h"

/*
 * A GPU that someone holds, by what survives a restart of anything: the physical
 * GPU, and which part of it.  «part» is "" for all of it, or decimal numbers
 * without leading zeros:
 *
 *	"3"	a partition of an AMD GPU (compute partitioning: several render
 *		nodes share a PCI address), as gpu_part() says
 *	"3"	a GPU instance of an NVIDIA GPU (MIG),
 *		/proc/driver/nvidia/capabilities/gpuN/mig/gi3
 *	"3:0"	a compute instance within it, …/gi3/ci0
 */
struct held_gpu {
	enum gpu_vendor vendor;
	char pci[16];
	char part[16];
	bool exclusive;
	unsigned limit;		/* of a shared one: most containers at a time; 0: no limit */
};

/* As it is written down (lines.h); what is none fails. */
void held_gpu_words(struct lines *s, struct held_gpu *g);
/* For people: «nvidia 0000:3b:00.0 part 3». */
void name_held_gpu(const struct held_gpu *g, char out[64]);
/* Several of them, as an array of JSON. */
void held_gpus_write(struct jsonout *j, const char *key, const struct held_gpu *gpu, size_t n);

/* What one container holds, or what is kept for one that waits. */
struct holding {
	const struct held_gpu *gpu;
	size_t gpus;
};

/* «count» of the candidates, each to be held as it says (exclusive, limit). */
struct pick_want {
	struct held_gpu *candidate;	/* in the order of preference: PCI address, part */
	size_t candidates;
	unsigned count;
};

struct pick {
	size_t want, candidate;
};

/* The same GPU or the same part of one, whoever holds it and how. */
bool held_same(const struct held_gpu *a, const struct held_gpu *b);

/* The same, or one of them is a part of the other: "" has all parts in it, "3" has "3:0". */
bool held_overlaps(const struct held_gpu *a, const struct held_gpu *b);

/* True if one of the GPUs is a candidate, a part of one, or what one is a part of. */
bool pick_wants_any(const struct pick_want *want, size_t wants, const struct held_gpu *gpu, size_t gpus);

/*
 * A GPU, or a part of one, has room if no one holds a part of it or what it is a
 * part of, shared or not; no one holds it exclusively, it is not to be held
 * exclusively while anyone holds it, and the number of its holders stays below
 * the smallest limit of all of them.
 */
bool pick_has_room(const struct holding *held, size_t n, const struct held_gpu *as);

/*
 * Picks for all wants: the least held first (of parts, each by itself), then in
 * the candidates' order; no two picks that overlap; wants that have no choice
 * before those that have.  At most «max» picks.  Returns true if every want is
 * satisfied; if not, picks[0, *picked) is what could be had.
 */
bool pick_gpus(const struct holding *held, size_t n, const struct pick_want *want, size_t wants, struct pick *picks,
    size_t max, size_t *picked);

#endif
