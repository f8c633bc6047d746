/* See verbs.h. The table comes from the sources of the releases. Must decide nothing itself. */
#include "verbs.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>

#include "../pure/text.h"

#define MANY INT_MAX

#define END { NULL, 0, TAKES_NONE, BOTH, ROLE_PASSED, NULL }

/* Options that urfave/cli (runc) and argp (crun) add to every verb. */
#define ALWAYS \
	{ "help", 'h', TAKES_NONE, RUNC, ROLE_HELP, "nothing: prints" }, \
	{ "help", '?', TAKES_NONE, CRUN, ROLE_HELP, "nothing: prints" }, \
	{ "usage", 0, TAKES_NONE, CRUN, ROLE_HELP, "nothing: prints" }, \
	{ "program-name", 0, TAKES_VALUE, CRUN, ROLE_PASSED, "its name in messages" }, \
	{ "HANG", 0, TAKES_OPTIONAL, CRUN, ROLE_PASSED, "how long it sleeps first" }

const struct option verbs_globals[] = {
	{ "root", 0, TAKES_VALUE, BOTH, ROLE_ROOT, "where containers are kept, and so which one an id means" },
	{ "log", 0, TAKES_VALUE, BOTH, ROLE_LOG, "where messages go" },
	{ "log-format", 0, TAKES_VALUE, BOTH, ROLE_LOG_FORMAT, "how messages look" },
	{ "log-level", 0, TAKES_VALUE, CRUN, ROLE_PASSED, "which messages there are" },
	{ "debug", 0, TAKES_NONE, BOTH, ROLE_PASSED, "which messages there are" },
	{ "criu", 0, TAKES_VALUE, RUNC, ROLE_PASSED, "which program checkpoint and restore run, as the caller" },
	{ "systemd-cgroup", 0, TAKES_NONE, BOTH, ROLE_SYSTEMD_CGROUP, "who makes the container's cgroup" },
	{ "cgroup-manager", 0, TAKES_VALUE, CRUN, ROLE_CGROUP_MANAGER,
	    "who makes the container's cgroup; «disabled» means no device rules" },
	{ "rootless", 0, TAKES_VALUE, BOTH, ROLE_ROOTLESS, "with «true» runc goes on without device rules" },
	{ "version", 'v', TAKES_NONE, BOTH, ROLE_HELP, "nothing: prints" },
	{ NULL, 'V', TAKES_NONE, CRUN, ROLE_HELP, "nothing: prints" },
	ALWAYS, END,
};

/* For create, run and restore. */
#define BUNDLE { "bundle", 'b', TAKES_VALUE, BOTH, ROLE_BUNDLE, "which config.json is the container's" }
#define CONSOLE { "console-socket", 0, TAKES_VALUE, BOTH, ROLE_PASSED, "who gets the terminal" }
#define PID_FILE { "pid-file", 0, TAKES_VALUE, BOTH, ROLE_PASSED, "a file that is written as the caller" }
#define PIDFD { "pidfd-socket", 0, TAKES_VALUE, RUNC, ROLE_PASSED, "who gets a handle of the process" }
#define FDS { "preserve-fds", 0, TAKES_VALUE, BOTH, ROLE_PASSED, "which of the caller's open files the process has" }
#define CONFIG { "config", 'f', TAKES_VALUE, CRUN, ROLE_REFUSED, "only the bundle's config.json is used" }
#define DETACH { "detach", 'd', TAKES_NONE, BOTH, ROLE_DETACH, "whether the runtime stays" }
#define KEYRING { "no-new-keyring", 0, TAKES_NONE, BOTH, ROLE_PASSED, "whether it has its caller's session keyring" }
#define NO_PIVOT(runtimes) { "no-pivot", 0, TAKES_NONE, runtimes, ROLE_NO_PIVOT, \
	"whether the host's mounts stay beneath its own" }
#define SUBREAPER(runtimes) { "no-subreaper", 0, TAKES_NONE, runtimes, ROLE_PASSED, "who is told of its orphans' ends" }

static const struct option create[] = {
	BUNDLE, CONFIG, CONSOLE, PID_FILE, PIDFD, FDS, NO_PIVOT(BOTH), KEYRING, SUBREAPER(CRUN), ALWAYS, END,
};

static const struct option run[] = {
	BUNDLE, CONFIG, CONSOLE, PID_FILE, PIDFD, FDS, DETACH, NO_PIVOT(BOTH), KEYRING, SUBREAPER(BOTH),
	{ "keep", 0, TAKES_NONE, BOTH, ROLE_PASSED, "whether its state stays when it has ended" },
	ALWAYS, END,
};

