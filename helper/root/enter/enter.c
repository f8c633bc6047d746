/*
 * See enter.h. Runs as uid 0 in the state in which the caller left the process, so it may assume nothing. Until all
 * ids are root's, it must not write a log, and may open only /dev/null, /etc/passwd, /etc/subuid, the slots of
 * slots.h and the directories that it checks. Until then the caller can stop or end the process at any point, so it
 * must do nothing that would have to be undone.
 */
#include "enter.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/times.h"
#include "../../host/gpu/drivers.h"
#include "../../host/hostview.h"
#include "../../host/users.h"
#include "../self/capability.h"
#include "../self/filter.h"
#include "../self/slots.h"
#include "../self/spawn.h"
#include "../self/timer.h"
#include "owncgroup.h"

/*
 * - CAP_MKNOD, CAP_CHOWN, CAP_FOWNER: to make device nodes, and to change their ACLs.
 * - CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_CHECKPOINT_RESTORE: to read /proc/PID/fd and to follow the links of
 *   /proc/PID/map_files, for the nodes that a process has open and mapped.
 * - CAP_IPC_LOCK: to lock memory beyond the caller's RLIMIT_MEMLOCK (owncgroup.c).
 * - CAP_KILL: to end programs that run as users of their own (spawn.c).
 * - CAP_SETUID, the last one: for leave(). Behind the socket it is not kept.
 */
static const int kept_capabilities[] = { CAP_MKNOD, CAP_CHOWN, CAP_FOWNER, CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH,
	CAP_IPC_LOCK, CAP_CHECKPOINT_RESTORE, CAP_KILL, CAP_SETUID };
#define FIRST_REAL_TIME 32	/* the kernel's number (signal(7)); SIGRTMIN leaves out those that the C library uses */
#define KEPT (sizeof(kept_capabilities) / sizeof(kept_capabilities[0]))

/* Raises a limit to «want», or as far as the hard limit allows. Refuses if it stays below «least». */
static int
need_limit(__rlimit_resource_t what, rlim_t want, rlim_t least, const char *name, struct why *why)
{
	struct rlimit r = { want, want };

	if (setrlimit(what, &r) == -1 && getrlimit(what, &r) == 0 && r.rlim_cur < want) {
		r.rlim_cur = r.rlim_max < want ? r.rlim_max : want;
		(void)setrlimit(what, &r);
	}
	if (getrlimit(what, &r) == -1 || r.rlim_cur < least)
		return refuse(why, WHY_AGAIN, "the limit on %s is too low to work with: raise it (ulimit)", name);
	return 0;
}

static bool
is_for_root(enum door door)
{
	struct ucred cred;
	socklen_t size = sizeof(cred);

	/* a user may execute this program as if behind the socket, with any socket */
	if (door == DOOR_SETUID || getuid() != 0)
		return getuid() == 0;
	return getsockopt(STDIN_FILENO, SOL_SOCKET, SO_PEERCRED, &cred, &size) == 0 && cred.uid == 0;
}

/*
 * The process inherits the timer slack, by which poll(2) may wait longer than told. The caller may have set it to
 * years.
 */
static int
own_time(bool of_root, struct why *why)
{
	/* 0 would set the inherited value */
	(void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
	/* a timer counts as a pending signal of the user */
	if (need_limit(RLIMIT_SIGPENDING, RLIM_INFINITY, 1, "pending signals", why) == -1)
		return -1;
	if (kill_after(of_root ? RUN_MAX_OF_ROOTS_S : RUN_MAX_S) == -1)
		return refuse(why, WHY_AGAIN, "can't make a timer: %s: raise the limit on pending signals (ulimit)",
		    strerror(errno));
	return 0;
}

/*
 * Replaces descriptors 0 to 2 by /dev/null if they are files of a file system, which may be the caller's own (fuse(4)).
 * Such a file system can leave a poll, a write or a close unanswered, and no signal ends a process that waits for the
 * answer. This runs while the process still counts as the caller's.
 */
static int
leave_files(int null, struct why *why)
{
	struct statx st;
	int fd;

	for (fd = 0; fd < 3; fd++)
		if ((statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &st) == -1 || (!S_ISSOCK(st.stx_mode) &&
		    !S_ISFIFO(st.stx_mode) && !S_ISCHR(st.stx_mode))) && dup2(null, fd) == -1)
			return refuse(why, WHY_AGAIN, "dup2: %s", strerror(errno));
	return 0;
}

/*
 * Resets the offset at which MSG_PEEK begins, because the caller may have set it. If the descriptor is no socket, a
 * later step refuses the request.
 */
