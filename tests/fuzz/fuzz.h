/* Shared by the fuzzers. */
#ifndef GPUHELPER_TESTS_FUZZ_H
#define GPUHELPER_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Holds for every input; otherwise the fuzzer has found a fault. */
#define must(held) \
	((held) ? (void)0 : (fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #held), abort()))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
