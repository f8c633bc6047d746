/* See folderrule.h: which rules are refused. The helper does not link this file. */
#include "folderrule.h"

#include <stdio.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/path.h"

/* True if the path, whose last component may be a pattern, may be the other path, or above or beneath it. */
static bool
could_reach(const char *path, const char *other)
{
	char up[256];

	snprintf(up, sizeof(up), "%s", other);
	for (; *up != '\0'; *strrchr(up, '/') = '\0')
		if (glob_match(path, up))
			return true;
	return path_related(path, other);
}

/* Reports folders that must never be granted, and targets that must never be mounted over in a container. */
static void
check_never_granted(const struct folder_rule *r, struct faults *f)
{
	static const char *const never_given[] = { "/proc", "/sys", "/dev", NULL };
	static const char *const ours[] = { GPUHELPER_CONFDIR, GPUHELPER_RUNDIR, NULL };
	const char *target = r->target != NULL ? r->target : r->path;
	struct why why;
	size_t i;

	if (path_check(r->path, &why) == -1 || path_check(target, &why) == -1) {
		fault_add(f, r->line, false, "%s", why.text);
		return;
	}
	if (strcmp(target, "/") == 0 || strcmp(r->path, "/") == 0) {
		fault_add(f, r->line, false, "\"/\" can't be a folder or a target");
		return;
	}
	for (i = 0; never_given[i] != NULL; i++)
		if (path_at_or_beneath(r->path, never_given[i]) || glob_match(r->path, never_given[i]) ||
		    path_at_or_beneath(target, never_given[i]))
			fault_add(f, r->line, false, "nothing at or beneath %s can be a folder or a target", never_given[i]);
	for (i = 0; ours[i] != NULL; i++)
		if (could_reach(r->path, ours[i]))
			fault_add(f, r->line, false, "%s and what is above and beneath it can't be given out", ours[i]);
	if (glob_is(r->path) && strpbrk(r->path, "*?") < path_last(r->path))
		fault_add(f, r->line, false, "* and ? are for the last component of a path");
	if (r->target != NULL && glob_is(r->target))
		fault_add(f, r->line, false, "target is one path, without * and ?");
	if (glob_is(r->path) && r->subfolders)
		fault_add(f, r->line, false, "a path with * or ? can't also say subfolders");
}

/*
 * Reports a relabel of the system's own directories: the host's SELinux policy goes by their labels, and one
 * mistaken line in a policy must not destroy them.
 */
static void
check_relabel(const struct folder_rule *r, struct faults *f)
{
	static const char *const whole[] = { "/bin", "/boot", "/etc", "/lib", "/lib32", "/lib64", "/sbin", "/usr", "/run",
		"/var/run", NULL };
	static const char *const itself[] = { "/home", "/media", "/mnt", "/opt", "/root", "/srv", "/tmp", "/var",
		"/var/cache", "/var/lib", "/var/log", "/var/spool", "/var/tmp", NULL };
	size_t i;

	if (r->relabel == RELABEL_NO)
		return;
	for (i = 0; whole[i] != NULL; i++)
		if (path_at_or_beneath(r->path, whole[i]) || glob_match(r->path, whole[i]))
			fault_add(f, r->line, false, "relabel is not allowed at or beneath %s, which is the system's", whole[i]);
	for (i = 0; itself[i] != NULL; i++)
		if (glob_match(r->path, itself[i]))
			fault_add(f, r->line, false, "relabel is not for %s itself: name a folder in it", itself[i]);
}

void
folder_rule_check(const struct folder_rule *r, struct faults *f)
{
	check_never_granted(r, f);
	check_relabel(r, f);
}