static int
own_socket(struct why *why)
{
	const int from_the_start = -1;

	if (setsockopt(STDIN_FILENO, SOL_SOCKET, SO_PEEK_OFF, &from_the_start, sizeof(from_the_start)) == -1 &&
	    errno != ENOTSOCK && errno != EOPNOTSUPP)
		return refuse(why, WHY_AGAIN, "SO_PEEK_OFF: %s", strerror(errno));
	return 0;
}

/* If one of 0, 1 and 2 were closed, the next file that we open would become standard output, say. */
static int
own_descriptors(enum door door, struct why *why)
{
	int fd, ret;

	if (syscall(SYS_close_range, 3U, ~0U, 0U) == -1)
		return refuse(why, WHY_AGAIN, "close_range: %s: this program needs Linux 5.9", strerror(errno));
	do {
		if ((fd = open("/dev/null", O_RDWR)) == -1)
			return refuse(why, WHY_AGAIN, "/dev/null: %s", strerror(errno));
	} while (fd < 3);
	ret = door == DOOR_SETUID && leave_files(fd, why) == -1 ? -1 : own_socket(why);
	close(fd);
	return ret;
}

static int
take_starter(struct starter *who, struct why *why)
{
	uid_t euid, suid;
	gid_t egid, sgid;
	int n;

	if (getresuid(&who->uid, &euid, &suid) == -1 || getresgid(&who->gid, &egid, &sgid) == -1)
		return refuse(why, WHY_BUG, "getresuid: %s", strerror(errno));
	who->parent = getppid();
	if (euid != 0)
		return refuse(why, WHY_DENIED, "not running as root: the setuid bit of this program has no effect here "
		    "(not installed 4750 root:gpuhelper, on a nosuid mount, under no_new_privs, or in a user namespace)");
	if ((n = getgroups(0, NULL)) < 0 || n > ENTER_GROUPS_MAX)
		return refuse(why, WHY_BUG, "getgroups: %s", strerror(errno));
	if ((who->groups = calloc((size_t)n + 1, sizeof(*who->groups))) == NULL)
		return refuse_nomem(why);
	if ((n = getgroups(n, who->groups)) < 0)
		return refuse(why, WHY_BUG, "getgroups: %s", strerror(errno));
	who->group_count = (size_t)n;
	return 0;
}

/*
 * Checks that uid 0 is the host's root. In a user namespace of another user, root has no rights on the host: there, our
 * own file does not belong to root.
 */
static int
check_power(enum door door, const struct starter *who, struct why *why)
{
	struct stat exe;

	if (stat("/proc/self/exe", &exe) == -1)
		return refuse(why, WHY_IO, "/proc/self/exe: %s: is /proc mounted?", strerror(errno));
	if (exe.st_uid != 0)
		return refuse(why, WHY_DENIED, "started by root of a user namespace, not by the host's root (this program belongs "
		    "to uid %u there)", exe.st_uid);
	if (who->uid != 0 && getauxval(AT_SECURE) == 0)
		return refuse(why, WHY_DENIED, "started neither through the setuid bit nor by root");
	/* a user could pass us a connection of another user, and so ask in that user's name */
	if (door == DOOR_SOCKET && (who->uid != 0 || getauxval(AT_SECURE) != 0))
		return refuse(why, WHY_DENIED, "only root may use --socket: systemd does, for gpuhelper.socket");
	return 0;
}

/* A container without a user namespace of its own could have another /etc/gpuhelper. */
static int
check_etc(struct why *why)
{
	struct stat ours, hosts;

	if (stat(GPUHELPER_CONFDIR, &ours) == -1)
		return refuse(why, WHY_CONFIG, "%s: %s: make it, root's and 0755", GPUHELPER_CONFDIR, strerror(errno));
	if (stat("/proc/1/root" GPUHELPER_CONFDIR, &hosts) == -1)
		return refuse(why, WHY_DENIED, "/proc/1/root%s: %s: can't see the host's settings from here",
		    GPUHELPER_CONFDIR, strerror(errno));
	if (ours.st_dev != hosts.st_dev || ours.st_ino != hosts.st_ino)
		return refuse(why, WHY_DENIED, "%s here is not the host's: run from a container?", GPUHELPER_CONFDIR);
	return 0;
}

/*
 * Root may have given a service or a session another /dev or /run. A helper there would see nodes without the changes
 * that leases made to them, and no leases: it would end leases without undoing their changes, or grant GPUs that
 * other containers have.
 */
