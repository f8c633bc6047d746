/* Random numbers for a test: splitmix64, the same sequence on every machine. */
#ifndef GPUHELPER_TESTS_RND_H
#define GPUHELPER_TESTS_RND_H

#include <stdint.h>

/* The test sets the beginning: «static uint64_t seed = 7;», after the #include of this file. */
static uint64_t seed;

/* One of 0 ... below - 1. */
static inline uint64_t
rnd(uint64_t below)
{
	uint64_t z = seed += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return (z ^ z >> 31) % below;
}

#endif
