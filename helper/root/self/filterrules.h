/*
 * What the filters of the helper and of its children (filter.h) are put together from. An answer is one of FILTER_KILL
 * (ends the process), FILTER_REFUSE (EPERM) and FILTER_ALLOW.
 */
#ifndef GPUHELPER_ROOT_SELF_FILTERRULES_H
#define GPUHELPER_ROOT_SELF_FILTERRULES_H

#include <errno.h>
#include <linux/seccomp.h>

#include "../../base/why.h"
#include "callset.h"

#define FILTER_KILL SECCOMP_RET_KILL_PROCESS
#define FILTER_REFUSE (SECCOMP_RET_ERRNO | EPERM)
#define FILTER_ALLOW SECCOMP_RET_ALLOW

#define ARG_LOW(n) (offsetof(struct seccomp_data, args) + 8 * (n))	/* all these machines are little-endian */
#define ARG_HIGH(n) (ARG_LOW(n) + 4)

/* Within a case (callset_begin()): loads a word of struct seccomp_data, or answers. */
void rule_load(struct callset *s, size_t offset);
void rule_answer(struct callset *s, uint32_t how);
/* Answers «how» unless the argument has this value. Compares the low half: the kernel takes these arguments as int. */
void rule_need_equal(struct callset *s, unsigned arg, uint32_t value, uint32_t how);
/* Answers «how» if the argument has one of the bits. */
void rule_need_none_of(struct callset *s, unsigned arg, uint32_t bits, uint32_t how);

/* A case each: allows the call with any arguments; answers n calls. */
void rule_allow(struct callset *s, long number);
void rule_each_of(struct callset *s, const long *numbers, size_t n, uint32_t how);

/* The cases of calls that read, or affect only the process itself. */
void rules_of_reading(struct callset *s);
/*
 * No executable mapping can be added: the program's own exist already. No shared mapping either: write(2) clears a
 * file's setuid bit, but a write to a shared page would not, and mprotect(2) could make a page writable later.
 * Libraries that try one (glibc's gconv, libselinux's status page) do without when it fails.
 */
void rules_of_memory(struct callset *s);
/* fcntl(2) without commands that signal other processes (F_SETOWN with O_ASYNC) or take leases on files. */
void rules_of_descriptors(struct callset *s);
/* kill(2): signal 0 to any process, to see whether it exists; SIGKILL only to these children. */
void rules_of_kill(struct callset *s, const uint32_t *child, size_t children);
/* The calls that only an attacker makes end the process. */
void rules_of_evil(struct callset *s);

/* Installs the filter; all other calls fail with ENOSYS. -1 with *why. */
int rules_install(struct callset *s, struct why *why);

#endif
