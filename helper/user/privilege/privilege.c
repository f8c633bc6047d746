/*
 * See privilege.h. A user namespace confines a container if it is new, maps neither the host's root nor
 * root's group, and no mount lets the container's root write as the host's. Another container's user
 * namespace does not: capabilities in there reach that container's processes.
 */
#include "privilege.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "../../base/text.h"
#include "../spec/speccapability.h"
#include "kernelwrites.h"
#include "seccomp.h"

enum kind { PID, MOUNT, CGROUP, USER, KINDS };

static const struct {
	const char *type, *name;
} kinds[KINDS] = { { "pid", "PID" }, { "mount", "mount" }, { "cgroup", "cgroup" }, { "user", "user" } };

struct namespaces {
	bool own[KINDS];		/* a new namespace */
	char *joined[KINDS];		/* path of an existing one, or NULL */
};

static void
namespaces_free(struct namespaces *n)
{
	size_t i;

	for (i = 0; i < KINDS; i++)
		free(n->joined[i]);
}

/* Runtimes take an empty path for no path. */
static int
read_namespace(const struct doc *d, uint32_t entry, struct namespaces *out, struct why *why)
{
	uint32_t type = doc_get(d, entry, "type"), path = doc_get(d, entry, "path");
	autofree char *text = doc_is(d, path, DOC_STRING) ? doc_string(d, path) : NULL;
	size_t i;

	for (i = 0; i < KINDS && !doc_equals(d, type, kinds[i].type); i++)
		;
	if (i == KINDS)
		return 0;
	if (text == NULL && path != DOC_NONE && !doc_is(d, path, DOC_NULL))
		return refuse(why, WHY_DATA, "config.json: linux.namespaces: the path of the %s namespace is not a string (without "
		    "a NUL)", kinds[i].name);
	if (text == NULL || *text == '\0') {
		out->own[i] = true;
	} else if (out->joined[i] == NULL) {
		out->joined[i] = text;
		text = NULL;
	}
	return 0;
}

static int
find_namespaces(const struct spec *s, struct namespaces *out, struct why *why)
{
	uint32_t list = doc_get(&s->doc, s->linux, "namespaces"), n;

	for (n = doc_first(&s->doc, list); n != DOC_NONE; n = doc_next(&s->doc, n))
		if (read_namespace(&s->doc, n, out, why) == -1)
			return -1;
	return 0;
}

/* crun uses its own ids if the spec gives none. */
static bool
has_hosts_root(const struct idmap *m)
{
	uint32_t inside;

	return m->n == 0 || idmap_in(m, 0, &inside);
}

/*
 * On such a mount (mount_setattr(2)), files that the container creates belong to the host's root, set-user-ID
 * programs, too.
 */
static bool
is_idmapped(const struct doc *d, const struct spec_mount *m)
{
	size_t i;

	if (doc_first(d, doc_get(d, m->node, "uidMappings")) != DOC_NONE ||
	    doc_first(d, doc_get(d, m->node, "gidMappings")) != DOC_NONE)
		return true;
	for (i = 0; i < m->options.n; i++)
		if (strcmp(m->options.v[i], "idmap") == 0 || strcmp(m->options.v[i], "ridmap") == 0 ||
		    text_starts(m->options.v[i], "idmap=") || text_starts(m->options.v[i], "ridmap="))
			return true;
	return false;
}

static bool
is_confined(const struct namespaces *n, const struct spec *s, const struct request *r, bool hosts_root)
{
	size_t i;

	if (!n->own[USER] || n->joined[USER] != NULL)
		return false;
	if (!hosts_root)
		return true;
	for (i = 0; i < s->mount_count; i++)
		if (is_idmapped(&s->doc, &s->mount[i]))
			return false;
	return !has_hosts_root(&r->spec.uids) && !has_hosts_root(&r->spec.gids);
}

/* Returns 1 with the reason in *what, or 0. */
static int
look_at_namespaces(const struct namespaces *n, char what[PRIVILEGE_MAX])
{
	size_t i;

	for (i = 0; i < KINDS; i++) {
		if (n->joined[i] != NULL)
			snprintf(what, PRIVILEGE_MAX, "joins the %s namespace %.100s: give it one of its own", kinds[i].name, n->joined[i]);
		else if (!n->own[i] && (i == PID || i == MOUNT))
			snprintf(what, PRIVILEGE_MAX, "has no %s namespace of its own: give it one", kinds[i].name);
		else
			continue;
		return 1;
	}
	return 0;
}

