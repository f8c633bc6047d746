/* The state of each GPU of this host: free, held by which containers, or out of service. */
#ifndef GPUHELPER_CTL_GPUS_GPUSTATE_H
#define GPUHELPER_CTL_GPUS_GPUSTATE_H

#include <jansson.h>

#include "../../gpu/drained.h"
#include "../../policy/settings.h"

/* The states; gpuhelperctl(8) describes them. */
enum gpu_state {
	GPU_FREE,
	GPU_HELD,
	GPU_IDLE,
	GPU_RELEASING,
	GPU_OUT_OF_SERVICE,
	GPU_SICK,
	GPU_MIG,		/* is granted by MIG instance */
	GPU_UNKNOWN,		/* this user may not see the leases of others */
	GPU_STATES,
};

const char *gpu_state_name(enum gpu_state s);

/*
 * What the state depends on; all borrowed.  leases: as in helper_status().  drained: NULL for others than root, who
 * can't read the list.
 */
struct gpu_view {
	const json_t *leases;
	const struct drained *drained;
	const struct inventory *inv;
	const struct settings *settings;
	bool all;		/* the leases are those of all users: root asked for them */
};

/* Why no container may get this GPU, whatever the policies say; NULL if containers may. */
const char *gpu_never_given(const struct gpu *g, const struct settings *settings);

/*
 * Reads the list of drained GPUs; leaves *out empty for others than root.  Reports a broken list, with which the helper
 * grants nothing.  The caller calls drained_free().
 */
void gpu_view_drained(struct drained *out);
/* Adds the member «drained» or «sick» if the GPU is in the list, which may be NULL. */
void gpu_put_drained(json_t *j, const struct drained *list, const struct inventory *inv, const struct gpu *g);
/* The GPU as such a list names it. */
struct leased_gpu gpu_as_leased(const struct inventory *inv, const struct gpu *g);

/* A new array of the leases that hold the GPU; the leases themselves are shared with v->leases. */
json_t *gpu_holders(const struct gpu_view *v, const struct gpu *g);
/* The GPU's state. */
enum gpu_state gpu_state_now(const struct gpu_view *v, const struct gpu *g);

/* All GPUs in the form of «status --json»; a new reference. */
json_t *gpu_states_json(const struct gpu_view *v);
/* Prints these as a table, and what «unknown» means. */
void gpu_states_say(const json_t *states);

#endif
