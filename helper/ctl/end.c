/*
 * gpuhelperctl end: ends a container that holds GPUs, by killing its processes; its engine sees it exit.  As root;
 * reads the leases, which root's helper wrote, and changes none: the helper ends the lease once it sees that the
 * container is gone.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "../host/clock.h"
#include "../host/file.h"
#include "../host/process.h"
#include "../pure/cleanup.h"
#include "../pure/leasefile.h"
#include "../user/ending.h"
#include "ctl.h"

#define LEASES GPUHELPER_RUNDIR "/leases"
#define GONE_MS 10000		/* for the helper to see that the container is gone */

/* The lease that is looked for. */
struct search {
	const char *name;	/* of the container, or the beginning of it */
	struct lease lease;	/* the one that was found */
	char *file;		/* its file's name; NULL: none yet */
	size_t found;		/* how many there are */
	bool exactly;		/* they have just that name */
};

static void
search_free(struct search *s)
{
	lease_free(&s->lease);
	free(s->file);
}

/* A container's whole name goes before the beginning of another's. */
static void
take_match(struct search *s, struct lease *l, const char *file)
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

/* One that ended meanwhile is none. */
static void
look_at(struct search *s, int dir, const char *file)
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

static int
find_lease(struct search *s, struct why *why)
{
	DIR *d = opendir(LEASES);
	struct dirent *e;

	if (d == NULL && errno != ENOENT)
		return refuse(why, WHY_IO, LEASES ": %s", strerror(errno));
	while (d != NULL && (e = readdir(d)) != NULL)
		look_at(s, dirfd(d), e->d_name);
	if (d != NULL)
		closedir(d);
	if (s->found == 0)
		return refuse(why, WHY_ABSENT, "no lease is of a container \"%.80s\": gpuhelperctl status names them", s->name);
	if (s->found > 1)
		return refuse(why, WHY_USAGE, "%zu leases are of containers \"%.80s%s\": %s", s->found, s->name,
		    s->exactly ? "" : "…", s->exactly ? "end one by its engine" : "give the whole name (gpuhelperctl status)");
	return s->file != NULL ? 0 : refuse_nomem(why);
}

/* Numbers of processes mean something in their own PID namespace alone. */
static bool
has_our_numbers(const struct lease *l)
{
	struct stat st;

	return l->pids == 0 || (stat("/proc/self/ns/pid", &st) == 0 && st.st_ino == l->pids);
}

static int
check_container(const struct lease *l, struct why *why)
{
	if (!has_our_numbers(l))
		return refuse(why, WHY_DENIED, "container %s: its processes have numbers of another PID namespace: end it "
		    "there", l->id);
	if (l->init.pid == 0)
		return refuse(why, WHY_AGAIN, "container %s is only being made: try again, or end it by its engine", l->id);
	if (!process_id_lives(l->init))
		return refuse(why, WHY_ABSENT, "container %s is gone already: gpuhelperctl reap ends its lease; while a process "
		    "has a node of its GPUs open, that is not over (fuser -v %s)", l->id, l->nodes > 0 ? l->node[0].path : "NODE");
	return 0;
}

static void
say_fate(const struct lease *l)
{
	char since[32], gpus[LEASE_LINE_MAX];

	text_time(l->since, since);
	lease_describe(l, gpus);
	say("container %s (%s), since %s, by %s: %s", l->id, l->pipeline[0] != '\0' ? l->pipeline : "no pipeline", since,
	    l->policy, gpus);
	say("    its processes are killed: its build fails, and what it has not saved is lost; then its GPUs are free");
}

static bool
is_agreed(void)
{
	char line[16];

	fputs("End it? [y/N] ", stdout);
	fflush(stdout);
	return fgets(line, sizeof(line), stdin) != NULL && (line[0] == 'y' || line[0] == 'Y');
}

/* Who ended a build is asked later: the helper's record says only that the lease is over. */
static void
note_in_syslog(const struct lease *l)
{
	const char *who = getenv("SUDO_USER");

	openlog("gpuhelperctl", LOG_PID, LOG_AUTHPRIV);
	syslog(LOG_NOTICE, "ends container %.100s of pipeline %.200s%s%.40s", l->id, l->pipeline,
	    who != NULL ? " for " : "", who != NULL ? who : "");
	closelog();
}

static int
kill_container(const struct lease *l, struct why *why)
{
	/* with the first process of a PID namespace, all in it end */
	if (!l->own_pids && end_others(l->id, &l->cgroups, l->init, why) == -1)
		return -1;
	return end_first(l->id, l->init, why);
}

/* The helper ends the lease, as it ends any. */
static int
wait_until_over(const struct search *s, struct why *why)
{
	const struct timespec nap = { .tv_nsec = 50 * 1000000 };
	const int64_t deadline = clock_ms() + GONE_MS;
	const struct options reap = { .config_dir = GPUHELPER_CONFDIR };
	char path[sizeof(LEASES) + 300];
	int status;

	snprintf(path, sizeof(path), "%s/%s", LEASES, s->file);
	while (clock_ms() < deadline) {
		if (!process_id_lives(s->lease.init) && (status = ctl_reap(&reap)) != 0)
			return refuse(why, (enum why_code)status, "container %s is ended, and its lease is not", s->lease.id);
		if (access(path, F_OK) == -1 && errno == ENOENT)
			return 0;
		nanosleep(&nap, NULL);
	}
	return refuse(why, WHY_AGAIN, "container %s is killed, and its lease is not over after %d s: gpuhelperctl status says "
	    "why", s->lease.id, GONE_MS / 1000);
}

static int
end_it(const struct options *o, struct search *s, struct why *why)
{
	if (find_lease(s, why) == -1 || check_container(&s->lease, why) == -1)
		return -1;
	say_fate(&s->lease);
	if (o->dry_run)
		return 0;
	if (!o->yes && !isatty(STDIN_FILENO))
		return refuse(why, WHY_USAGE, "nobody can be asked here: say --yes to end container %s", s->lease.id);
	if (!o->yes && !is_agreed())
		return refuse(why, WHY_DENIED, "container %s goes on", s->lease.id);
	note_in_syslog(&s->lease);
	if (kill_container(&s->lease, why) == -1 || wait_until_over(s, why) == -1)
		return -1;
	say("    ended");
	return 0;
}

int
ctl_end(const struct options *o)
{
	struct search s = { .name = o->arg[0] };
	struct why why;
	int ret;

	if (geteuid() != 0)
		return complain(WHY_DENIED, "only root ends other people's containers: run it as root");
	if (*s.name == '\0')
		return misuse(o, "end: name a container");
	ret = end_it(o, &s, &why);
	search_free(&s);
	return ret == -1 ? give_up(o, &why) : 0;
}
