/* Privileged containers: those that could undo their device rules, get into others, or be the host's root. */
#ifndef GPUHELPER_USER_PRIVILEGE_H
#define GPUHELPER_USER_PRIVILEGE_H

#include "spec.h"

#define PRIVILEGE_MAX 384

/*
 * Sets r->privileged, by the spec and by the ids that spec_request() has read; «what» gets
 * what makes the container privileged and what to do about it ("has no PID namespace of its own: give it one"), or "".
 * hosts_root: uid 0 of the caller's is the host's, and so is a container's without a user namespace.
 * no_pivot: the runtime is told so.  -1 with *why for a spec that can't be read, or memory.
 */
int privilege_find(const struct spec *s, struct request *r, bool hosts_root, bool no_pivot, char what[PRIVILEGE_MAX],
    struct why *why);

/* The refusal of privileged = "deny"; -1. */
int privilege_refuse(const char *what, struct why *why);

#endif
