/*
 * Where paths lead that a runtime will resolve again: those of a grant's folders, which policies name, and those of a
 * driver's files, which gpuhelper-engine names; and where the runtime may make the container's cgroups.
 */
#ifndef GPUHELPER_LOOK_PATHS_H
#define GPUHELPER_LOOK_PATHS_H

#include "../ask/pathsquery.h"

/*
 * Finds the folders and cgroups, or the files; patterns match existing folders. Refuses a path that others than root
 * could redirect, a folder that the container's process may not use as its grant says, and one within a folder that a
 * policy gives for writing, if these are in the question: out->why or out->fault says what is wrong.
 * paths_answer_free() in any case.
 */
void paths_find(const struct paths_query *asked, struct paths_answer *out);

/* Adds one to the answer, and takes over path and *at. False if memory is short; then it frees both. */
bool paths_answer_add(struct paths_answer *a, uint32_t of, char *path, struct strlist *at);

#endif
