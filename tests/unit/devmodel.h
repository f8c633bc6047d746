/*
 * Models of how linux.resources.devices is read. They judge helper/user/spec/devrules.c, so they follow
 * the sources of the kernel and the runtimes, not that file:
 *
 *	kernel	cgroup v1 (security/device_cgroup.c): exceptions from a default
 *	runc	the same, starting from «deny all», but without exceptions from a wildcard (the
 *		devices emulator of the cgroups library); on v2, a program made from the result
 *	crun	cgroup v1: the same as the kernel, starting from the cgroup's «allow all»;
 *		v2: the last matching rule counts (ebpf.c)
 */
#ifndef GPUHELPER_TESTS_DEVMODEL_H
#define GPUHELPER_TESTS_DEVMODEL_H

#include <stdio.h>
#include <string.h>

#include "user/spec/devrules.h"

#define MODEL_RULES 4096
#define ANY DEVRULE_ANY

enum model { RUNC, CRUN_V1, CRUN_V2, MODELS };
struct set {
	enum model model;
	bool default_allow;
	struct devrule ex[MODEL_RULES];	/* v1: exceptions; v2: all rules */
	size_t n;
	bool refused;			/* runc makes no container with these rules */
};

static inline bool
same(const struct devrule *a, const struct devrule *b)
{
	return a->type == b->type && a->major == b->major && a->minor == b->minor;
}

static inline unsigned
bits(const char *access)
{
	return (strchr(access, 'r') ? 1U : 0) | (strchr(access, 'w') ? 2U : 0) | (strchr(access, 'm') ? 4U : 0);
}

static inline void
letters(unsigned b, char out[4])
{
	snprintf(out, 4, "%s%s%s", b & 1 ? "r" : "", b & 2 ? "w" : "", b & 4 ? "m" : "");
}

static inline void
add_exception(struct set *s, const struct devrule *r)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (same(&s->ex[i], r)) {
			letters(bits(s->ex[i].access) | bits(r->access), s->ex[i].access);
			return;
		}
	s->ex[s->n++] = *r;
}

/* Whether the rule is an exception from an existing wildcard. */
static inline bool
punches(const struct set *s, const struct devrule *r)
{
	const struct devrule part[] = {
		{ .type = r->type, .major = ANY, .minor = r->minor },
		{ .type = r->type, .major = r->major, .minor = ANY },
		{ .type = r->type, .major = ANY, .minor = ANY },
	};
	size_t i, k;

	for (k = 0; k < sizeof(part) / sizeof(part[0]); k++)
		for (i = 0; i < s->n; i++)
			if (!same(&part[k], r) && same(&part[k], &s->ex[i]) &&
			    (bits(s->ex[i].access) & bits(r->access)))
				return true;
	return false;
}

static inline void
remove_exception(struct set *s, const struct devrule *r)
{
	size_t i;

	s->refused = s->refused || (s->model == RUNC && punches(s, r));
	for (i = 0; i < s->n; i++)
		if (same(&s->ex[i], r)) {
			letters(bits(s->ex[i].access) & ~bits(r->access), s->ex[i].access);
			if (s->ex[i].access[0] == '\0')
				s->ex[i] = s->ex[--s->n];
			return;
		}
}

static inline void
read_rules(struct set *s, enum model model, const struct devrule *rules, size_t n)
{
	size_t i;

	s->model = model;
	s->default_allow = model == CRUN_V1;
	s->n = 0;
	s->refused = false;
	for (i = 0; i < n; i++) {
		if (model == CRUN_V2)
			s->ex[s->n++] = rules[i];
		else if (rules[i].type == 'a') {
			s->default_allow = rules[i].allow;
			s->n = 0;
		} else if (rules[i].allow == s->default_allow)
			remove_exception(s, &rules[i]);
		else
			add_exception(s, &rules[i]);
	}
}

static inline bool
fits(const struct devrule *r, char type, uint32_t major, uint32_t minor)
{
	return (r->type == type || r->type == 'a') && (r->major == ANY || r->major == major) &&
	    (r->minor == ANY || r->minor == minor);
}

/* Whether this node may be opened with all of this access. */
static inline bool
lets(const struct set *s, char type, uint32_t major, uint32_t minor, unsigned access)
{
	size_t i;

	for (i = s->n; s->model == CRUN_V2 && i-- > 0;)
		if (fits(&s->ex[i], type, major, minor) && (access & ~bits(s->ex[i].access)) == 0)
			return s->ex[i].allow;
	if (s->model == CRUN_V2)
		return false;
	for (i = 0; i < s->n; i++) {
		if (!fits(&s->ex[i], type, major, minor))
			continue;
		if (s->default_allow ? (access & bits(s->ex[i].access)) != 0 : (access & ~bits(s->ex[i].access)) == 0)
			return !s->default_allow;
	}
	return s->default_allow;
}

#endif
