/* Finds system calls that a seccomp profile (linux.seccomp) falsely reports as done. */
#ifndef GPUHELPER_USER_PRIVILEGE_SECCOMP_H
#define GPUHELPER_USER_PRIVILEGE_SECCOMP_H

#include "../spec/spec.h"

/*
 * Returns 1 if the profile answers in the kernel's place when the runtime drops capabilities or changes its
 * ids; *call gets that call's name or "every call", cut to «size» bytes. Returns 0 if it does not, or there
 * is no profile. Returns -1 with *why for a profile that runtimes could read differently.
 */
int seccomp_find(const struct spec *s, char *call, size_t size, struct why *why);

#endif
