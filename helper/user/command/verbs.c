/* See verbs.h. The table comes from the sources of the releases. Must decide nothing itself. */
#include "verbs.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>

#include "../../base/text.h"

#define MANY INT_MAX

#define END { NULL, 0, TAKES_NONE, BOTH, ROLE_PASSED, NULL }

/* Options that urfave/cli (runc) and argp (crun) add to every verb. */
#define ALWAYS \
	{ "help", 'h', TAKES_NONE, RUNC, ROLE_HELP, "nothing; the runtime only prints" }, \
	{ "help", '?', TAKES_NONE, CRUN, ROLE_HELP, "nothing; the runtime only prints" }, \
	{ "usage", 0, TAKES_NONE, CRUN, ROLE_HELP, "nothing; the runtime only prints" }, \
	{ "program-name", 0, TAKES_VALUE, CRUN, ROLE_PASSED, "the program's name in messages" }, \
	{ "HANG", 0, TAKES_OPTIONAL, CRUN, ROLE_PASSED, "the delay before the program begins" }

const struct option verbs_globals[] = {
	{ "root", 0, TAKES_VALUE, BOTH, ROLE_ROOT, "the directory of containers, and so the meaning of an id" },
	{ "log", 0, TAKES_VALUE, BOTH, ROLE_LOG, "the destination of messages" },
	{ "log-format", 0, TAKES_VALUE, BOTH, ROLE_LOG_FORMAT, "the format of messages" },
	{ "log-level", 0, TAKES_VALUE, CRUN, ROLE_PASSED, "the amount of messages" },
	{ "debug", 0, TAKES_NONE, BOTH, ROLE_PASSED, "the amount of messages" },
	{ "criu", 0, TAKES_VALUE, RUNC, ROLE_PASSED, "the program that checkpoint and restore run as the caller" },
	{ "systemd-cgroup", 0, TAKES_NONE, BOTH, ROLE_SYSTEMD_CGROUP, "whether systemd makes the container's cgroup" },
	{ "cgroup-manager", 0, TAKES_VALUE, CRUN, ROLE_CGROUP_MANAGER, "the cgroup's maker; «disabled»: no device rules" },
	{ "rootless", 0, TAKES_VALUE, BOTH, ROLE_ROOTLESS, "whether runc continues without device rules («true»)" },
	{ "version", 'v', TAKES_NONE, BOTH, ROLE_HELP, "nothing; the runtime only prints" },
	{ NULL, 'V', TAKES_NONE, CRUN, ROLE_HELP, "nothing; the runtime only prints" },
	ALWAYS, END,
};

/* create, run and restore */
#define BUNDLE { "bundle", 'b', TAKES_VALUE, BOTH, ROLE_BUNDLE, "the container's config.json" }
#define CONSOLE { "console-socket", 0, TAKES_VALUE, BOTH, ROLE_CONSOLE, "the receiver of the terminal" }
#define PID_FILE { "pid-file", 0, TAKES_VALUE, BOTH, ROLE_PASSED, "a file that the runtime writes as the caller" }
#define PIDFD { "pidfd-socket", 0, TAKES_VALUE, RUNC, ROLE_PASSED, "the receiver of a handle of the process" }
#define FDS { "preserve-fds", 0, TAKES_VALUE, BOTH, ROLE_PASSED, "the caller's open files that the process inherits" }
#define CONFIG { "config", 'f', TAKES_VALUE, CRUN, ROLE_REFUSED, "only the bundle's config.json is used" }
#define DETACH { "detach", 'd', TAKES_NONE, BOTH, ROLE_DETACH, "whether the runtime stays" }
#define KEYRING { "no-new-keyring", 0, TAKES_NONE, BOTH, ROLE_PASSED, "whether the caller's session keyring is kept" }
#define NO_PIVOT(runtimes) { "no-pivot", 0, TAKES_NONE, runtimes, ROLE_NO_PIVOT, \
	"whether the host's mounts stay beneath its own" }
#define SUBREAPER(runtimes) { "no-subreaper", 0, TAKES_NONE, runtimes, ROLE_PASSED, "the reaper of orphaned processes" }

static const struct option create[] = {
	BUNDLE, CONFIG, CONSOLE, PID_FILE, PIDFD, FDS, NO_PIVOT(BOTH), KEYRING, SUBREAPER(CRUN), ALWAYS, END,
};

