/*
 * host/users.c: whose a group is, by files of the test's in the places of /etc/passwd and /etc/group. Needs root, for a
 * mount namespace.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "host/users.h"
#include "tap.h"

static char top[] = "/tmp/t_users.XXXXXX";

static bool
put(const char *name, const char *etc, const char *text, bool first)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", top, name);
	if ((f = fopen(path, "w")) == NULL)
		return false;
	fputs(text, f);
	fclose(f);
	return !first || mount(path, etc, NULL, MS_BIND, NULL) == 0;
}

static bool
host_has(const char *passwd, const char *group, bool first)
{
	return put("passwd", "/etc/passwd", passwd, first) && put("group", "/etc/group", group, first);
}

#define ROOT "root:x:0:0:root:/root:/bin/sh\n"
#define WORKER "worker:x:1000:1000::/home/worker:/bin/sh\n"

int
main(void)
{
	static const struct {
		const char *passwd, *group, *what;
		bool owns;
	} t[] = {
		{ ROOT WORKER, "root:x:0:\nworker:x:1000:\n", "a private group", true },
		{ ROOT WORKER, "root:x:0:\nworker:x:1000:worker\n", "a private group that lists its user", true },
		{ ROOT WORKER "# a comment\n\n", "root:x:0:\nworker:x:1000:\n", "comments and empty lines", true },
		{ ROOT WORKER "other:x:1001:1000::/:/bin/sh\n", "root:x:0:\nworker:x:1000:\n", "the primary group of a second user", false },
		{ ROOT WORKER, "root:x:0:\nworker:x:1000:worker,other\n", "a group with a second member", false },
		{ ROOT WORKER, "root:x:0:\nvideo:x:1000:\n", "a group of another name", false },
		{ ROOT WORKER, "root:x:0:\nworker:x:1000:\nvideo:x:1000:other\n", "a second group with that number", false },
		{ ROOT WORKER, "root:x:0:\n", "a number without a group", false },
		/* newgrp(1) gives a process any of its user's groups */
		{ ROOT "worker:x:1000:2000::/:/bin/sh\n", "root:x:0:\nworker:x:1000:worker\n", "a group that /etc/passwd does not name", false },
		{ ROOT, "root:x:0:\nworker:x:1000:\n", "a group of a user who is not in /etc/passwd", false },
		/* the C library may take such a line for an entry */
		{ ROOT WORKER "half a line\n", "root:x:0:\nworker:x:1000:\n", "a line in /etc/passwd that is none", false },
		{ ROOT WORKER "other:x:1001:many::/:/bin/sh\n", "root:x:0:\nworker:x:1000:\n", "a number in /etc/passwd that is none", false },
		{ ROOT WORKER, "root:x:0:\nworker:x:1000:\nhalf a line\n", "a line in /etc/group that is none", false },
		{ ROOT WORKER, "root:x:0:\nvideo:x:many:other\nworker:x:1000:\n", "a number in /etc/group that is none", false },
	};
	size_t i;

	if (geteuid() != 0 || mkdtemp(top) == NULL || unshare(CLONE_NEWNS) == -1 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == -1 || mount("t_users", top, "tmpfs", 0, NULL) == -1 ||
	    !host_has(ROOT, "root:x:0:\n", true) || !put("subgid", "/etc/subgid", "", access("/etc/subgid", F_OK) == 0)) {
		printf("ok 1 - whose a group is # SKIP no mount namespace: run this as root\n1..1\n");
		return 0;
	}
	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		if (!host_has(t[i].passwd, t[i].group, false))
			return 1;
		ok(user_owns_gid(1000, "worker", 1000, 1000) == t[i].owns, "%s", t[i].what);
	}
	(void)host_has(ROOT WORKER, "root:x:0:\nworker:x:1000:\n", false);
	ok(!user_owns_gid(1000, "worker", 1000, 0), "root's group is nobody's");
	ok(!user_owns_gid(1000, "worker", 1000, 5), "another group is not the user's");
	ok(!user_owns_gid(1000, "worker", 2000, 1000), "nor one that is not the process's primary group");
	ok(!user_owns_gid(1000, NULL, 1000, 1000), "nor is one a nameless user's");
	ok(user_owns_gid(0, "root", 0, 4294967294U) && !user_owns_gid(1000, "worker", 1000, 4294967294U),
	    "root may use the number to which Concourse maps root");
	umount2(top, MNT_DETACH);
	rmdir(top);
	return done_testing();
}
