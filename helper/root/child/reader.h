/*
 * The helper's side of gpuhelper-read, a program that parses the administrator's files. The helper finds the files,
 * checks that they belong to root, and sends their bytes. The answer is lines (ask/table.h).
 */
#ifndef GPUHELPER_ROOT_CHILD_READER_H
#define GPUHELPER_ROOT_CHILD_READER_H

#include "../../host/driver/specfiles.h"
#include "../../policy/policyset.h"
#include "../../policy/settings.h"

/*
 * Reads the files, and finds the answers that are cached of them (answercache.h). Starts the program only if one is
 * missing. To be called before filter_install(). If the program can't be started, every question without an answer
 * fails with the reason.
 */
void reader_start(void);
void reader_end(void);

/*
 * Gets the settings and the policies of this host. -1 with *why: a file can't be read, others than root may write it,
 * the settings have an error, or (WHY_AGAIN) a file has just changed. settings_free() and policy_set_free() in either
 * case.
 */
int reader_ask_policies(struct settings *s, struct policy_set *p, struct why *why);

/*
 * Caches the program's answer to reader_ask_policies() for later requests. To be called once this process has left its
 * caller's cgroup, which would otherwise be charged for the file.
 */
void reader_cache_policies(void);

/*
 * Reads the CDI specs of this host, and gets the program's answer about them: *answer, *len bytes, which reader.c keeps
 * (NULL: there is no spec). It is not looked into here. -1 with *why. To be called once, in a cgroup of root's.
 * spec_files_free() in either case.
 */
int reader_ask_specs(struct spec_files *f, const char **answer, size_t *len, struct why *why);
/* Caches that answer for later requests. */
void reader_cache_specs(void);
/* The answer is malformed: if it was cached, removes it, and changes *why to say so. Always -1. */
int reader_drop_specs(struct why *why);

#endif