static const struct option run[] = {
	BUNDLE, CONFIG, CONSOLE, PID_FILE, PIDFD, FDS, DETACH, NO_PIVOT(BOTH), KEYRING, SUBREAPER(BOTH),
	{ "keep", 0, TAKES_NONE, BOTH, ROLE_PASSED, "whether the state stays after the container's end" },
	ALWAYS, END,
};

/* For checkpoint and restore, for criu. */
#define CRIU \
	{ "image-path", 0, TAKES_VALUE, BOTH, ROLE_PASSED, "the directory of the image" }, \
	{ "work-path", 0, TAKES_VALUE, BOTH, ROLE_PASSED, "the directory that criu writes as the caller" }, \
	{ "tcp-established", 0, TAKES_NONE, BOTH, ROLE_PASSED, "the connections that survive" }, \
	{ "ext-unix-sk", 0, TAKES_NONE, BOTH, ROLE_PASSED, "the sockets that survive" }, \
	{ "shell-job", 0, TAKES_NONE, BOTH, ROLE_PASSED, "whether the terminal survives" }, \
	{ "file-locks", 0, TAKES_NONE, BOTH, ROLE_PASSED, "whether file locks survive" }, \
	{ "manage-cgroups-mode", 0, TAKES_VALUE, BOTH, ROLE_PASSED, "how criu restores cgroups" }, \
	{ "network-lock", 0, TAKES_VALUE, CRUN, ROLE_PASSED, "how the network is blocked meanwhile" }, \
	{ "empty-ns", 0, TAKES_VALUE, RUNC, ROLE_PASSED, "the namespaces that are empty" }, \
	{ "auto-dedup", 0, TAKES_NONE, RUNC, ROLE_PASSED, "how the image is stored" }, \
	{ "lazy-pages", 0, TAKES_NONE, RUNC, ROLE_PASSED, "when the memory is transferred" }

static const struct option restore[] = {
	BUNDLE, CONSOLE, PID_FILE, DETACH, NO_PIVOT(RUNC), SUBREAPER(RUNC), CRIU,
	{ "tcp-close", 0, TAKES_NONE, CRUN, ROLE_PASSED, "the connections that survive" },
	{ "lsm-profile", 0, TAKES_VALUE, BOTH, ROLE_PASSED, "the SELinux label" },
	{ "lsm-mount-context", 0, TAKES_VALUE, BOTH, ROLE_PASSED, "the label of the mounts" },
	ALWAYS, END,
};

static const struct option checkpoint[] = {
	CRIU,
	{ "parent-path", 0, TAKES_VALUE, BOTH, ROLE_PASSED, "the directory of an older image" },
	{ "leave-running", 0, TAKES_NONE, BOTH, ROLE_PASSED, "whether the container keeps running" },
	{ "pre-dump", 0, TAKES_NONE, BOTH, ROLE_PASSED, "whether only memory is written" },
	{ "tcp-skip-in-flight", 0, TAKES_NONE, RUNC, ROLE_PASSED, "the connections that survive" },
	{ "link-remap", 0, TAKES_NONE, RUNC, ROLE_PASSED, "the treatment of files without a name" },
	{ "page-server", 0, TAKES_VALUE, RUNC, ROLE_PASSED, "the address to which memory is sent" },
	{ "status-fd", 0, TAKES_VALUE, RUNC, ROLE_PASSED, "the open file of the caller that criu writes" },
	ALWAYS, END,
};

