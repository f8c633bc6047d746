/*
 * Picks the GPUs that a container gets from those that its policy allows, by what is held. Knows no queue: the caller
 * passes GPUs that are reserved for earlier requests as held (helper/engine/allocate.c, reserve_for()). Computes only:
 * helper/root/lease/leaselist.c has the lock, the files and the clock.
 */
#ifndef GPUHELPER_GPU_PICK_H
#define GPUHELPER_GPU_PICK_H

#include <stdbool.h>
#include <stddef.h>

#include "../base/lines.h"
#include "../json/jsonout.h"
#include "gpu.h"

/*
 * A held GPU, identified by what stays the same over any restart: the physical GPU, and the part of it.
 * «part» is "" for the whole, or decimal numbers without leading zeros:
 *
 * "3": a partition of an AMD GPU (several render nodes share its PCI address), as by gpu_part();
 * "3": a GPU instance of an NVIDIA GPU (MIG), /proc/driver/nvidia/capabilities/gpuN/mig/gi3;
 * "3:0": a compute instance in it, .../gi3/ci0
 */
struct leased_gpu {
	enum gpu_vendor vendor;
	char pci[16];
	char part[16];
	bool exclusive;
	unsigned limit;		/* of a shared one: most containers at a time; 0: any number */
};

/* Reads or writes a struct leased_gpu as fields, for lines_members() (lines.h). */
void leased_gpu_fields(struct lines *s, void *gpu);
/* Names a held GPU for people: «nvidia 0000:3b:00.0 part 3». */
void name_leased_gpu(const struct leased_gpu *g, char out[64]);
/* Writes several as a JSON array. */
void leased_gpus_write(struct jsonout *j, const char *key, const struct leased_gpu *gpu, size_t n);

/* What one container holds, or what is reserved for an earlier request. */
struct holding {
	const struct leased_gpu *gpu;
	size_t gpus;
};

#define CANDIDATES_MAX 64	/* of one demand; no grant has more (policy/policygrant.h) */

/* «count» of the candidates, to be held as each says (exclusive, limit). */
struct gpu_demand {
	struct leased_gpu *candidate;	/* in order of preference: PCI address, part */
	size_t candidates;
	unsigned count;
};

struct pick {
	size_t demand, candidate;
};

/* True for the same GPU or part, regardless of holder and sharing. */
bool leased_gpu_same(const struct leased_gpu *a, const struct leased_gpu *b);

/* True if they are the same, or one contains the other: "" contains all parts, "3" contains "3:0". */
bool leased_gpus_overlap(const struct leased_gpu *a, const struct leased_gpu *b);

/* True if one of the GPUs is a candidate, is in one, or contains one. */
bool gpu_demands_any(const struct gpu_demand *demand, size_t demands, const struct leased_gpu *gpu, size_t gpus);

/*
 * Counts the holders of the GPU, of a part of it, or of a whole that it is a part of. *exclusive: one of them allows no
 * other holder. *limit: the smallest of their limits (0: none).
 */
unsigned holders_of(const struct holding *held, size_t n, const struct leased_gpu *g, bool *exclusive, unsigned *limit);

/*
 * True if the GPU or part has room: nobody holds a part of it or a whole that contains it, shared or not;
 * nobody holds it exclusively; if it is to be held exclusively, nobody holds it at all; and its holders stay
 * below the smallest of all limits.
 */
bool pick_has_room(const struct holding *held, size_t n, const struct leased_gpu *as);

#endif
