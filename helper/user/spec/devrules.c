/* See devrules.h. Computes only: runtimes and the kernel define what a rule means. */
#include "devrules.h"

#include <stdlib.h>
#include <string.h>

/* Fixed majors of GPUs, for a driver that is loaded after the container was created. */
static const uint32_t fixed_majors[] = { 195, 226, 261 };

static const struct devrule deny_all = { .allow = false, .type = 'a', .major = DEVRULE_ANY, .minor = DEVRULE_ANY,
	.access = "rwm" };

static void
add_step(struct devplan *p, const struct devplan_step *s)
{
	struct devplan_step *v = reallocarray(p->v, p->n + 1, sizeof(*v));

	if (v == NULL) {
		p->failed = true;
		return;
	}
	p->v = v;
	p->v[p->n++] = *s;
}

void
devplan_add(struct devplan *p, const struct devrule *r)
{
	add_step(p, &(struct devplan_step){ .rule = *r });
	p->changed = true;
}

static void
keep_rule(struct devplan *p, size_t old)
{
	add_step(p, &(struct devplan_step){ .keep = true, .old = old });
}

void
devplan_free(struct devplan *p)
{
	free(p->v);
	*p = (struct devplan){ 0 };
}

static bool
seen_before(const struct devmajors *m, size_t i)
{
	size_t k;

	for (k = 0; k < i; k++)
		if (m->v[k].type == m->v[i].type && m->v[k].major == m->v[i].major)
			return true;
	return false;
}

static void
take_access(char access[4], const char *gone)
{
	size_t i, o = 0;

	for (i = 0; access[i] != '\0'; i++)
		if (strchr(gone, access[i]) == NULL)
			access[o++] = access[i];
	access[o] = '\0';
}

/* True if the later rule undoes r. For the kernel and runc only a rule for the very same devices does. */
static bool
takes_back(const struct devrule *later, const struct devrule *r)
{
	if (later->allow == r->allow || later->type != r->type || later->major != r->major)
		return false;
	/* only crun can make an exception from a rule for all devices: count all of that rule as undone */
	return later->minor == r->minor || (r->allow && r->major == DEVRULE_ANY && r->minor == DEVRULE_ANY);
}

/* What the rules after rule k leave of rule k. */
static struct devrule
left_at_end(const struct devrule *rules, size_t n, size_t k)
{
	struct devrule r = rules[k];

	for (k++; k < n; k++)
		if (takes_back(&rules[k], &r))
			take_access(r.access, rules[k].access);
	return r;
}

/* Replaces a wildcard over all majors by exact majors, except those of GPUs. */
static void
allow_exact_majors(struct devplan *p, struct devrule r, const struct devmajors *m)
{
	size_t i;

	for (i = 0; i < m->n && r.access[0] != '\0'; i++) {
		if (m->v[i].type != r.type || seen_before(m, i) ||
		    (r.type == 'c' && devmajors_is_gpu(m, m->v[i].major)))
			continue;
		r.major = m->v[i].major;
		devplan_add(p, &r);
	}
}

/* True if the rule allows opening. Runtimes always allow mknod(2) for any device. */
static bool
lets_open(const struct devrule *r)
{
	return strpbrk(r->access, "rw") != NULL;
}

static void
hide_in_allow_list(const struct devrule *rules, size_t n, size_t from, const struct devmajors *m, struct devplan *out)
{
	const struct devrule *r;
	size_t i;

	for (i = from; i < n; i++) {
		r = &rules[i];
		if (!r->allow || r->type != 'c' || !lets_open(r) ||
		    (r->major != DEVRULE_ANY && (r->major < 0 || r->major > UINT32_MAX ||
		    !devmajors_is_gpu(m, (uint32_t)r->major)))) {
			keep_rule(out, i);
			continue;
		}
		out->changed = true;
		if (r->major == DEVRULE_ANY)
			allow_exact_majors(out, left_at_end(rules, n, i), m);
	}
}