static const struct option exec[] = {
	{ "pid-file", 0, TAKES_VALUE, BOTH, ROLE_PID_FILE, "a file of the caller; its name is the process's (task_execs)" },
	{ "preserve-fds", 0, TAKES_VALUE, BOTH, ROLE_FDS, "the open files that the process inherits, and the waiter's" },
	{ "process", 'p', TAKES_VALUE, BOTH, ROLE_PROCESS, "everything about the process" },
	{ "env", 'e', TAKES_VALUE, BOTH, ROLE_ENV, "the environment" },
	{ "console-socket", 0, TAKES_VALUE, BOTH, ROLE_CONSOLE, "the receiver of the terminal" },
	{ "cap", 'c', TAKES_VALUE, BOTH, ROLE_CAP, "the capabilities" },
	{ "cgroup", 0, TAKES_VALUE, BOTH, ROLE_EXEC_CGROUP, "the cgroup, relative to the container's; crun accepts «..»" },
	{ "process-label", 0, TAKES_VALUE, BOTH, ROLE_LABEL, "the SELinux label" },
	{ "apparmor", 0, TAKES_VALUE, BOTH, ROLE_PASSED, "the AppArmor profile, which opens no closed device" },
	{ "user", 'u', TAKES_VALUE, BOTH, ROLE_PASSED, "the user; the cgroup still closes that user's nodes" },
	{ "additional-gids", 'g', TAKES_VALUE, RUNC, ROLE_PASSED, "the groups; the cgroup still closes their nodes" },
	{ "cwd", 0, TAKES_VALUE, BOTH, ROLE_PASSED, "the working directory in the container" },
	{ "tty", 't', TAKES_NONE, RUNC, ROLE_PASSED, "whether the process has a terminal" },
	{ "tty", 't', TAKES_OPTIONAL, CRUN, ROLE_PASSED, "whether the process has a terminal" },
	{ "detach", 'd', TAKES_NONE, BOTH, ROLE_PASSED, "whether the runtime stays" },
	{ "no-new-privs", 0, TAKES_NONE, BOTH, ROLE_PASSED, "whether setuid programs give rights in the container" },
	{ "ignore-paused", 0, TAKES_NONE, RUNC, ROLE_PASSED, "whether the process may wait in a paused container" },
	PIDFD, ALWAYS, END,
};

#define LIMIT(name) { name, 0, TAKES_VALUE, BOTH, ROLE_PASSED, "a limit" }

static const struct option update[] = {
	{ "resources", 'r', TAKES_VALUE, BOTH, ROLE_RESOURCES, "all limits and cgroup files; with crun also devices" },
	LIMIT("blkio-weight"), LIMIT("cpu-period"), LIMIT("cpu-quota"), LIMIT("cpu-share"), LIMIT("cpu-rt-period"),
	LIMIT("cpu-rt-runtime"), LIMIT("cpuset-cpus"), LIMIT("cpuset-mems"), LIMIT("kernel-memory"),
	LIMIT("kernel-memory-tcp"), LIMIT("memory"), LIMIT("memory-reservation"), LIMIT("memory-swap"),
	LIMIT("pids-limit"), LIMIT("l3-cache-schema"), LIMIT("mem-bw-schema"),
	{ "cpu-burst", 0, TAKES_VALUE, RUNC, ROLE_PASSED, "a limit" },
	{ "cpu-idle", 0, TAKES_VALUE, RUNC, ROLE_PASSED, "a limit" },
	ALWAYS, END,
};

#define FORMAT { "format", 'f', TAKES_VALUE, BOTH, ROLE_PASSED, "the output format" }
#define REGEX { "regex", 'r', TAKES_NONE, CRUN, ROLE_PASSED, "the containers, whose leases the helper ends later" }

static const struct option delete[] = {
	{ "force", 'f', TAKES_NONE, BOTH, ROLE_PASSED, "whether the container is killed first" }, REGEX, ALWAYS, END,
};

static const struct option kill[] = {
	{ "all", 'a', TAKES_NONE, BOTH, ROLE_PASSED, "the processes that are signalled" }, REGEX, ALWAYS, END,
};

static const struct option list[] = {
	FORMAT, { "quiet", 'q', TAKES_NONE, BOTH, ROLE_PASSED, "the output format" }, ALWAYS, END,
};

static const struct option ps[] = { FORMAT, ALWAYS, END };

static const struct option events[] = {
	{ "interval", 0, TAKES_VALUE, RUNC, ROLE_PASSED, "the interval" },
	{ "stats", 0, TAKES_NONE, RUNC, ROLE_PASSED, "the amount of output" },
	ALWAYS, END,
};

static const struct option spec[] = {
	{ "bundle", 'b', TAKES_VALUE, BOTH, ROLE_PASSED, "the directory of a new config.json, written as the caller" },
	{ "file", 'f', TAKES_VALUE, CRUN, ROLE_PASSED, "the name of that file" },
	{ "rootless", 0, TAKES_NONE, BOTH, ROLE_PASSED, "the content of that file" },
	ALWAYS, END,
};

static const struct option plain[] = { ALWAYS, END };

