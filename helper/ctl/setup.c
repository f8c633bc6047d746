/*
 * gpuhelperctl setup concourse: from a worker that runs to one whose containers gpuhelper judges, and back.  Looks at
 * everything first and changes nothing where something is missing.  The link comes last: until then nothing changes for
 * the worker, and it needs no restart.  Touches none of the worker's own files.
 */
#include "setup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../host/trust.h"
#include "../host/users.h"
#include "../pure/cleanup.h"
#include "../read/load.h"
#include "../user/runtime.h"
#include "containerdconf.h"

#define CONCOURSE_RUNC "/usr/local/concourse/bin/runc"	/* where Concourse's archive has it */

enum place { PLACE_FREE, PLACE_OURS, PLACE_TAKEN };

/* What is where the engine looks first. */
static enum place
look_at_link(const char *link)
{
	struct stat there, wrapper;

	if (lstat(link, &there) == -1)
		return errno == ENOENT || errno == ENOTDIR ? PLACE_FREE : PLACE_TAKEN;
	return stat(link, &there) == 0 && stat(WRAPPER, &wrapper) == 0 && there.st_dev == wrapper.st_dev &&
	    there.st_ino == wrapper.st_ino ? PLACE_OURS : PLACE_TAKEN;
}

static char *
link_of(const struct worker *w)
{
	const char *path = w->engine != 0 ? w->path : CONTAINERD_OPT;
	char *out = NULL;

	return asprintf(&out, "%.*s/runc", (int)strcspn(path, ":"), path) != -1 ? out : NULL;
}

static int
find_worker(struct setup *s, struct why *why)
{
	const char *dir = s->options->worker_dir, *user = s->options->user;

	if (s->worker.concourse == 0 && dir == NULL)
		return refuse(why, WHY_CONFIG, "no running Concourse worker of user %s can be seen: start it, or name its user "
		    "(--user) or its work directory (--worker-dir)", user != NULL ? user : "root");
	if (s->worker.guardian)
		return refuse(why, WHY_CONFIG, "the worker (PID %d) creates containers by guardian, which takes no link: set "
		    "CONCOURSE_GARDEN_RUNTIME_PLUGIN=" WRAPPER " in its environment, and start it anew", s->worker.concourse);
	if (dir != NULL && *dir != '/')
		return refuse(why, WHY_USAGE, "--worker-dir %s: must begin with /", dir);
	if (dir != NULL && asprintf(&s->volumes, "%s%svolumes", dir, dir[strlen(dir) - 1] == '/' ? "" : "/") == -1)
		s->volumes = NULL;
	else if (dir == NULL && s->worker.volumes != NULL)
		s->volumes = strdup(s->worker.volumes);
	else if (dir == NULL)
		return refuse(why, WHY_CONFIG, "where the worker (PID %d) keeps volumes can't be seen: name its work directory "
		    "(--worker-dir DIR)", s->worker.concourse);
	if (s->volumes == NULL)
		return refuse_nomem(why);
	if (s->uid == 0 || user_in_group(user, "gpuhelper"))
		return 0;
	return refuse(why, WHY_CONFIG, "the worker's user %s is not in group gpuhelper: usermod -aG gpuhelper %s, and start "
	    "the worker anew", user, user);
}

/* The runc that the worker has called until now, or that gpuhelper.conf names. */
static int
find_runtime(struct setup *s, struct why *why)
{
	autofree char *found = NULL;

	if (s->settings.runtime != NULL)
		found = strdup(s->settings.runtime);
	else if (s->worker.engine != 0)
		found = runtime_find_in(s->worker.path, why);
	else if (access(CONCOURSE_RUNC, X_OK) == 0)
		found = strdup(CONCOURSE_RUNC);
	else
		found = runtime_find(NULL, why);
	if (found == NULL)
		return s->settings.runtime != NULL ? refuse_nomem(why) : -1;
	/* as the wrapper will look at it */
	return (s->runtime = runtime_find(found, why)) != NULL ? 0 : -1;
}

static int
find_all(struct setup *s, struct why *why)
{
	if (access(WRAPPER, X_OK) == -1)
		return refuse(why, WHY_CONFIG, WRAPPER ": %s: make install", strerror(errno));
	if (settings_load(GPUHELPER_CONFDIR, true, &s->settings, NULL, NULL, why) == -1 || find_worker(s, why) == -1 ||
	    find_runtime(s, why) == -1)
		return -1;
	if (look_at_link(s->link) == PLACE_TAKEN)
		return refuse(why, WHY_CONFIG, "%s is there, and is not gpuhelper-runc: see whose it is, and remove it", s->link);
	if (s->worker.concourse != 0)
		say("worker: PID %d, with its volumes in %s", s->worker.concourse, s->volumes);
	else
		say("worker: none runs now; its volumes will be in %s", s->volumes);
	say("runtime: %s", s->runtime);
	return 0;
}