/* For checkpoint and restore, for criu. */
#define CRIU \
	{ "image-path", 0, TAKES_VALUE, BOTH, ROLE_PASSED, "where the image is" }, \
	{ "work-path", 0, TAKES_VALUE, BOTH, ROLE_PASSED, "where criu writes, as the caller" }, \
	{ "tcp-established", 0, TAKES_NONE, BOTH, ROLE_PASSED, "which connections it keeps" }, \
	{ "ext-unix-sk", 0, TAKES_NONE, BOTH, ROLE_PASSED, "which sockets it keeps" }, \
	{ "shell-job", 0, TAKES_NONE, BOTH, ROLE_PASSED, "whether it keeps its terminal" }, \
	{ "file-locks", 0, TAKES_NONE, BOTH, ROLE_PASSED, "whether it keeps its locks" }, \
	{ "manage-cgroups-mode", 0, TAKES_VALUE, BOTH, ROLE_PASSED, "which settings its cgroups get" }, \
	{ "network-lock", 0, TAKES_VALUE, CRUN, ROLE_PASSED, "how its network is stopped meanwhile" }, \
	{ "empty-ns", 0, TAKES_VALUE, RUNC, ROLE_PASSED, "which namespaces are empty" }, \
	{ "auto-dedup", 0, TAKES_NONE, RUNC, ROLE_PASSED, "how the image is kept" }, \
	{ "lazy-pages", 0, TAKES_NONE, RUNC, ROLE_PASSED, "when its memory comes" }

static const struct option restore[] = {
	BUNDLE, CONSOLE, PID_FILE, DETACH, NO_PIVOT(RUNC), SUBREAPER(RUNC), CRIU,
	{ "tcp-close", 0, TAKES_NONE, CRUN, ROLE_PASSED, "which connections it keeps" },
	{ "lsm-profile", 0, TAKES_VALUE, BOTH, ROLE_PASSED, "its label" },
	{ "lsm-mount-context", 0, TAKES_VALUE, BOTH, ROLE_PASSED, "the label of its mounts" },
	ALWAYS, END,
};

static const struct option checkpoint[] = {
	CRIU,
	{ "parent-path", 0, TAKES_VALUE, BOTH, ROLE_PASSED, "where an older image is" },
	{ "leave-running", 0, TAKES_NONE, BOTH, ROLE_PASSED, "whether it runs on" },
	{ "pre-dump", 0, TAKES_NONE, BOTH, ROLE_PASSED, "whether memory alone is written" },
	{ "tcp-skip-in-flight", 0, TAKES_NONE, RUNC, ROLE_PASSED, "which connections it keeps" },
	{ "link-remap", 0, TAKES_NONE, RUNC, ROLE_PASSED, "whether files without a name are kept" },
	{ "page-server", 0, TAKES_VALUE, RUNC, ROLE_PASSED, "where its memory is sent" },
	{ "status-fd", 0, TAKES_VALUE, RUNC, ROLE_PASSED, "which of the caller's open files criu writes to" },
	ALWAYS, END,
};

static const struct option exec[] = {
	{ "process", 'p', TAKES_VALUE, BOTH, ROLE_PROCESS, "the whole process" },
	{ "env", 'e', TAKES_VALUE, BOTH, ROLE_ENV, "its environment" },
	{ "console-socket", 0, TAKES_VALUE, BOTH, ROLE_CONSOLE, "who gets the terminal" },
	{ "cap", 'c', TAKES_VALUE, BOTH, ROLE_CAP, "its capabilities" },
	{ "cgroup", 0, TAKES_VALUE, BOTH, ROLE_EXEC_CGROUP, "its cgroup, from the container's own; crun takes «..»" },
	{ "process-label", 0, TAKES_VALUE, BOTH, ROLE_LABEL, "its SELinux label" },
	{ "apparmor", 0, TAKES_VALUE, BOTH, ROLE_PASSED, "its profile, which opens no device that the cgroup shuts" },
	{ "user", 'u', TAKES_VALUE, BOTH, ROLE_PASSED, "its user, whose nodes the cgroup shuts all the same" },
	{ "additional-gids", 'g', TAKES_VALUE, RUNC, ROLE_PASSED, "its groups, likewise" },
	{ "cwd", 0, TAKES_VALUE, BOTH, ROLE_PASSED, "its directory in the container" },
	{ "tty", 't', TAKES_NONE, RUNC, ROLE_PASSED, "whether it has a terminal" },
	{ "tty", 't', TAKES_OPTIONAL, CRUN, ROLE_PASSED, "whether it has a terminal" },
	{ "detach", 'd', TAKES_NONE, BOTH, ROLE_PASSED, "whether the runtime stays" },
	{ "no-new-privs", 0, TAKES_NONE, BOTH, ROLE_PASSED, "whether setuid programs give it rights in its container" },
	{ "ignore-paused", 0, TAKES_NONE, RUNC, ROLE_PASSED, "whether it may wait in a paused container" },
	PID_FILE, PIDFD, FDS, ALWAYS, END,
};

#define LIMIT(name) { name, 0, TAKES_VALUE, BOTH, ROLE_PASSED, "a limit" }