static int
look_at_capabilities(const struct spec *s, char what[PRIVILEGE_MAX])
{
	char name[60];

	if (!capabilities_name_strong(&s->doc, s->process, name, sizeof(name)))
		return 0;
	snprintf(what, PRIVILEGE_MAX, "has %s: leave that out", name);
	return 1;
}

/* A profile that only pretends to drop capabilities leaves the container all those of root. */
static int
look_at_seccomp(const struct spec *s, char what[PRIVILEGE_MAX], struct why *why)
{
	char call[60];
	int ret = seccomp_find(s, call, sizeof(call), why);

	if (ret == 1)
		snprintf(what, PRIVILEGE_MAX, "has a seccomp profile that fakes the result of %s: allow that call, or let it "
		    "fail with EPERM", call);
	return ret;
}

/*
 * Without pivot_root(2), the host's mounts stay beneath the container's. If a complete /proc is among them,
 * as crun 1.8 leaves one, the kernel lets a user namespace mount a new /proc, in which /proc/sys is the
 * host's and writable.
 */
static int
look_at_pivot(bool no_pivot, char what[PRIVILEGE_MAX])
{
	if (no_pivot)
		snprintf(what, PRIVILEGE_MAX, "is made with --no-pivot: leave that out");
	return no_pivot;
}

int
privilege_find(const struct spec *s, struct request *r, bool hosts_root, bool no_pivot, char what[PRIVILEGE_MAX],
    struct why *why)
{
	struct namespaces n = { 0 };
	int ret = find_namespaces(s, &n, why);

	what[0] = '\0';
	r->spec.privileged = false;
	if (ret == 0 && !is_confined(&n, s, r, hosts_root)) {
		ret = look_at_capabilities(s, what) == 1 || look_at_namespaces(&n, what) == 1 ||
		    look_at_pivot(no_pivot, what) == 1;
		if (ret == 0)
			ret = look_at_seccomp(s, what, why);
		if (ret == 0 && hosts_root)
			ret = kernel_writes_find(s, n.own[CGROUP], what, PRIVILEGE_MAX, why);
	}
	namespaces_free(&n);
	r->spec.privileged = ret == 1;
	return ret == -1 ? -1 : 0;
}

#define SAYS "privileged = true"
#define BY_TOKEN ", or pass the GPUHELPER_TOKEN of a pipeline whose policy says " SAYS
#define IN_STEP "(in Concourse: remove «privileged: true» from the task's step)"

/*
 * True for the container of Concourse's step «task»: its working directory is named by a hash of the step's name. Those
 * of «get» and «put» have fixed names, and the container of a check has none.
 */
static bool
is_task_step(const struct spec *s)
{
	static const char above[] = "/tmp/build/";
	const char *target;
	size_t i;

	for (i = 0; i < s->mount_count; i++) {
		target = s->mount[i].target;
		if (text_starts(target, above) && strlen(target) == strlen(above) + 8 &&
		    strspn(target + strlen(above), "0123456789abcdef") == 8)
			return true;
	}
	return false;
}

/* True for a container of Concourse's, which shows by its program. */
static bool
is_of_concourse(const struct spec *s, const struct settings *settings)
{
	return s->first_arg != NULL && strlist_has(&settings->placeholder_init, s->first_arg) &&
	    spec_bind_at(s, s->first_arg) != NULL;
}

/*
 * Says how a policy could allow the container, unless «had» names a policy that does not, and what makes a container
 * privileged in Concourse, whose resource types have no token. The author of a task can make this text wrong, and
 * nothing else.
 */
static const char *
further_remedy(const struct spec *s, const struct settings *settings, const char *had)
{
	const bool told = strstr(had, SAYS) != NULL;

	if (!is_of_concourse(s, settings))
		return told ? "" : BY_TOKEN;
	if (!is_task_step(s))
		return " (in Concourse: remove «privileged: true» from the resource type)";
	return told ? " " IN_STEP : BY_TOKEN " " IN_STEP;
}

void
privilege_explain(const struct spec *s, const struct settings *settings, const char *what, struct why *why)
{
	const struct why had = *why;

	if (*what != '\0' && strstr(had.text, PRIVILEGED_DENIED) != NULL)
		refuse(why, had.code, "%s, and this one is: it %s, or give it a user namespace%s", had.text, what,
		    further_remedy(s, settings, had.text));
}

int
privilege_refuse(const struct spec *s, const struct settings *settings, const char *what, struct why *why)
{
	refuse(why, WHY_DENIED, PRIVILEGED_DENIED);
	privilege_explain(s, settings, what, why);
	return -1;
}