/* A directory on the way to the link must be root's alone, or somebody else could put his own runc there. */
static int
make_dir(const char *dir, struct why *why)
{
	autofree char *above = strdup(dir);
	struct stat st;
	char *slash;

	if (above == NULL)
		return refuse_nomem(why);
	if ((slash = strrchr(above, '/')) != above && slash != NULL) {
		*slash = '\0';
		if (make_dir(above, why) == -1)
			return -1;
	}
	if (mkdir(dir, 0755) == -1 && errno != EEXIST)
		return refuse(why, WHY_IO, "%s can't be made: %s", dir, strerror(errno));
	if (stat(dir, &st) == -1)
		return refuse(why, WHY_IO, "%s: %s", dir, strerror(errno));
	if (!S_ISDIR(st.st_mode) || !trust_is_root(st.st_uid) || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return refuse(why, WHY_DENIED, "%s is not root's alone (uid %u, mode %04o): chown root:root %s && chmod 0755 %s", dir,
		    st.st_uid, st.st_mode & 07777U, dir, dir);
	return 0;
}

/* Seen the way that the engine goes: another runc may come before it. */
static int
check_link(const struct setup *s, struct why *why)
{
	bool wrapper = false;
	autofree char *first = s->worker.engine != 0 ? runtime_first_in(s->worker.path, &wrapper) : NULL;

	if (s->worker.engine == 0 || wrapper)
		return 0;
	(void)unlink(s->link);
	return refuse(why, WHY_CONFIG, "with the link %s, %s (PID %d) would still call %s: the link is removed again", s->link,
	    s->worker.name, s->worker.engine, first != NULL ? first : "no runc");
}

static int
make_link(const struct setup *s, struct why *why)
{
	autofree char *dir = strdup(s->link);

	if (look_at_link(s->link) == PLACE_OURS) {
		say("link: %s is there", s->link);
		return 0;
	}
	if (dir == NULL)
		return refuse_nomem(why);
	*strrchr(dir, '/') = '\0';
	if (make_dir(dir, why) == -1)
		return -1;
	if (symlink(WRAPPER, s->link) == -1)
		return refuse(why, WHY_IO, "%s can't be made: %s", s->link, strerror(errno));
	if (check_link(s, why) == -1)
		return -1;
	say("link: %s -> " WRAPPER ": from now on gpuhelper judges every container", s->link);
	return 0;
}

/* Nothing is switched on over a policy that is broken. */
static int
check_policies(struct why *why)
{
	const struct options check = { .config_dir = GPUHELPER_CONFDIR };

	return ctl_check(&check) == 0 ? 0 : refuse(why, WHY_CONFIG, "mend what «check» finds, and run this again: until then "
	    "gpuhelper is not switched on");
}

static int
do_it(struct setup *s, struct why *why)
{
	const bool dry = s->options->dry_run;

	if (find_all(s, why) == -1 || setup_conf(s, dry, why) == -1)
		return -1;
	if (!dry && (check_policies(why) == -1 || ctl_helper_answers(why) == -1 || setup_try(why) == -1))
		return -1;
	if (s->options->tags && setup_tags(s, dry, why) == -1)
		return -1;
	if (!dry)
		return make_link(s, why);
	say(look_at_link(s->link) == PLACE_OURS ? "link: %s is there" : "link: would make %s -> " WRAPPER, s->link);
	return 0;
}

static int
undo_link(const struct setup *s, struct why *why)
{
	if (look_at_link(s->link) != PLACE_OURS) {
		say("link: there is none of gpuhelper's at %s", s->link);
		return 0;
	}
	if (s->options->dry_run) {
		say("link: would remove %s", s->link);
		return 0;
	}
	if (unlink(s->link) == -1)
		return refuse(why, WHY_IO, "%s can't be removed: %s", s->link, strerror(errno));
	say("link: removed %s: containers are created without gpuhelper from now on", s->link);
	return 0;
}

/* What was switched on last is switched off first. */
static int
undo_it(const struct setup *s, struct why *why)
{
	const bool dry = s->options->dry_run;

	return undo_link(s, why) == -1 || setup_tags_undo(dry, why) == -1 ? -1 : setup_conf_undo(dry, why);
}

int
ctl_setup_concourse(const struct options *o)
{
	struct setup s = { .options = o };
	struct why why;
	int ret;

	if (geteuid() != 0) {
		refuse(&why, WHY_DENIED, "setup: run it as root");
		return give_up(o, &why);
	}
	/* anybody can run what is named like a worker: another user than root has to be named */
	if (o->user != NULL && !user_uid(o->user, &s.uid, NULL)) {
		refuse(&why, WHY_USAGE, "user \"%s\" is not in /etc/passwd", o->user);
		return give_up(o, &why);
	}
	worker_find(s.uid, &s.worker);
	if ((s.link = link_of(&s.worker)) == NULL)
		ret = refuse_nomem(&why);
	else
		ret = o->undo ? undo_it(&s, &why) : do_it(&s, &why);
	worker_free(&s.worker);
	settings_free(&s.settings);
	free(s.runtime);
	free(s.volumes);
	free(s.link);
	return ret == 0 ? 0 : give_up(o, &why);
}
