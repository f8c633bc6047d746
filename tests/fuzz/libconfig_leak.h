/* Ignores a leak in libconfig itself; only for the fuzzers that read libconfig files. */
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
