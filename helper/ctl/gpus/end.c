/*
 * gpuhelperctl end: kills the processes of a container that holds GPUs, so that its engine sees it exit; or the task in
 * a container that waits for them.  Runs as root.  Reads the leases but changes none: the helper ends the lease when it
 * sees that the container is gone.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/quoted.h"
#include "../../host/clock.h"
#include "../../host/file.h"
#include "../../host/process/process.h"
#include "../../lease/leasefile.h"
#include "../../lease/leasename.h"
#include "../../user/cgroup/endprocesses.h"
#include "../../user/record/containerrecord.h"
#include "../ctl.h"
#include "../runprogram.h"
#include "../worker/firstprocess.h"
#include "status.h"

#define LEASES GPUHELPER_RUNDIR "/leases"
#define GONE_MS 10000		/* how long to wait for the helper to end the lease */

#define NOBODY 65534		/* a group without rights */
#define ENGINE_ID 65		/* bytes of podman's and docker's ids, with a terminating 0 */

/* A search for a lease. */
struct lease_search {
	const char *name;	/* the container's name, or its beginning */
	struct lease lease;	/* the last match */
	char *file;		/* the name of its file; NULL: no match, or out of memory */
	size_t found;		/* number of matches */
	bool exactly;		/* the matches have exactly this name */
	char id[ENGINE_ID];	/* the container's id, if its engine knows it by the name */
};

static void
search_free(struct lease_search *s)
{
	lease_free(&s->lease);
	free(s->file);
}

/* A container with exactly this name wins over those whose names only begin with it. */
static void
take_match(struct lease_search *s, struct lease *l, const char *file)
{
	const bool exactly = strcmp(l->id, s->name) == 0;

	if (strncmp(l->id, s->name, strlen(s->name)) != 0 || (s->exactly && !exactly))
		return;
	if (exactly && !s->exactly)
		s->found = 0;
	s->exactly = exactly;
	s->found++;
	search_free(s);
	s->lease = *l;
	s->file = strdup(file);
	*l = (struct lease){ 0 };
}

/* Skips a lease that has ended since the directory was read. */
static void
match_lease(struct lease_search *s, int dir, const char *file)
{
	autofree char *text = NULL;
	struct lease l = { 0 };
	struct why ignored;
	size_t len;

	if (strchr(file, '.') == NULL && (text = file_read_at(dir, file, LEASE_FILE_MAX, &len)) != NULL &&
	    lease_decode(text, len, &l, &ignored) == 0)
		take_match(s, &l, file);
	lease_free(&l);
}

/* A container that waits while it is created has no lease yet, and the process that waits is its engine's. */
static int
refuse_unknown(const struct lease_search *s, struct why *why)
{
	struct why ignored;
	json_t *status = helper_status(&ignored), *w;
	bool waits = false;
	size_t i;

	json_array_foreach(json_object_get(status, "waiters"), i, w)
		waits = waits || text_starts(get_text(w, "container"), s->name);
	json_decref(status);
	return refuse(why, WHY_ABSENT, waits ? "container \"%.80s\" is still being created, and waits for a GPU: end it with "
	    "its engine" : "no container \"%.80s\" holds a lease: see gpuhelperctl status", s->name);
}

