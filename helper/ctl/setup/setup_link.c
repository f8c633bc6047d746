/*
 * See setup.h: the link to the wrapper, in the directory where containerd looks for runc first.  Several engines may
 * look there, so a file of setup's own says which engine was set up with which link.
 */
#include "setup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/path.h"
#include "../../host/file.h"
#include "../../host/trust.h"
#include "../../user/command/runtime.h"

#define RECORD "setup-links"	/* of GPUHELPER_STATEDIR; a line is «ENGINE LINK» */
#define RECORD_SHOWN GPUHELPER_STATEDIR "/" RECORD

enum link_state { LINK_FREE, LINK_OURS, LINK_TAKEN };

static enum link_state
look_at_link(const char *link)
{
	struct stat st;

	if (lstat(link, &st) == -1)
		return errno == ENOENT || errno == ENOTDIR ? LINK_FREE : LINK_TAKEN;
	return leads_to_wrapper(link) ? LINK_OURS : LINK_TAKEN;
}

int
setup_link_free(const char *link, struct why *why)
{
	return look_at_link(link) != LINK_TAKEN ? 0 :
	    refuse(why, WHY_CONFIG, "%s is there, and is not gpuhelper-runc: see who put it there, and remove it", link);
}

/* The lines of the record; "" if there is none.  NULL with *why. */
static char *
read_record(struct why *why)
{
	char *text = file_read_at(file_root(), &RECORD_SHOWN[1], 65536, NULL);

	if (text == NULL && (errno == ENOENT || errno == ENOTDIR))
		text = strdup("");
	if (text == NULL)
		refuse(why, WHY_IO, RECORD_SHOWN ": %s", strerror(errno));
	return text;
}

/* Replaces the record; with "" removes it. */
static int
write_record(const char *text, struct why *why)
{
	autoclose int dir = -1;

	if (mkdir(GPUHELPER_STATEDIR, 0700) == -1 && errno != EEXIST)
		return refuse(why, WHY_IO, GPUHELPER_STATEDIR " can't be made: %s", strerror(errno));
	if ((dir = trust_open_dir(GPUHELPER_STATEDIR, true, why)) == -1)
		return -1;
	if (*text == '\0')
		return unlinkat(dir, RECORD, 0) == 0 || errno == ENOENT ? 0 :
		    refuse(why, WHY_IO, RECORD_SHOWN " can't be removed: %s", strerror(errno));
	return ctl_write_file(dir, RECORD, RECORD_SHOWN, text, strlen(text), NULL, why);
}

/* Splits the next line of *rest into its two words, in place.  False at the end. */
static bool
next_entry(char **rest, const char **engine, const char **link)
{
	char *line;

	while ((line = strsep(rest, "\n")) != NULL) {
		*engine = strsep(&line, " ");
		*link = line;
		if (line != NULL)
			return true;
	}
	return false;
}

char *
setup_link_recorded(const char *engine)
{
	struct why ignored;
	autofree char *text = read_record(&ignored);
	const char *name, *link;
	char *rest = text;

	while (next_entry(&rest, &name, &link))
		if (strcmp(name, engine) == 0)
			return strdup(link);
	return NULL;
}

/* Replaces the engine's link in the record; NULL removes the engine from it. */
static int
record(const char *engine, const char *link, struct why *why)
{
	autofree char *text = read_record(why), *was = text != NULL ? strdup(text) : NULL;
	autobuf struct buf now = { 0 };
	const char *name, *path;
	char *rest = text;

	if (text == NULL)
		return -1;
	buf_puts(&now, "");
	while (next_entry(&rest, &name, &path))
		if (strcmp(name, engine) != 0)
			buf_printf(&now, "%s %s\n", name, path);
	if (link != NULL)
		buf_printf(&now, "%s %s\n", engine, link);
	if (was == NULL || now.failed)
		return refuse_nomem(why);
	return strcmp(was, now.p) == 0 ? 0 : write_record(now.p, why);
}

/* Finds another engine that was set up with this link.  1, with *other, which the caller frees; 0; -1 with *why. */
static int
find_other(const char *engine, const char *link, char **other, struct why *why)
{
	autofree char *text = read_record(why);
	const char *name, *path;
	char *rest = text;

	*other = NULL;
	if (text == NULL)
		return -1;
	while (next_entry(&rest, &name, &path))
		if (strcmp(name, engine) != 0 && strcmp(path, link) == 0)
			return (*other = strdup(name)) != NULL ? 1 : refuse_nomem(why);
	return 0;
}

/*
 * Looks with the engine's PATH and mounts: another runc may come first, and the engine may see other directories.  A
 * link that setup did not make belongs to another engine's setup or to the administrator, and stays.
 */