static int
check_state_dirs(struct why *why)
{
	static const char *const dirs[] = { "/dev", GPUHELPER_RUNDIR, GPUHELPER_STATEDIR, GPUHELPER_LOGDIR };
	char above[PATH_MAX];
	size_t i;
	int ret;

	for (i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		if ((ret = hostview_compare(dirs[i], WHY_DENIED, why)) == -1)
			return -1;
		/* the helper will make a missing directory in the directory above, which must be the host's */
		snprintf(above, sizeof(above), "%.*s", (int)(strrchr(dirs[i], '/') - dirs[i]), dirs[i]);
		if (ret == 1 && hostview_compare(above, WHY_DENIED, why) == -1)
			return -1;
	}
	return 0;
}

static void
reset_signals(void)
{
	const struct itimerval off = { 0 };
	sigset_t none;
	int sig;

	/* real-time signals may stay ignored: nothing here waits for one */
	for (sig = 1; sig < FIRST_REAL_TIME; sig++)
		(void)signal(sig, SIG_DFL);
	(void)signal(SIGPIPE, SIG_IGN);
	/* the caller's terminal must not stop or end the helper half-way */
	(void)signal(SIGHUP, SIG_IGN);
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGQUIT, SIG_IGN);
	(void)signal(SIGTSTP, SIG_IGN);
	(void)signal(SIGTTIN, SIG_IGN);
	(void)signal(SIGTTOU, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)setitimer(ITIMER_REAL, &off, NULL);
	(void)setitimer(ITIMER_VIRTUAL, &off, NULL);
	(void)setitimer(ITIMER_PROF, &off, NULL);
	(void)prctl(PR_SET_PDEATHSIG, 0);
}

static int
reset_limits(struct why *why)
{
	const struct rlimit none = { 0, 0 };

	if (need_limit(RLIMIT_NOFILE, 1024, 32, "open files", why) == -1 ||
	    need_limit(RLIMIT_FSIZE, RLIM_INFINITY, 1 << 20, "file size", why) == -1 ||
	    need_limit(RLIMIT_STACK, 8 << 20, 1 << 20, "stack", why) == -1 ||
	    need_limit(RLIMIT_AS, RLIM_INFINITY, 64 << 20, "address space", why) == -1 ||
	    need_limit(RLIMIT_DATA, RLIM_INFINITY, 32 << 20, "data", why) == -1 ||
	    need_limit(RLIMIT_CPU, RLIM_INFINITY, 5, "CPU time", why) == -1 ||
	    /* this limit would count all processes of our programs' users */
	    need_limit(RLIMIT_NPROC, RLIM_INFINITY, 0, "processes", why) == -1)
		return -1;
	(void)setrlimit(RLIMIT_CORE, &none);
	return 0;
}

/*
 * Leaves the starter's session. The scheduler has an autogroup for each session (sched(7)), and members of a session
 * can lower the priority of its autogroup while this process holds a lock. setsid(2) fails for the leader of a process
 * group.
 */
static int
leave_session(const struct starter *who, struct why *why)
{
	if (setsid() == -1 && who->uid != 0)
		return refuse(why, WHY_DENIED, "started as the leader of a process group: gpuhelper is started by gpuhelper-runc "
		    "(see gpuhelper(8))");
	return 0;
}

static void
reset_environment(void)
{
	const struct sched_param ordinary = { 0 };
	cpu_set_t cpus;
	int fd;

	(void)setpriority(PRIO_PROCESS, 0, 0);
	/* no I/O priority of its own: the nice value decides (ioprio_set(2), IOPRIO_WHO_PROCESS) */
	(void)syscall(SYS_ioprio_set, 1, 0, 0);
	(void)sched_setscheduler(0, SCHED_OTHER, &ordinary);
	memset(&cpus, 0xff, sizeof(cpus));
	(void)sched_setaffinity(0, sizeof(cpus), &cpus);
	if ((fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC)) != -1) {
		(void)!write(fd, "0", 1);
		close(fd);
	}
}

/* Changes the groups before the uid, so that files made before become_root() belong to root's group. */
static int
become_roots_group(struct why *why)
{
	/* a service of root's may lack the capabilities for this, and needs no change: become_root() checks the result */
	if ((setgroups(0, NULL) == -1 || setresgid(0, 0, 0) == -1) && getuid() != 0)
		return refuse(why, WHY_BUG, "can't change to root's group: %s", strerror(errno));
	return 0;
}

/* Once the real uid is 0 too, the caller can't signal, trace or limit this process, which no longer counts as his. */
static int
become_root(struct why *why)
{
	uid_t r, e, s;
	gid_t rg, eg, sg;
	int err = 0;

	/* a service of root's may lack the capabilities for this, so only the resulting ids count */
	if (setgroups(0, NULL) == -1 || setresgid(0, 0, 0) == -1 || setresuid(0, 0, 0) == -1)
		err = errno;
	if (getresuid(&r, &e, &s) == -1 || getresgid(&rg, &eg, &sg) == -1 || r != 0 || e != 0 || s != 0 || rg != 0 ||
	    eg != 0 || sg != 0 || getgroups(0, NULL) != 0)
		return refuse(why, WHY_BUG, "can't change all ids to root's: %s", err != 0 ? strerror(err) : "no error");
	return 0;
}