static int
search_leases(struct lease_search *s, struct why *why)
{
	DIR *d = file_list(open(LEASES, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	struct dirent *e;

	if (d == NULL && errno != ENOENT)
		return refuse(why, WHY_IO, LEASES ": %s", strerror(errno));
	while (d != NULL && (e = readdir(d)) != NULL)
		match_lease(s, dirfd(d), e->d_name);
	if (d != NULL)
		closedir(d);
	return 0;
}

/* Asks root's podman and docker for the id of a container with this name.  False if neither knows it. */
static bool
ask_engines(const char *name, char id[ENGINE_ID])
{
	static const char *const engines[] = { "podman", "docker" };
	struct why ignored;
	bool found = false;
	size_t i;

	for (i = 0; !found && *name != '-' && i < sizeof(engines) / sizeof(engines[0]); i++) {
		const char *const words[] = { engines[i], "container", "inspect", "--format", "{{.Id}}", name, NULL };
		autofree char *program = program_find(engines[i]);
		struct ran r = { .out = NULL };

		found = program != NULL && program_run(words, &r, &ignored) == 0 && r.status == 0 &&
		    strspn(r.out, "0123456789abcdef") == ENGINE_ID - 1;
		if (found)
			snprintf(id, ENGINE_ID, "%.*s", ENGINE_ID - 1, r.out);
		free(r.out);
	}
	return found;
}

static int
find_lease(struct lease_search *s, struct why *why)
{
	if (search_leases(s, why) == -1)
		return -1;
	if (s->found == 0 && ask_engines(s->name, s->id)) {
		s->name = s->id;
		if (search_leases(s, why) == -1)
			return -1;
	}
	if (s->found == 0)
		return refuse_unknown(s, why);
	if (s->found > 1)
		return refuse(why, WHY_USAGE, "%zu containers \"%.80s%s\" hold leases: %s", s->found, s->name,
		    s->exactly ? "" : "…", s->exactly ? "end one with its engine" : "give the whole name (gpuhelperctl status)");
	return s->file != NULL ? 0 : refuse_nomem(why);
}

/* True if the lease's process ids are of our PID namespace; in any other they would name other processes. */
static bool
has_our_numbers(const struct lease *l)
{
	struct stat st;

	return l->container.pid_ns == 0 || (stat("/proc/self/ns/pid", &st) == 0 && st.st_ino == l->container.pid_ns);
}

/*
 * The helper has not seen the container of «run»: the runtime starts its process, and stays the parent until the end.
 * A container without a PID namespace of its own looks like any other child, and is left alone.
 */
static void
find_init_of_run(struct lease *l)
{
	struct process_id init;

	if (l->container.init.pid != 0 || !process_id_lives(l->asker) || !first_process_of(l->asker.pid, &init))
		return;
	l->container.init = init;
	l->container.own_pids = true;
}

/* A container of root's that gpuhelper-runc made must be the one that it saw then (containerrecord.h). */
static int
check_record(const struct lease *l, struct why *why)
{
	struct container_record r;
	char key[LEASE_KEY_SIZE];
	int ret;

	if (l->uid != 0 || (l->container.init.pid == 0 && !l->gpus_by_task))
		return 0;
	lease_key(l->uid, l->root, l->id, key);
	ret = container_record_check(key, l->id, l->container.init, &l->container.cgroups, &r, why);
	if (ret == 0 && !container_record_has_our_pids(&r))
		ret = refuse(why, WHY_DENIED, "container %s is in another PID namespace: end it there", l->id);
	container_record_free(&r);
	return ret;
}

static int
check_container(struct lease *l, struct why *why)
{
	if (!has_our_numbers(l))
		return refuse(why, WHY_DENIED, "container %s is in another PID namespace: end it there", l->id);
	if (check_record(l, why) == -1)
		return -1;
	find_init_of_run(l);
	if (l->container.init.pid == 0)
		return refuse(why, WHY_AGAIN, "container %s is still being created: try again, or end it with its engine", l->id);
	if (!process_id_lives(l->container.init))
		return refuse(why, WHY_ABSENT, "container %s is gone already: gpuhelperctl reap ends its lease%s%s%s", l->id,
		    l->nodes > 0 ? ", unless a process still has a node of its GPUs open (fuser -v " : "",
		    l->nodes > 0 ? l->node[0].path : "", l->nodes > 0 ? ")" : "");
	return 0;
}

/* The waiter of the lease's container with its process («task»), by the helper's status; NULL: none waits. */
static json_t *
find_waiting_task(const struct lease *l)
{
	struct why ignored;
	json_t *status = helper_status(&ignored), *w, *found = NULL;
	json_int_t pid;
	size_t i;

	json_array_foreach(json_object_get(status, "waiters"), i, w) {
		pid = json_integer_value(json_object_get(w, "task"));
		if (found == NULL && pid > 0 && pid <= INT_MAX && strcmp(get_text(w, "container"), l->id) == 0 &&
		    json_integer_value(json_object_get(w, "uid")) == l->uid)
			found = json_incref(w);
	}
	json_decref(status);
	return found;
}

static pid_t
task_of(const json_t *waiter)
{
	return (pid_t)json_integer_value(json_object_get(waiter, "task"));
}

static const char *
pipeline_of(const struct lease *l, char out[QUOTED_MAX])
{
	return l->pipeline[0] != '\0' ? quoted_text(l->pipeline, out) : "no pipeline";
}

static void
say_waiters_fate(const struct lease *l, const json_t *waiter)
{
	const long long gpus = json_integer_value(json_object_get(waiter, "gpus"));
	char pipeline[QUOTED_MAX];

	say("container %s (%s), by %s: its task (process %d) waits for %lld GPU%s, %lld ahead, since %s",
	    quoted(l->id), pipeline_of(l, pipeline), l->policy, task_of(waiter), gpus, S_OF(gpus),
	    (long long)json_integer_value(json_object_get(waiter, "ahead")), get_text(waiter, "since"));
	say("    only that process is killed: its build fails, and those behind it move up");
}

static void
say_fate(const struct lease *l)
{
	char since[32], gpus[LEASE_LINE_MAX], pipeline[QUOTED_MAX];

	text_time(l->since, since);
	if (l->gpus > 0)
		lease_describe(l, gpus);
	say("container %s (%s), since %s, by %s: %s", quoted(l->id), pipeline_of(l, pipeline), since, l->policy,
	    l->gpus > 0 ? gpus : "no GPU");
	say("    its processes are killed: its build fails and loses unsaved data%s", l->gpus == 0 ? "" : l->gpus == 1 ?
	    "; then its GPU is free" : "; then its GPUs are free");
}

static bool
is_agreed(void)
{
	char line[16];

	fputs("End it? [y/N] ", stdout);
	fflush(stdout);
	return fgets(line, sizeof(line), stdin) != NULL && (line[0] == 'y' || line[0] == 'Y');
}

/* The audit record says only that the lease ended.  Syslog says who ended the container. */
static void
note_in_syslog(const struct lease *l, const json_t *waiter)
{
	const char *who = getenv("SUDO_USER");

	openlog("gpuhelperctl", LOG_PID, LOG_AUTHPRIV);
	syslog(LOG_NOTICE, "ends %scontainer %.100s of pipeline %.200s%s%.40s", waiter != NULL ? "the waiting task of " : "",
	    quoted(l->id), quoted(l->pipeline), who != NULL ? " for " : "", who != NULL ? who : "");
	closelog();
}

static int
kill_container(const struct lease *l, struct why *why)
{
	/* in a PID namespace of its own, all processes end with the first one */
	if (!l->container.own_pids && end_others(l->id, &l->container.cgroups, l->container.init, why) == -1)
		return -1;
	return end_first(l->id, l->container.init, why);
}

/*
 * Becomes the lease's user for good, so that a lease that somebody else wrote ends only what that user could end. The
 * owner of a user namespace may signal all processes in it (user_namespaces(7)).
 */
static int
become_user(const struct lease *l, struct why *why)
{
	uid_t real, effective, saved;

	/* setresuid(2) leaves an id of -1 as it is, so the result counts */
	if (setgroups(0, NULL) == -1 || setresgid(NOBODY, NOBODY, NOBODY) == -1 || setresuid(l->uid, l->uid, l->uid) == -1 ||
	    getresuid(&real, &effective, &saved) == -1)
		return refuse(why, WHY_IO, "container %s: can't become its user, uid %u: %s", l->id, l->uid, strerror(errno));
	if (real != l->uid || effective != l->uid || saved != l->uid)
		return refuse(why, WHY_DENIED, "container %s: its lease has no user's uid: %u", l->id, l->uid);
	return 0;
}

/* Its user can stop a process that has become him, so it gets only so much time. */
static bool
ended_well(pid_t pid)
{
	const struct timespec nap = { .tv_nsec = 5 * 1000000 };
	const int64_t deadline = clock_ms() + GONE_MS;
	int status = 0;
	pid_t ended;

	while ((ended = waitpid(pid, &status, WNOHANG)) == 0 && clock_ms() < deadline)
		nanosleep(&nap, NULL);
	if (ended == 0) {
		(void)kill(pid, SIGKILL);
		(void)waitpid(pid, &status, 0);
	}
	return ended == pid && status == 0;
}

/* Another user's container: root's record of it (check_record()) is only of root's own containers. */
static int
kill_as_user(const struct lease *l, struct why *why)
{
	struct why *told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	bool well;
	pid_t pid;

	if (told == MAP_FAILED)
		return refuse_nomem(why);
	refuse(told, WHY_IO, "container %s: the process that was to end it has failed", l->id);
	fflush(NULL);
	if ((pid = fork()) == 0)
		_exit(become_user(l, told) == 0 && kill_container(l, told) == 0 ? 0 : 1);
	well = pid != -1 && ended_well(pid);
	*why = *told;
	(void)munmap(told, sizeof(*told));
	return well ? 0 : -1;
}

static bool
still_waits(const struct lease *l, pid_t task)
{
	json_t *waiter = find_waiting_task(l);
	const bool same = waiter != NULL && task_of(waiter) == task;

	json_decref(waiter);
	return same;
}

/* Ends the task that waits, and waits until it has left the queue.  The container stays. */
static int
end_waiting(const struct lease *l, const json_t *waiter, struct why *why)
{
	const struct timespec nap = { .tv_nsec = 50 * 1000000 };
	const int64_t deadline = clock_ms() + GONE_MS;
	const pid_t task = task_of(waiter);

	/* its first process is the container */
	if (task == l->container.init.pid)
		return refuse(why, WHY_DENIED, "process %d of container %s does not wait: it is the container's first one", task,
		    l->id);
	end_one(&l->container.cgroups, task);
	while (clock_ms() < deadline) {
		if (!still_waits(l, task))
			return 0;
		nanosleep(&nap, NULL);
	}
	return refuse(why, WHY_AGAIN, "process %d of container %s was killed, but has not left the queue after %d s: see "
	    "gpuhelperctl status", task, l->id, GONE_MS / 1000);
}

/* Has the helper end the lease, and waits until it has. */
static int
wait_until_over(const struct lease_search *s, struct why *why)
{
	const struct timespec nap = { .tv_nsec = 50 * 1000000 };
	const int64_t deadline = clock_ms() + GONE_MS;
	const struct options reap = { .config_dir = GPUHELPER_CONFDIR };
	char path[sizeof(LEASES) + 300];
	int status;

	snprintf(path, sizeof(path), "%s/%s", LEASES, s->file);
	while (clock_ms() < deadline) {
		if (!process_id_lives(s->lease.container.init) && (status = ctl_reap(&reap)) != 0)
			return refuse(why, (enum why_code)status, "container %s has ended, but its lease has not", s->lease.id);
		if (access(path, F_OK) == -1 && errno == ENOENT)
			return 0;
		nanosleep(&nap, NULL);
	}
	return refuse(why, WHY_AGAIN, "container %s was killed, but its lease has not ended after %d s: see gpuhelperctl "
	    "status", s->lease.id, GONE_MS / 1000);
}

/* 0 if it may be ended now. */
static int
ask_first(const struct options *o, const struct lease *l, struct why *why)
{
	if (!o->yes && !isatty(STDIN_FILENO))
		return refuse(why, WHY_USAGE, "no terminal to ask on: give --yes to end container %s", l->id);
	return o->yes || is_agreed() ? 0 : refuse(why, WHY_DENIED, "container %s keeps running", l->id);
}

static int
say_ended(void)
{
	say("    ended");
	return 0;
}

/* waiter: of the container's task; NULL: none waits. */
static int
end_this(const struct options *o, struct lease_search *s, const json_t *waiter, struct why *why)
{
	const struct lease *l = &s->lease;

	if (lease_only_promises(l) && waiter == NULL)
		return refuse(why, WHY_ABSENT, "container %s holds no GPU now, and no task of it waits for one: end it with its "
		    "engine", l->id);
	if (waiter != NULL)
		say_waiters_fate(l, waiter);
	else
		say_fate(l);
	if (o->dry_run)
		return 0;
	if (ask_first(o, l, why) == -1)
		return -1;
	note_in_syslog(l, waiter);
	if (waiter != NULL)
		return end_waiting(l, waiter, why) == -1 ? -1 : say_ended();
	if ((l->uid != 0 ? kill_as_user(l, why) : kill_container(l, why)) == -1)
		return -1;
	return wait_until_over(s, why) == -1 ? -1 : say_ended();
}

static int
end_it(const struct options *o, struct lease_search *s, struct why *why)
{
	json_t *waiter;
	int ret;

	if (find_lease(s, why) == -1 || check_container(&s->lease, why) == -1)
		return -1;
	/* only root's containers are promised GPUs, and of those root has records (check_record()) */
	waiter = s->lease.gpus_by_task && s->lease.uid == 0 ? find_waiting_task(&s->lease) : NULL;
	ret = end_this(o, s, waiter, why);
	json_decref(waiter);
	return ret;
}

int
ctl_end(const struct options *o)
{
	struct lease_search s = { .name = o->arg[0] };
	struct why why;
	int ret;

	if (geteuid() != 0)
		return complain(WHY_DENIED, "only root can end other users' containers: run this as root");
	if (*s.name == '\0')
		return misuse(o, "end: name a container");
	ret = end_it(o, &s, &why);
	search_free(&s);
	return ret == -1 ? give_up(o, &why) : 0;
}