static int
check_setup_link(const char *link, bool made, const struct worker *w, struct why *why)
{
	bool wrapper = false;
	autofree char *first = w->engine != 0 ? runtime_first_in(w->path, &wrapper) : NULL, *seen = NULL;

	if (w->engine == 0)
		return 0;
	if (asprintf(&seen, "/proc/%d/root%s", w->engine, link) == -1) {
		seen = NULL;
		return refuse_nomem(why);
	}
	if (wrapper && leads_to_wrapper(seen))
		return 0;
	return refuse(why, WHY_CONFIG, "with the link %s, %s (PID %d) would still call %s: the link %s",
	    link, w->name, w->engine, wrapper ? "another program, because it sees other mounts" :
	    first != NULL ? first : "no runc", made ? "is removed again" : "existed before, and stays");
}

/* Makes the link unless it is there, and checks it. */
static int
make_link(const char *link, bool there, const struct worker *w, struct why *why)
{
	autofree char *dir = path_parent(link);

	if (dir == NULL)
		return refuse_nomem(why);
	if (!there && setup_make_dir(dir, why) == -1)
		return -1;
	if (!there && symlink(WRAPPER, link) == -1)
		return refuse(why, WHY_IO, "%s can't be made: %s", link, strerror(errno));
	if (check_setup_link(link, !there, w, why) == 0)
		return 0;
	if (!there)
		(void)unlink(link);
	return -1;
}

int
setup_link(const struct setup *s, bool dry, struct why *why)
{
	const bool there = look_at_link(s->link) == LINK_OURS;
	autofree char *was = setup_link_recorded(s->engine->name);
	struct why ignored;

	if (dry) {
		say(there ? "link: %s is there" : "link: would make %s -> " WRAPPER, s->link);
		return 0;
	}
	/* record it first: --undo of another engine removes a link that no engine needs by the record */
	if (record(s->engine->name, s->link, why) == -1)
		return -1;
	if (make_link(s->link, there, &s->worker, why) == -1) {
		(void)record(s->engine->name, was, &ignored);
		return -1;
	}
	if (there)
		say("link: %s is there", s->link);
	else
		say("link: %s -> " WRAPPER ": gpuhelper judges every container %s", s->link, s->worker.engine != 0 ? "from now on" :
		    "once the worker runs, if it uses containerd");
	return 0;
}

/* Names each running engine that found the removed link too, although setup did not set it up. */
static void
say_who_looked(const struct setup *s)
{
	static const enum engine_kind kinds[] = { ENGINE_CONTAINERD, ENGINE_CONTAINERD_OF_CONCOURSE };
	const enum engine_kind own = strcmp(s->engine->name, "containerd") == 0 ? kinds[0] : kinds[1];
	const size_t n = (size_t)(path_last(s->link) - s->link - 1);
	autoengines struct engines e = { 0 };
	const struct engine_process *p;
	size_t i;

	engines_find(0, &e);
	for (i = 0; i < e.n; i++) {
		p = &e.v[i];
		if ((p->kind == kinds[0] || p->kind == kinds[1]) && p->kind != own && p->is.path != NULL &&
		    strncmp(p->is.path, s->link, n) == 0 && (p->is.path[n] == ':' || p->is.path[n] == '\0'))
			say("link: %s (PID %d) looks there too, and gpuhelper no longer judges its containers (gpuhelperctl setup %s)",
			    p->is.name, p->is.engine, p->kind == kinds[0] ? "containerd" : "concourse");
	}
}

static int
remove_link(const struct setup *s, bool dry, struct why *why)
{
	if (look_at_link(s->link) != LINK_OURS) {
		say("link: there is none of gpuhelper's at %s", s->link);
		return 0;
	}
	if (!dry && unlink(s->link) == -1)
		return refuse(why, WHY_IO, "%s can't be removed: %s", s->link, strerror(errno));
	say(dry ? "link: would remove %s" : "link: removed %s: containers are created without gpuhelper from now on", s->link);
	if (!dry)
		say_who_looked(s);
	return 0;
}

int
setup_link_undo(struct setup *s, bool dry, struct why *why)
{
	autofree char *other = NULL;
	const int needed = find_other(s->engine->name, s->link, &other, why);

	if (needed == -1 || (needed == 0 && remove_link(s, dry, why) == -1))
		return -1;
	if (needed == 1) {
		say("link: %s stays, because «setup %s» needs it", s->link, other);
		free(s->link);
		s->link = NULL;
	}
	return dry ? 0 : record(s->engine->name, NULL, why);
}
