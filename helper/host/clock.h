/* The clock of all deadlines. */
#ifndef GPUHELPER_HOST_CLOCK_H
#define GPUHELPER_HOST_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Milliseconds of CLOCK_MONOTONIC, which no administrator can set. */
static inline int64_t
clock_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

#endif