/*
 * Refuses subordinate uids: a user with many of them would count as many users. To be called before slot_take(), and
 * while the caller can still end this process.
 */
static int
check_own(uid_t uid, struct why *why)
{
	autofree char *name = user_name(uid);
	int subordinate;

	if (name != NULL)
		return 0;
	if (errno != 0)
		return refuse(why, WHY_IO, "/etc/passwd: %s", strerror(errno));
	if ((subordinate = user_is_subordinate(uid)) == -1)
		return refuse(why, WHY_IO, "/etc/subuid: %s", strerror(errno));
	if (subordinate == 1)
		return refuse(why, WHY_DENIED, "uid %u is a subordinate uid (/etc/subuid): only the user who owns it can "
		    "ask", uid);
	return 0;
}

/* Finds the majors and the owner of the driver's nodes. Without majors, nodes can't be made, and changes.c says so. */
static void
find_nodes(struct filter_nodes *out)
{
	struct inventory inv = { .gpus = 0 };
	struct why ignored;
	size_t i;

	(void)drivers_read(&inv, &ignored);
	out->uid = inv.nvidia_uid;
	out->gid = inv.nvidia_gid;
	for (i = 0; i < inv.majors.n && out->majors < FILTER_MAJORS_MAX; i++)
		if (inv.majors.v[i].type == 'c' && strncmp(inv.majors.v[i].name, "nvidia", 6) == 0)
			out->major[out->majors++] = inv.majors.v[i].major;
	inventory_free(&inv);
}

/*
 * Any user can hold the lock of our /proc directory by listing it. A lookup of a name that is already cached needs no
 * lock, and these descriptors keep the names cached until the process ends.
 */
static int
pin_own_names(struct why *why)
{
	static const char *const names[] = { "/proc/self/fd", "/proc/self/fdinfo", "/proc/self/mountinfo" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (open(names[i], O_PATH | O_CLOEXEC) == -1)
			return refuse(why, WHY_IO, "%s: %s", names[i], strerror(errno));
	return 0;
}

int
enter(enum door door, struct starter *who, struct why *why)
{
	int full;

	*who = (struct starter){ .of_root = is_for_root(door) };
	(void)umask(077);
	if (own_time(who->of_root, why) == -1 || own_descriptors(door, why) == -1)
		return -1;
	if (clearenv() != 0)
		return refuse_nomem(why);
	(void)prctl(PR_SET_DUMPABLE, 0);
	if (take_starter(who, why) == -1 || check_power(door, who, why) == -1)
		return -1;
	reset_signals();
	if (leave_session(who, why) == -1)
		return -1;
	/*
	 * resets the limits while the process has CAP_SYS_RESOURCE, and all else that it inherits once nobody can
	 * interfere
	 */
	if (reset_limits(why) == -1 || become_roots_group(why) == -1 || check_etc(why) == -1)
		return -1;
	if (door == DOOR_SETUID && (check_state_dirs(why) == -1 || check_own(who->uid, why) == -1))
		return -1;
	/* while this process counts as the user's, RLIMIT_NPROC limits how many wait here */
	if (door == DOOR_SETUID && (full = slot_take(who->uid, why)) != 0)
		return full;
	if (become_root(why) == -1 || pin_own_names(why) == -1)
		return -1;
	if (chdir("/") == -1)
		return refuse(why, WHY_IO, "/: %s", strerror(errno));
	reset_environment();
	make_own_cgroup(who->uid);
	return 0;
}

int
enter_sandbox(enum door door, const struct starter *who, int labeller_channel, struct why *why)
{
	/* links only for root's requests; a filter can't be loosened once the request is read */
	struct filter_nodes nodes = { .links = who->of_root, .labeller_channel = labeller_channel,
		.caller = door == DOOR_SETUID ? who->uid : 0 };

	nodes.children = spawned_pids(nodes.child);
	if (capabilities_keep(kept_capabilities, KEPT - (door == DOOR_SOCKET ? 1 : 0), why) == -1)
		return -1;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1)
		return refuse(why, WHY_BUG, "no_new_privs: %s", strerror(errno));
	(void)prctl(PR_SET_DUMPABLE, 0);
	find_nodes(&nodes);
	return filter_install(&nodes, why);
}

void
leave(const struct starter *who)
{
	if (who->uid != 0)
		(void)!setresuid(who->uid, who->uid, who->uid);
}
