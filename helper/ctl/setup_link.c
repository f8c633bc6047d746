/* See setup.h: the link to the wrapper, where containerd looks for runc first. */
#include "setup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../host/trust.h"
#include "../pure/cleanup.h"
#include "../pure/path.h"
#include "../user/runtime.h"

enum place { PLACE_FREE, PLACE_OURS, PLACE_TAKEN };

static enum place
look_at(const char *link)
{
	struct stat st;

	if (lstat(link, &st) == -1)
		return errno == ENOENT || errno == ENOTDIR ? PLACE_FREE : PLACE_TAKEN;
	return leads_to_wrapper(link) ? PLACE_OURS : PLACE_TAKEN;
}

int
setup_link_free(const char *link, struct why *why)
{
	return look_at(link) != PLACE_TAKEN ? 0 :
	    refuse(why, WHY_CONFIG, "%s is there, and is not gpuhelper-runc: see whose it is, and remove it", link);
}

/* A directory on the way to the link must be root's alone, or somebody else could put his own runc there. */
int
setup_make_dir(const char *dir, struct why *why)
{
	autofree char *above = strdup(dir);
	struct stat st;
	char *slash;

	if (above == NULL)
		return refuse_nomem(why);
	if ((slash = strrchr(above, '/')) != above && slash != NULL) {
		*slash = '\0';
		if (setup_make_dir(above, why) == -1)
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

/*
 * Seen the way that the engine goes: another runc may come before it, and it may have other mounts. A link that was
 * there before is another engine's or the administrator's, and stays.
 */
static int
check_link(const char *link, bool made, const struct worker *w, struct why *why)
{
	bool wrapper = false;
	autofree char *first = w->engine != 0 ? runtime_first_in(w->path, &wrapper) : NULL, *seen = NULL;

	if (w->engine == 0)
		return 0;
	if (asprintf(&seen, "/proc/%d/root%s", w->engine, link) == -1) {
		seen = NULL;
		if (made)
			(void)unlink(link);
		return refuse_nomem(why);
	}
	if (wrapper && leads_to_wrapper(seen))
		return 0;
	if (made)
		(void)unlink(link);
	return refuse(why, WHY_CONFIG, "with the link %s, %s (PID %d) would still call %s: the link %s",
	    link, w->name, w->engine, wrapper ? "another, for it sees other mounts" : first != NULL ? first : "no runc",
	    made ? "is removed again" : "was there before, and stays");
}

int
setup_link(const char *link, const struct worker *w, bool dry, struct why *why)
{
	const bool there = look_at(link) == PLACE_OURS;
	autofree char *dir = strndup(link, (size_t)(path_last(link) - link - 1));

	if (dir == NULL)
		return refuse_nomem(why);
	if (dry) {
		say(there ? "link: %s is there" : "link: would make %s -> " WRAPPER, link);
		return 0;
	}
	if (!there && setup_make_dir(dir, why) == -1)
		return -1;
	if (!there && symlink(WRAPPER, link) == -1)
		return refuse(why, WHY_IO, "%s can't be made: %s", link, strerror(errno));
	if (check_link(link, !there, w, why) == -1)
		return -1;
	if (there)
		say("link: %s is there", link);
	else
		say("link: %s -> " WRAPPER ": gpuhelper judges every container %s", link, w->engine != 0 ? "from now on" :
		    "once the worker runs, if it uses containerd");
	return 0;
}

int
setup_link_undo(const char *link, bool dry, struct why *why)
{
	if (look_at(link) != PLACE_OURS) {
		say("link: there is none of gpuhelper's at %s", link);
		return 0;
	}
	if (!dry && unlink(link) == -1)
		return refuse(why, WHY_IO, "%s can't be removed: %s", link, strerror(errno));
	say(dry ? "link: would remove %s" : "link: removed %s: containers are created without gpuhelper from now on", link);
	return 0;
}
