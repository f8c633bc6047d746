/*
 * Device-cgroup rules of a spec (linux.resources.devices), read the way runc
 * and crun do: in order, into one final set.
 */
#ifndef GPUHELPER_PURE_DEVRULES_H
#define GPUHELPER_PURE_DEVRULES_H

#include <stdbool.h>

#include "gpu.h"

#define DEVRULE_ANY (-1)

struct devrule {
	bool allow;
	char type;		/* 'a', 'b' or 'c' */
	int64_t major, minor;	/* DEVRULE_ANY: every one */
	char access[4];		/* of "rwm", in that order */
};

/* Which of the old rules stay, and what is put at or after them. */
struct devplan {
	struct devplan_step {
		bool keep;		/* old rule number «old» as it is; else the new one */
		size_t old;
		struct devrule rule;
	} *v;
	size_t n;
	bool changed;
	bool failed;		/* no memory */
};

/*
 * Takes every GPU node out of the final set.  Rules that do not begin with one
 * for all devices are put behind a denial of all, which is what runc takes for
 * granted and crun does not.  Allow-list: an allow that covers
 * one is dropped, the rest of a wildcard comes back as exact majors, since a
 * runtime can't punch a hole into a wildcard.  Default-allow: denials of the GPU
 * majors go last; or, with «granted», where exact allows are to follow, the set
 * becomes an allow-list of the other majors that the kernel has.
 */
void devrules_hide_gpus(const struct devrule *rules, size_t n, const struct devmajors *majors, bool granted,
    struct devplan *out);
/* All n old rules, untouched. */
void devrules_keep(size_t n, struct devplan *out);
void devplan_add(struct devplan *p, const struct devrule *r);
void devplan_free(struct devplan *p);
#define autodevplan __attribute__((cleanup(devplan_free)))

#endif
