/* What each GPU of this host is at: free, or with whom. */
#ifndef GPUHELPER_CTL_GPUSTATE_H
#define GPUHELPER_CTL_GPUSTATE_H

#include <jansson.h>

#include "../pure/drained.h"
#include "../pure/settings.h"

/* The states, as gpuhelperctl(8) has them. */
enum gpu_state {
	GPU_FREE,
	GPU_HELD,
	GPU_IDLE,
	GPU_DRAINING,
	GPU_OUT_OF_SERVICE,
	GPU_SICK,
	GPU_MIG,		/* is given as its MIG instances */
	GPU_UNKNOWN,		/* who asks may not see others' leases */
	GPU_STATES,
};

const char *gpu_state_name(enum gpu_state s);

/*
 * The leases are those of helper_status(); which GPUs are drained root alone can see, NULL for others; the host's GPUs
 * and what its settings say of them.
 */
struct gpu_view {
	const json_t *leases;
	const struct drained *drained;
	const struct inventory *inv;
	const struct settings *settings;
};

/* Why no container gets this GPU, whatever policies say; NULL if one may. */
const char *gpu_never_given(const struct gpu *g, const struct settings *settings);

/* The list of drained GPUs, for who may read it.  drained_free(). */
void gpu_view_drained(struct drained *out);
/* Adds «drained» or «sick» to what is told of the GPU, if the list (NULL: there is none) has it. */
void gpu_put_drained(json_t *j, const struct drained *list, const struct inventory *inv, const struct gpu *g);
/* What such a list says of a GPU: held_gpu is its name there. */
struct held_gpu gpu_as_held(const struct inventory *inv, const struct gpu *g);

/* Who holds the GPU: its leases, borrowed, in a new array. */
json_t *gpu_holders(const struct gpu_view *v, const struct gpu *g);
enum gpu_state gpu_state_now(const struct gpu_view *v, const struct gpu *g);

/* All of them as «status --json» has them; a new reference. */
json_t *gpu_states_json(const struct gpu_view *v);
/* A line for each of these. */
void gpu_states_say(const json_t *states);

#endif
