/*
 * Device-cgroup rules of a spec (linux.resources.devices), read as runc and crun do: in order, into one final
 * set.
 */
#ifndef GPUHELPER_USER_SPEC_DEVRULES_H
#define GPUHELPER_USER_SPEC_DEVRULES_H

#include <stdbool.h>

#include "../../gpu/gpu.h"

#define DEVRULE_ANY (-1)

struct devrule {
	bool allow;
	char type;		/* 'a', 'b' or 'c' */
	int64_t major, minor;	/* DEVRULE_ANY: all */
	char access[4];		/* of "rwm", in that order */
};

/* Which old rules stay, and the rules to add between or after them. */
struct devplan {
	struct devplan_step {
		bool keep;		/* keep old rule number «old»; else add «rule» */
		size_t old;
		struct devrule rule;
	} *v;
	size_t n;
	bool changed;
	bool failed;		/* no memory */
};

/*
 * Removes every GPU node from the final set. If the rules do not begin with one for all devices, puts a
 * denial of all first, which runc assumes and crun does not. In an allow-list, drops each rule that covers a
 * GPU; a wildcard is replaced by exact majors, because runtimes can't make exceptions from a wildcard. In a
 * default-allow set, adds denials of the GPU majors at the end or, with «granted», when exact allows will
 * follow, turns the set into an allow-list of the kernel's other majors.
 */
void devrules_hide_gpus(const struct devrule *rules, size_t n, const struct devmajors *majors, bool granted,
    struct devplan *out);
/* Keeps all n old rules. */
void devrules_keep(size_t n, struct devplan *out);
void devplan_add(struct devplan *p, const struct devrule *r);
void devplan_free(struct devplan *p);
#define autodevplan __attribute__((cleanup(devplan_free)))

#endif
