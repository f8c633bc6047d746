/*
 * The helper's side of gpuhelper-read, a program that parses the administrator's files. The helper finds the files,
 * checks that they belong to root, and sends their bytes. The answer is lines (ask/parsed.h).
 */
#ifndef GPUHELPER_ROOT_CHILD_READER_H
#define GPUHELPER_ROOT_CHILD_READER_H

#include "../../ask/authzquery.h"
#include "../../host/driver/specfiles.h"
#include "../../policy/settings.h"

/*
 * Reads the files, and finds the answers that are cached of them (answercache.h). Starts the program only if one is
 * missing. To be called before filter_install(). If the program can't be started, every question without an answer
 * fails with the reason.
 */
void reader_start(void);

/*
 * Gets the settings of this host, and the program's answer about its policies: *answer, *len bytes, which reader.c
 * keeps. The policies in it are not looked into here. -1 with *why: a file can't be read, others than root may write
 * it, the settings have an error, or (WHY_AGAIN) a file has just changed. settings_free() in either case.
 */
int reader_ask_policies(struct settings *s, const char **answer, size_t *len, struct why *why);

/*
 * Reads the CDI specs of this host, and gets the program's answer about them: *answer, *len bytes, which reader.c keeps
 * (NULL: there is no spec). *cached: it was kept from an earlier request. It is not looked into here. -1 with *why. To
 * be called once, in a cgroup of root's. spec_files_free() in either case.
 */
int reader_ask_specs(struct spec_files *f, const char **answer, size_t *len, bool *cached, struct why *why);

/*
 * What gpuhelper-engine found the answers to be: caches those that are fit, for later requests, and removes those that
 * were cached and turned out to be malformed. To be called once this process has left its caller's cgroup, which would
 * otherwise be charged for the files. Returns «result», which engine_ask_authz() returned; if that failed because a
 * cached answer about policies was malformed, changes *why.
 */
int reader_note_answers(enum answer_state of_policies, enum answer_state of_specs, int result, struct why *why);

#endif
