/* Identifies one process: within a boot, no two processes have both pid and start time in common. */
#ifndef GPUHELPER_KERNEL_PROCESSID_H
#define GPUHELPER_KERNEL_PROCESSID_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct process_id {
	pid_t pid;		/* 0: none */
	uint64_t start;		/* clock ticks since boot; field 22 of /proc/PID/stat (proc(5)) */
};

static inline bool
process_id_same(const struct process_id *a, const struct process_id *b)
{
	return a->pid == b->pid && a->start == b->start;
}

#endif