const struct runtime_verb verbs_all[] = {
	{ "create", BOTH, KIND_MAKES, { 1, 1 }, { 1, 1 }, false, create, "a container" },
	{ "run", BOTH, KIND_MAKES, { 1, 1 }, { 1, 1 }, false, run, "a container" },
	{ "restore", BOTH, KIND_MAKES, { 1, 1 }, { 1, 2 }, false, restore,
	    "a container whose image decides about its processes and their rights" },
	{ "exec", BOTH, KIND_EXEC, { 1, MANY }, { 1, MANY }, true, exec, "a process in a container" },
	{ "update", BOTH, KIND_LIMITS, { 1, 1 }, { 1, 1 }, false, update, "a container's limits" },
	{ "checkpoint", BOTH, KIND_IMAGE, { 1, 1 }, { 1, 2 }, false, checkpoint, "files with the state of a container" },
	{ "mounts", CRUN, KIND_REFUSED, { 0, 0 }, { 1, 3 }, false, plain,
	    "a container's mounts are checked only when it is made" },
	{ "start", BOTH, KIND_PASSED, { 1, 1 }, { 1, 1 }, false, plain, "the start of a container" },
	{ "kill", BOTH, KIND_PASSED, { 1, 2 }, { 1, 2 }, false, kill, "a signal" },
	{ "delete", BOTH, KIND_PASSED, { 1, 1 }, { 1, 1 }, false, delete, "the end of a container and its lease" },
	{ "pause", BOTH, KIND_PASSED, { 1, 1 }, { 1, 2 }, false, plain, "whether a container runs" },
	{ "resume", BOTH, KIND_PASSED, { 1, 1 }, { 1, 2 }, false, plain, "whether a container runs" },
	{ "state", BOTH, KIND_PASSED, { 1, 1 }, { 1, 1 }, false, plain, "nothing; the runtime only prints" },
	{ "list", BOTH, KIND_PASSED, { 0, 0 }, { 0, 0 }, false, list, "nothing; the runtime only prints" },
	{ "ps", BOTH, KIND_PASSED, { 1, MANY }, { 1, 1 }, true, ps, "nothing; the runtime only prints" },
	{ "events", RUNC, KIND_PASSED, { 1, 1 }, { 0, 0 }, false, events, "nothing; the runtime only prints" },
	{ "features", BOTH, KIND_PASSED, { 0, 0 }, { 0, MANY }, false, plain, "nothing; the runtime only prints" },
	{ "spec", BOTH, KIND_PASSED, { 0, 0 }, { 0, 0 }, false, spec, "a sample config.json" },
	{ "help", RUNC, KIND_PASSED, { 0, MANY }, { 0, 0 }, true, plain, "nothing; the runtime only prints" },
	{ "h", RUNC, KIND_PASSED, { 0, MANY }, { 0, 0 }, true, plain, "nothing; the runtime only prints" },
	{ NULL, BOTH, KIND_NONE, { 0, 0 }, { 0, 0 }, false, NULL, NULL },
};

bool
option_is_last(const struct option *o)
{
	return o->name == NULL && o->letter == 0;
}

static const char *const runtime_names[] = { "", "runc", "crun", "runc,crun" };

static const char *
fate_of(enum role role)
{
	if (role == ROLE_PASSED || role == ROLE_HELP)
		return "passed";
	if (role == ROLE_REFUSED)
		return "refused";
	return role >= ROLE_PROCESS ? "changed" : role >= ROLE_CGROUP_MANAGER ? "judged" : "read";
}

/* Prints the options that these runtimes have. */
static void
print_options(struct buf *out, const char *verb, enum runtimes runtimes, const struct option *o)
{
	static const char *const takes[] = { "none", "value", "optional" };

	for (; !option_is_last(o); o++) {
		if ((o->runtimes & runtimes) == 0)
			continue;
		buf_printf(out, "%s ", verb);
		if (o->name != NULL)
			buf_printf(out, "--%s%s", o->name, o->letter != 0 ? "," : "");
		if (o->letter != 0)
			buf_printf(out, "-%c", o->letter);
		buf_printf(out, " %s %s %s: %s\n", takes[o->takes], runtime_names[o->runtimes & runtimes], fate_of(o->role),
		    o->decides);
	}
}

bool
verbs_show(int fd)
{
	static const char *const fates[] = { "", "passed", "changed", "changed", "passed", "judged", "refused" };
	const struct runtime_verb *v;
	autobuf struct buf out = { 0 };

	print_options(&out, "-", BOTH, verbs_globals);
	for (v = verbs_all; v->name != NULL; v++) {
		buf_printf(&out, "%s - - %s %s: %s\n", v->name, runtime_names[v->runtimes], fates[v->kind], v->decides);
		print_options(&out, v->name, v->runtimes, v->options);
	}
	return !out.failed && dprintf(fd, "%s", out.p) >= 0;
}