/*
 * True if a rule denies the major in full and no later one allows it again: the result of an earlier run of
 * this code.
 */
static bool
is_denied(const struct devrule *rules, size_t n, size_t from, uint32_t major)
{
	const struct devrule *r;

	while (n-- > from) {
		r = &rules[n];
		if (r->type == 'c' && (r->allow || (r->major == major && r->minor == DEVRULE_ANY &&
		    strcmp(r->access, "rwm") == 0)))
			return !r->allow;
	}
	return false;
}

static void
deny_majors(const struct devrule *rules, size_t n, size_t from, const struct devmajors *m, struct devplan *out)
{
	struct devrule deny = { .allow = false, .type = 'c', .minor = DEVRULE_ANY, .access = "rwm" };
	size_t i, k;

	for (i = 0; i < sizeof(fixed_majors) / sizeof(fixed_majors[0]); i++) {
		deny.major = fixed_majors[i];
		if (!is_denied(rules, n, from, fixed_majors[i]))
			devplan_add(out, &deny);
	}
	for (i = 0; i < m->n; i++) {
		if (m->v[i].type != 'c' || seen_before(m, i) || !devmajors_is_gpu(m, m->v[i].major))
			continue;
		for (k = 0; k < sizeof(fixed_majors) / sizeof(fixed_majors[0]); k++)
			if (fixed_majors[k] == m->v[i].major)
				break;
		if (k < sizeof(fixed_majors) / sizeof(fixed_majors[0]) || is_denied(rules, n, from, m->v[i].major))
			continue;
		deny.major = m->v[i].major;
		devplan_add(out, &deny);
	}
}

/*
 * Turns a default-allow set into an allow-list of the same devices without GPUs. Leaves out a major of which some
 * devices are denied.
 */
static void
turn_around(const struct devrule *rules, size_t n, size_t from, const struct devmajors *m, struct devplan *out)
{
	struct devrule r;
	size_t i, k;

	devplan_add(out, &deny_all);
	for (i = 0; i < m->n; i++) {
		if (seen_before(m, i) || (m->v[i].type == 'c' && devmajors_is_gpu(m, m->v[i].major)))
			continue;
		r = (struct devrule){ .allow = true, .type = m->v[i].type, .major = m->v[i].major, .minor = DEVRULE_ANY,
			.access = "rwm" };
		for (k = from; k < n; k++)
			if (!rules[k].allow && rules[k].type == r.type &&
			    (rules[k].major == DEVRULE_ANY || rules[k].major == r.major))
				take_access(r.access, left_at_end(rules, n, k).access);
		if (r.access[0] != '\0')
			devplan_add(out, &r);
	}
}

void
devrules_keep(size_t n, struct devplan *out)
{
	size_t i;

	*out = (struct devplan){ 0 };
	for (i = 0; i < n; i++)
		keep_rule(out, i);
}

void
devrules_hide_gpus(const struct devrule *rules, size_t n, const struct devmajors *majors, bool granted,
    struct devplan *out)
{
	size_t from = 0, i;
	bool default_allow = false;

	/* a rule of type 'a' overrides all before it (kernel: security/device_cgroup.c) */
	for (i = 0; i < n; i++)
		if (rules[i].type == 'a') {
			from = i + 1;
			default_allow = rules[i].allow;
		}
	*out = (struct devplan){ 0 };
	if (default_allow && granted) {
		turn_around(rules, n, from, majors, out);
		return;
	}
	/* without such a rule, runc starts from denying all and crun from allowing all, so add one */
	if (from == 0)
		devplan_add(out, &deny_all);
	for (i = 0; i < from; i++)
		keep_rule(out, i);
	if (default_allow) {
		for (; i < n; i++)
			keep_rule(out, i);
		deny_majors(rules, n, from, majors, out);
	} else
		hide_in_allow_list(rules, n, from, majors, out);
}
