/*
 * See confine.h. Sets the process's name: the helper executes the program by a descriptor, and the kernel would use
 * the descriptor's number as the name.
 */
#include "confine.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../host/own/frame.h"
#include "../../host/own/ownprogram.h"
#include "capability.h"
#include "ids.h"
#include "spawn.h"

/* Root's wrapper, which may not change ids, leaves that to the program (user/vet/parsedfiles.h). */
static int
leave_root(const char *name, struct why *why)
{
	uint32_t uid, gid;

	if (getuid() != 0 && getgid() != 0)
		return 0;
	if (own_program_user(name, &uid, &gid, why) == -1)
		return -1;
	return ids_become(uid, gid) ? 0 : refuse(why, WHY_BUG, "%s runs as root: %s", name, strerror(errno));
}

static int
confine(const struct confinement *c, struct why *why)
{
	const struct rlimit none = { 0, 0 }, memory = { c->memory, c->memory };
	/* only the one that scans processes has a process file system */
	const unsigned last = c->filter == FILTER_LOOKER ? SPAWN_PROC : SPAWN_SLOT;

	if (!c->as_root && leave_root(c->name, why) == -1)
		return -1;
	/* an SELinux domain transition resets what the helper had set */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) == -1 || prctl(PR_SET_DUMPABLE, 0) == -1)
		return refuse(why, WHY_BUG, "prctl: %s", strerror(errno));
	if (syscall(SYS_close_range, last + 1U, ~0U, 0U) == -1)
		return refuse(why, WHY_BUG, "close_range: %s", strerror(errno));
	(void)prctl(PR_SET_NAME, c->name);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)setrlimit(RLIMIT_CORE, &none);
	(void)setrlimit(RLIMIT_FSIZE, &none);
	(void)setrlimit(RLIMIT_AS, &memory);
	if (capabilities_keep(c->kept, c->n, why) == -1)
		return -1;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1)
		return refuse(why, WHY_BUG, "no_new_privs: %s", strerror(errno));
	return filter_install_for(c->filter, why);
}

int
confined_start(int argc, char **argv, const struct confinement *c)
{
	struct why ignored;

	if (argc == 2 && strcmp(argv[1], "--version") == 0)
		return printf("%s " GPUHELPER_VERSION "\n", c->name) < 0 ? WHY_IO : 0;
	if (argc > 1 || !frame_is_stream(SPAWN_CHANNEL)) {
		fprintf(stderr, "usage: do not run %s by hand: gpuhelper starts it (see gpuhelper(8))\n", c->name);
		return WHY_USAGE;
	}
	return confine(c, &ignored) == 0 ? -1 : WHY_BUG;
}
