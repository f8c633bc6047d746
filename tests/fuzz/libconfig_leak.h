/* For the fuzzers that read libconfig's files, and no other: a leak that is not ours. */
#ifndef GPUHELPER_TESTS_LIBCONFIG_LEAK_H
#define GPUHELPER_TESTS_LIBCONFIG_LEAK_H

const char *__lsan_default_suppressions(void);

/* libconfig 1.5 forgets the string that it was reading when it comes upon a syntax error. */
const char *
__lsan_default_suppressions(void)
{
	return "leak:libconfig.so";
}

#endif
