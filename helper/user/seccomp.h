/* System calls that a seccomp profile (linux.seccomp) only pretends to have done. */
#ifndef GPUHELPER_USER_SECCOMP_H
#define GPUHELPER_USER_SECCOMP_H

#include "spec.h"

/*
 * 1 if the profile answers for the kernel where the runtime drops capabilities or changes its ids;
 * «call» gets that call's name, or "every call", cut at «size».  0 if not, or without a profile.
 * -1 with *why for a profile that runtimes could read otherwise than this does.
 */
int seccomp_find(const struct spec *s, char *call, size_t size, struct why *why);

#endif
