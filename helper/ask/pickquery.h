/*
 * By what gpuhelper-engine picks GPUs for a request (engine/allocate.h): what the helper has read of leases and of the
 * queue, under the lock on the leases. The answer is indexes into the question.
 */
#ifndef GPUHELPER_ASK_PICKQUERY_H
#define GPUHELPER_ASK_PICKQUERY_H

#include <sys/types.h>

#include "../lease/leasefile.h"
#include "../policy/policygrant.h"

#define GPUS_MAX 64		/* of one container */

/* A container that holds GPUs, by its lease. */
struct holder {
	char key[LEASE_KEY_SIZE];
	uint32_t uid;
	char *id, *pipeline, *policy;
	int64_t since;		/* seconds since 1970 */
	uint32_t counts;	/* how many of its GPUs count for its policy's quota */
	struct leased_gpu *gpu;
	size_t gpus;
};

/* A request that goes first. */
struct earlier {
	char key[LEASE_KEY_SIZE];	/* of the lease that it has, or would get */
	uint32_t uid;
	char *id, *pipeline, *policy;
	int64_t since;
	uint32_t max_gpus;	/* that all containers of the policy hold at once; 0: any number */
	struct gpu_demand *demand;
	size_t demands;
};

/* A GPU that a process has open without a lease (root/grant/gpuopeners.h). Nobody gets it exclusively. */
struct gpu_opener {
	struct leased_gpu gpu;
	pid_t pid;		/* the process; -pid if it only may have the GPU open (look/nodeopeners.h) */
};

struct gpu_openers {
	struct gpu_opener *v;
	size_t n;
};

/* The GPUs that may be picked for one demand of the grant, by their places in the judge's report. */
struct pick_from {
	uint32_t gpu[CANDIDATES_MAX];
	size_t n;
};

struct pick_query {
	char key[LEASE_KEY_SIZE];
	uint32_t uid;		/* who asks */
	char *pipeline;		/* of the container */
	bool task;		/* a task asks: the text of a refusal is for its log */
	uint32_t waited;	/* seconds */
	char *drained;		/* the list of drained GPUs, as the file has it (gpu/drained.h); NULL: there is none */
	struct pick_from *from;	/* for each demand of the grant */
	size_t demands;
	struct holder *holder;	/* of leases that concern the request */
	size_t holders;
	struct earlier *earlier;	/* in their order */
	size_t before;
	struct gpu_openers openers;
};

struct pick_answer {
	bool picked;		/* else «why» of the answer says why not */
	bool in_quota;		/* max_gpus of the policy allows what is wanted beside what its containers hold */
	struct pick *v;		/* by indexes into pick_query.from and its GPUs */
	size_t n;
};

/* Each writes or reads lines (lines.h). A value that was read must be freed in any case. */
void pick_query_lines(struct lines *t, struct pick_query *a);
void pick_answer_lines(struct lines *t, struct pick_answer *a);

/* Says which GPU is open without a lease, and in which process. */
#define OPENER_TEXT 160
void gpu_opener_tell(const struct gpu_opener *s, char out[OPENER_TEXT]);

#endif