static const struct option update[] = {
	{ "resources", 'r', TAKES_VALUE, BOTH, ROLE_RESOURCES, "all limits; crun: devices too; both: files of its cgroup" },
	LIMIT("blkio-weight"), LIMIT("cpu-period"), LIMIT("cpu-quota"), LIMIT("cpu-share"), LIMIT("cpu-rt-period"),
	LIMIT("cpu-rt-runtime"), LIMIT("cpuset-cpus"), LIMIT("cpuset-mems"), LIMIT("kernel-memory"),
	LIMIT("kernel-memory-tcp"), LIMIT("memory"), LIMIT("memory-reservation"), LIMIT("memory-swap"),
	LIMIT("pids-limit"), LIMIT("l3-cache-schema"), LIMIT("mem-bw-schema"),
	{ "cpu-burst", 0, TAKES_VALUE, RUNC, ROLE_PASSED, "a limit" },
	{ "cpu-idle", 0, TAKES_VALUE, RUNC, ROLE_PASSED, "a limit" },
	ALWAYS, END,
};

#define FORMAT { "format", 'f', TAKES_VALUE, BOTH, ROLE_PASSED, "how it is printed" }
#define REGEX { "regex", 'r', TAKES_NONE, CRUN, ROLE_PASSED, "which containers: its leases are seen to be over later" }

static const struct option delete[] = {
	{ "force", 'f', TAKES_NONE, BOTH, ROLE_PASSED, "whether it is ended first" }, REGEX, ALWAYS, END,
};

static const struct option kill[] = {
	{ "all", 'a', TAKES_NONE, BOTH, ROLE_PASSED, "which of its processes" }, REGEX, ALWAYS, END,
};

static const struct option list[] = {
	FORMAT, { "quiet", 'q', TAKES_NONE, BOTH, ROLE_PASSED, "how it is printed" }, ALWAYS, END,
};

static const struct option ps[] = { FORMAT, ALWAYS, END };

static const struct option events[] = {
	{ "interval", 0, TAKES_VALUE, RUNC, ROLE_PASSED, "how often" },
	{ "stats", 0, TAKES_NONE, RUNC, ROLE_PASSED, "how much is printed" },
	ALWAYS, END,
};

static const struct option spec[] = {
	{ "bundle", 'b', TAKES_VALUE, BOTH, ROLE_PASSED, "where a new config.json is written, as the caller" },
	{ "file", 'f', TAKES_VALUE, CRUN, ROLE_PASSED, "likewise" },
	{ "rootless", 0, TAKES_NONE, BOTH, ROLE_PASSED, "what is written" },
	ALWAYS, END,
};

static const struct option plain[] = { ALWAYS, END };

const struct runtime_verb verbs_all[] = {
	{ "create", BOTH, KIND_MAKES, { 1, 1 }, { 1, 1 }, false, create, "a container" },
	{ "run", BOTH, KIND_MAKES, { 1, 1 }, { 1, 1 }, false, run, "a container" },
	{ "restore", BOTH, KIND_MAKES, { 1, 1 }, { 1, 2 }, false, restore,
	    "a container whose image says what its processes are and may do" },
	{ "exec", BOTH, KIND_EXEC, { 1, MANY }, { 1, MANY }, true, exec, "a process in a container" },
	{ "update", BOTH, KIND_LIMITS, { 1, 1 }, { 1, 1 }, false, update, "a container's limits" },
	{ "checkpoint", BOTH, KIND_IMAGE, { 1, 1 }, { 1, 2 }, false, checkpoint, "files with all that a container is" },
	{ "mounts", CRUN, KIND_REFUSED, { 0, 0 }, { 1, 3 }, false, plain,
	    "a container's mounts are checked only when it is made" },
	{ "start", BOTH, KIND_PASSED, { 1, 1 }, { 1, 1 }, false, plain, "when a container begins" },
	{ "kill", BOTH, KIND_PASSED, { 1, 2 }, { 1, 2 }, false, kill, "a signal" },
	{ "delete", BOTH, KIND_PASSED, { 1, 1 }, { 1, 1 }, false, delete, "a container's end, and its lease's" },
	{ "pause", BOTH, KIND_PASSED, { 1, 1 }, { 1, 2 }, false, plain, "whether a container runs" },
	{ "resume", BOTH, KIND_PASSED, { 1, 1 }, { 1, 2 }, false, plain, "whether a container runs" },
	{ "state", BOTH, KIND_PASSED, { 1, 1 }, { 1, 1 }, false, plain, "nothing: prints" },
	{ "list", BOTH, KIND_PASSED, { 0, 0 }, { 0, 0 }, false, list, "nothing: prints" },
	{ "ps", BOTH, KIND_PASSED, { 1, MANY }, { 1, 1 }, true, ps, "nothing: prints" },
	{ "events", RUNC, KIND_PASSED, { 1, 1 }, { 0, 0 }, false, events, "nothing: prints" },
	{ "features", BOTH, KIND_PASSED, { 0, 0 }, { 0, MANY }, false, plain, "nothing: prints" },
	{ "spec", BOTH, KIND_PASSED, { 0, 0 }, { 0, 0 }, false, spec, "a config.json to begin with" },
	{ "help", RUNC, KIND_PASSED, { 0, MANY }, { 0, 0 }, true, plain, "nothing: prints" },
	{ "h", RUNC, KIND_PASSED, { 0, MANY }, { 0, 0 }, true, plain, "nothing: prints" },
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
