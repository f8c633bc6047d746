/*
 * See seccomp.h. A runtime loads the profile before it drops capabilities, unless the process has noNewPrivileges.
 * An exec may lack noNewPrivileges even if the container has it. If the profile answers a call with 0, the runtime
 * believes that the kernel did it. From EINVAL, runc and crun conclude that the kernel does not know the
 * capability. They give up only at EPERM and ENOSYS. A killed runtime starts nothing.
 */
#include "seccomp.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "../spec/exactkeys.h"

/* True for an action that lets the call happen, or that ends the runtime. */
static bool
is_honest(const struct doc *d, uint32_t action, uint32_t number)
{
	static const char *const honest[] = { "SCMP_ACT_ALLOW", "SCMP_ACT_LOG", "SCMP_ACT_KILL", "SCMP_ACT_KILL_PROCESS",
		"SCMP_ACT_KILL_THREAD", "SCMP_ACT_TRAP", NULL };
	int64_t v;
	size_t i;

	for (i = 0; honest[i] != NULL; i++)
		if (doc_equals(d, action, honest[i]))
			return true;
	if (!doc_equals(d, action, "SCMP_ACT_ERRNO"))
		return false;
	/* without errnoRet, it is EPERM */
	return number == DOC_NONE || doc_is(d, number, DOC_NULL) || (doc_i64(d, number, &v) && (v == EPERM || v == ENOSYS));
}

/* On some machines, these calls have a second name that ends with 32. */
static bool
is_relied_on(const char *name)
{
	static const char *const calls[] = { "prctl", "capget", "capset", "setuid", "setgid", "setreuid", "setregid",
		"setresuid", "setresgid", "setgroups", NULL };
	size_t i, len;

	for (i = 0; calls[i] != NULL; i++) {
		len = strlen(calls[i]);
		if (strncmp(name, calls[i], len) == 0 && (name[len] == '\0' || strcmp(name + len, "32") == 0))
			return true;
	}
	return false;
}

/*
 * No failed call returns 0, so a rule with 0 is a false answer for any call: a runtime relies on more calls than
 * those above.
 */
static bool
is_zero(const struct doc *d, uint32_t number)
{
	int64_t v;

	return doc_i64(d, number, &v) && v == 0;
}

static int
look_at_rule(const struct doc *d, uint32_t rule, char *call, size_t size, struct why *why)
{
	uint32_t number = doc_get(d, rule, "errnoRet"), n;

	if (exact_keys(d, rule, "config.json", why) == -1)
		return -1;
	if (is_honest(d, doc_get(d, rule, "action"), number))
		return 0;
	for (n = doc_first(d, doc_get(d, rule, "names")); n != DOC_NONE; n = doc_next(d, n)) {
		autofree char *name = doc_string(d, n);

		if (name != NULL && !is_relied_on(name) && !is_zero(d, number))
			continue;
		snprintf(call, size, "%s", name != NULL ? name : "a call that is not a string");
		return 1;
	}
	return 0;
}

int
seccomp_find(const struct spec *s, char *call, size_t size, struct why *why)
{
	const struct doc *d = &s->doc;
	uint32_t profile = doc_get(d, s->linux, "seccomp"), n;
	int ret = 0;

	if (profile == DOC_NONE || doc_is(d, profile, DOC_NULL))
		return 0;
	if (exact_keys(d, profile, "config.json", why) == -1)
		return -1;
	if (!is_honest(d, doc_get(d, profile, "defaultAction"), doc_get(d, profile, "defaultErrnoRet"))) {
		snprintf(call, size, "every call");
		return 1;
	}
	for (n = doc_first(d, doc_get(d, profile, "syscalls")); n != DOC_NONE && ret == 0; n = doc_next(d, n))
		ret = look_at_rule(d, n, call, size, why);
	return ret;
}
