/*
 * gpuhelperctl setup concourse: from a worker that runs to one whose containers gpuhelper judges, and back.  Looks at
 * everything first, and takes back what it did where a later step fails.  Until the link is there nothing changes for
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
#include "../pure/cleanup.h"
#include "../pure/path.h"
#include "../pure/text.h"
#include "../read/load.h"
#include "../user/runtime.h"
#include "containerdconf.h"

#define CONCOURSE_RUNC "/usr/local/concourse/bin/runc"	/* where Concourse's archive has it */
#define LINK CONTAINERD_RUNC

enum place { PLACE_FREE, PLACE_OURS, PLACE_TAKEN };

static enum place
look_at_link(void)
{
	struct stat st;

	if (lstat(LINK, &st) == -1)
		return errno == ENOENT || errno == ENOTDIR ? PLACE_FREE : PLACE_TAKEN;
	return leads_to_wrapper(LINK) ? PLACE_OURS : PLACE_TAKEN;
}

/* By a containerd of its own, or a link in containerd's way would change nothing. */
static int
check_engine(const struct worker *w, const char *dir, struct why *why)
{
	if (w->concourse == 0 && dir == NULL)
		return refuse(why, WHY_CONFIG, "no running Concourse worker of root's can be seen (one in a container can't): "
		    "start it, or name its work directory (--worker-dir)");
	if (w->concourse == 0 && w->engine != 0)
		return refuse(why, WHY_CONFIG, "%s (PID %d) runs, and no Concourse worker of root's: its containers would be judged, "
		    "too; see gpuhelper-runc(1) for other engines", w->name, w->engine);
	if (w->concourse == 0)
		return 0;
	if (!w->own_containerd)
		return refuse(why, WHY_CONFIG, "the worker (PID %d) has no containerd of its own to be seen.  With guardian, set "
		    "CONCOURSE_GARDEN_RUNTIME_PLUGIN=" WRAPPER " in its environment, and runtime and volumes in gpuhelper.conf",
		    w->concourse);
	if (!text_starts(w->path, CONTAINERD_OPT ":"))
		return refuse(why, WHY_CONFIG, "the worker's containerd (PID %d) does not look into " CONTAINERD_OPT " first (its "
		    "plugin «opt»): make the link by hand (gpuhelperctl doctor says where)", w->engine);
	return 0;
}

static int
find_worker(struct setup *s, struct why *why)
{
	const char *dir = s->options->worker_dir;
	autofree char *found = NULL;

	if (dir != NULL && *dir != '/')
		return refuse(why, WHY_USAGE, "--worker-dir %s: must begin with /", dir);
	if (check_engine(&s->worker, dir, why) == -1)
		return -1;
	if (dir == NULL && s->worker.volumes == NULL)
		return refuse(why, WHY_CONFIG, "where the worker (PID %d) keeps volumes can't be seen: name its work directory "
		    "(--worker-dir DIR)", s->worker.concourse);
	if (dir == NULL)
		found = strdup(s->worker.volumes);
	else if (asprintf(&found, "%s/volumes", dir) == -1)
		found = NULL;
	/* a trailing slash is no other directory */
	s->volumes = found != NULL ? path_cleaned(found) : NULL;
	return s->volumes != NULL ? 0 : refuse_nomem(why);
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
	autofree char *found = NULL;

	if (access(WRAPPER, X_OK) == -1)
		return refuse(why, WHY_CONFIG, WRAPPER ": %s: make install", strerror(errno));
	if (settings_load(GPUHELPER_CONFDIR, true, &s->settings, NULL, NULL, why) == -1 || find_worker(s, why) == -1 ||
	    find_runtime(s, why) == -1)
		return -1;
	found = s->runtime;
	if ((s->runtime = path_cleaned(found)) == NULL)
		return refuse_nomem(why);
	if (look_at_link() == PLACE_TAKEN)
		return refuse(why, WHY_CONFIG, LINK " is there, and is not gpuhelper-runc: see whose it is, and remove it");
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

/* Seen the way that the engine goes: another runc may come before it, and it may have other mounts. */
static int
check_link(const struct worker *w, struct why *why)
{
	bool wrapper = false;
	autofree char *first = w->engine != 0 ? runtime_first_in(w->path, &wrapper) : NULL;
	char seen[64];

	snprintf(seen, sizeof(seen), "/proc/%d/root" LINK, w->engine);
	if (w->engine == 0 || (wrapper && leads_to_wrapper(seen)))
		return 0;
	(void)unlink(LINK);
	return refuse(why, WHY_CONFIG, "with the link " LINK ", %s (PID %d) would still call %s: the link is removed again",
	    w->name, w->engine, wrapper ? "another, for it sees other mounts" : first != NULL ? first : "no runc");
}

static int
make_link(const struct worker *w, struct why *why)
{
	const bool there = look_at_link() == PLACE_OURS;

	if (!there && make_dir(CONTAINERD_OPT, why) == -1)
		return -1;
	if (!there && symlink(WRAPPER, LINK) == -1)
		return refuse(why, WHY_IO, LINK " can't be made: %s", strerror(errno));
	if (check_link(w, why) == -1)
		return -1;
	if (there)
		say("link: " LINK " is there");
	else
		say("link: " LINK " -> " WRAPPER ": gpuhelper judges every container %s", w->engine != 0 ? "from now on" :
		    "once the worker runs, if it uses containerd");
	return 0;
}

int
setup_dir(char name[sizeof(SETUP_DIR)], struct why *why)
{
	int fd;

	memcpy(name, SETUP_DIR, sizeof(SETUP_DIR));
	if (mkdtemp(name) == NULL)
		return refuse(why, WHY_IO, SETUP_DIR " can't be made: %s", strerror(errno));
	if ((fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1) {
		refuse(why, WHY_IO, "%s: %s", name, strerror(errno));
		(void)rmdir(name);
	}
	return fd;
}

/* A broken policy refuses whoever comes to it: mended before, not after. */
static int
check_policies(struct why *why)
{
	const struct options check = { .config_dir = GPUHELPER_CONFDIR };

	return ctl_check(&check) == 0 ? 0 : refuse(why, WHY_CONFIG, "mend what «check» finds, and run this again: until then "
	    "gpuhelper is not switched on");
}

static int
switch_on(struct setup *s, struct why *why)
{
	return check_policies(why) == -1 || ctl_helper_answers(why) == -1 || setup_try(why) == -1 ||
	    make_link(&s->worker, why) == -1 ? -1 : 0;
}

static int
do_it(struct setup *s, struct why *why)
{
	const bool dry = s->options->dry_run;
	struct why ignored;
	int added;

	if (find_all(s, why) == -1 || (added = setup_conf(s, dry, why)) == -1)
		return -1;
	if (dry)
		say(look_at_link() == PLACE_OURS ? "link: " LINK " is there" : "link: would make " LINK " -> " WRAPPER);
	else if (switch_on(s, why) == -1) {
		if (added == 1)
			(void)setup_conf_undo(false, &ignored);
		return -1;
	}
	return s->options->tags ? setup_tags(s, dry, why) : 0;
}

static int
undo_link(bool dry, struct why *why)
{
	if (look_at_link() != PLACE_OURS) {
		say("link: there is none of gpuhelper's at " LINK);
		return 0;
	}
	if (!dry && unlink(LINK) == -1)
		return refuse(why, WHY_IO, LINK " can't be removed: %s", strerror(errno));
	say(dry ? "link: would remove " LINK : "link: removed " LINK ": containers are created without gpuhelper from now on");
	return 0;
}

/* What was switched on last is switched off first.  With --tags, these alone. */
static int
undo_it(const struct setup *s, struct why *why)
{
	const bool dry = s->options->dry_run, tags = s->options->tags;

	if (setup_tags_undo(dry, why) == -1 || (!tags && undo_link(dry, why) == -1))
		return -1;
	return tags ? 0 : setup_conf_undo(dry, why);
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
	if (o->undo) {
		ret = undo_it(&s, &why);
	} else {
		/* root's alone: whoever else runs one would choose what root writes */
		worker_find(0, &s.worker);
		ret = do_it(&s, &why);
	}
	worker_free(&s.worker);
	settings_free(&s.settings);
	free(s.runtime);
	free(s.volumes);
	return ret == 0 ? 0 : give_up(o, &why);
}
