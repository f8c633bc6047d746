/* See setup.h: setup's lines in gpuhelper.conf.  Two comments mark them, so that undo finds them. */
#include "setup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/hash.h"
#include "../../base/text.h"
#include "../../host/file.h"
#include "../../host/own/etc.h"
#include "../../policy/settingsdefault.h"
#include "../../read/load.h"
#include "../../user/mount/rootfs.h"
#include "../../user/mount/volumes.h"

#define FILE_NAME "gpuhelper.conf"
#define FILE_MAX_BYTES (1024 * 1024)
#define SHOWN GPUHELPER_CONFDIR "/" FILE_NAME
#define BEGIN "# begin: gpuhelperctl setup wrote this\n"
#define END "# end: gpuhelperctl setup wrote this, "	/* then a hash of the lines: undo removes no others */
#define HASH_CHARS 16
/* What stands before them in a file that setup makes, for the administrator to change. */
#define NEW_FILE "# gpuhelperctl setup made this file; gpuhelper.conf(5) has all keys\nprivileged = \"deny\";\n"

static void
hash_lines(const char *lines, char hash[HASH_SIZE])
{
	const char *const pieces[] = { lines, NULL };

	hash_pieces(pieces, hash);
	hash[HASH_CHARS] = '\0';
}

/* The text of gpuhelper.conf; "" if there is none.  *dir gets its directory.  NULL with *why. */
static char *
read_conf(int *dir, struct why *why)
{
	char *text;

	if ((*dir = open(GPUHELPER_CONFDIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1) {
		refuse(why, WHY_IO, GPUHELPER_CONFDIR ": %s: make install", strerror(errno));
		return NULL;
	}
	if ((text = file_read_at(*dir, FILE_NAME, FILE_MAX_BYTES, NULL)) == NULL && errno == ENOENT)
		text = strdup("");
	if (text == NULL)
		refuse(why, WHY_IO, SHOWN ": %s", strerror(errno));
	return text;
}

/* Setup writes the path without escapes, so it must have no character that libconfig would want escaped. */
static int
check_path(const char *path, struct why *why)
{
	const char *c;

	for (c = path; *c != '\0'; c++)
		if ((unsigned char)*c < ' ' || *c == '"' || *c == '\\' || *c == 0x7f)
			return refuse(why, WHY_DATA, "\"%.200s\" has a character that setup can't write into gpuhelper.conf", path);
	return 0;
}

/* True if gpuhelper.conf allows root's containers a root filesystem in this directory. */
static bool
holds(const struct settings *settings, const char *volume)
{
	/* a directory that does not exist leads nowhere yet */
	return access(volume, F_OK) == 0 ? rootfs_may_lie_in(volume, settings, 0) : strlist_has(&settings->volumes, volume);
}

/* Adds the directories of «s» that the settings lack, in their order.  False: no memory. */
static bool
find_missing(const struct setup *s, const struct settings *settings, struct strlist *missing)
{
	size_t i;

	for (i = 0; i < s->volumes.n; i++)
		if (!holds(settings, s->volumes.v[i]) && !strlist_add(missing, s->volumes.v[i], SIZE_MAX))
			return false;
	for (i = 0; i < s->stores.n; i++)
		if (!strlist_has(&settings->volumes, s->stores.v[i]) && !strlist_add(missing, s->stores.v[i], SIZE_MAX))
			return false;
	return true;
}

/* Checks the settings of the new text.  -1 with *why if they still lack a directory. */
static int
check_volumes(const struct setup *s, const struct settings *settings, struct why *why)
{
	autostrlist struct strlist missing = { 0 };

	if (!find_missing(s, settings, &missing))
		return refuse_nomem(why);
	return missing.n == 0 ? 0 : refuse(why, WHY_CONFIG, SHOWN ": \"volumes\" has no %s, where %s keeps root filesystems: "
	    "add it", missing.v[0], s->engine->name);
}

/* A volume that others than root can redirect counts for no container of root's, whatever the file says. */
static int
check_owners(const struct setup *s, struct why *why)
{
	size_t i;

	for (i = 0; i < s->volumes.n; i++) {
		autofree char *real = NULL;

		if (access(s->volumes.v[i], F_OK) == 0 && volume_resolve(s->volumes.v[i], 0, &real, why) == -1)
			return -1;
	}
	return 0;
}

/* Parses the new text as the helper would, in a directory of setup's own. */
static int
check_text(const struct setup *s, const struct buf *text, struct why *why)
{
	char name[sizeof(SETUP_DIR)];
	autosettings struct settings settings = { 0 };
	struct why cause = { 0 };
	autoclose int dir = setup_dir(name, why);
	int ret;

	if (dir == -1)
		return -1;
	if ((ret = ctl_change_file(dir, FILE_NAME, SHOWN, text->p, text->len, why)) == 0)
		ret = settings_load(name, false, &settings, NULL, NULL, why);
	if (ret == -1)
		cause = *why;
	(void)unlinkat(dir, FILE_NAME, 0);
	(void)rmdir(name);
	if (ret == -1)
		return refuse(why, WHY_CONFIG, "setup can't add the runtime and the volumes of %s to " SHOWN ": %.300s; add them by "
		    "hand", s->engine->name, cause.text + (text_starts(cause.text, name) ? strlen(name) + 1 : 0));
	return check_volumes(s, &settings, why);
}

/* Volumes of a worker that setup's lines name, and that are not those of the worker to be set up. */
struct earlier {
	struct strlist gone;	/* lead nowhere: setup was run with a wrong directory, or a worker has moved */
	struct strlist kept;	/* may be another worker's */
};

static void
earlier_free(struct earlier *e)
{
	strlist_free(&e->gone);
	strlist_free(&e->kept);
}
#define autoearlier __attribute__((cleanup(earlier_free)))

/* Sorts out the volumes that an earlier «setup concourse» wrote into its lines («old»).  False: no memory. */
static bool
find_earlier(const struct setup *s, const char *old, struct earlier *out)
{
	const struct strlist *v = &s->settings.volumes;
	autosettings struct settings usual = { 0 };
	bool good = settings_default(&usual);
	size_t i;

	for (i = 0; good && s->engine == &engine_concourse && i < v->n; i++) {
		autofree char *quoted = NULL;

		if (!ends_with(v->v[i], "/volumes") || strlist_has(&s->volumes, v->v[i]) ||
		    strlist_has(&usual.volumes, v->v[i]))
			continue;
		if (asprintf(&quoted, "\"%s\"", v->v[i]) == -1) {
			quoted = NULL;
			return false;
		}
		if (strstr(old, quoted) != NULL)
			good = strlist_add(access(v->v[i], F_OK) == -1 && errno == ENOENT ? &out->gone : &out->kept, v->v[i],
			    SIZE_MAX);
	}
	return good;
}

static void
say_earlier(const struct earlier *e, bool dry)
{
	size_t i;

	for (i = 0; i < e->gone.n; i++)
		say("settings: %s %s, of an earlier setup: there is no such directory", dry ? "would no longer name" :
		    "no longer names", e->gone.v[i]);
	for (i = 0; i < e->kept.n; i++)
		say("settings: volumes keeps %s, of an earlier setup: if it is no worker's, remove the directory, and run this "
		    "again", e->kept.v[i]);
}

/* The line names the volumes that are in effect too: the key replaces the defaults, which other engines may need. */
static void
add_volumes(const struct settings *settings, const struct strlist *missing, const struct strlist *gone, struct buf *out)
{
	const struct strlist *const lists[] = { &settings->volumes, missing };
	size_t i, k, n = 0;

	buf_puts(out, "volumes = [ ");
	for (i = 0; i < 2; i++)
		for (k = 0; k < lists[i]->n; k++)
			if (!strlist_has(gone, lists[i]->v[k]))
				buf_printf(out, "%s\"%s\"", n++ > 0 ? ", " : "", lists[i]->v[k]);
	buf_puts(out, " ];\n");
}

/*
 * Composes setup's lines, which replace those that it wrote before («old»).  Nothing if none is missing, and no volume
 * is «gone».
 */
static void
add_lines(const struct setup *s, const char *old, const struct strlist *gone, struct buf *out)
{
	const bool runtime = s->settings.runtime == NULL;
	/* the host's socket takes no request from a worker in a container */
	const bool door = s->options->image && s->settings.door == DOOR_AUTO;
	autostrlist struct strlist missing = { 0 };

	if (!find_missing(s, &s->settings, &missing)) {
		out->failed = true;
		return;
	}
	if (!runtime && missing.n == 0 && !door && gone->n == 0)
		return;
	if (runtime || strstr(old, "runtime = ") != NULL)
		buf_printf(out, "runtime = \"%s\";\n", s->runtime);
	if (missing.n > 0 || gone->n > 0 || strstr(old, "volumes = ") != NULL)
		add_volumes(&s->settings, &missing, gone, out);
	if (door || strstr(old, "door = ") != NULL)
		buf_puts(out, "door = \"setuid\";\n");
}

static void
say_lines(const char *lines)
{
	for (; *lines != '\0'; lines += strcspn(lines, "\n") + 1)
		say("    %.*s", (int)strcspn(lines, "\n"), lines);
}

/*
 * Moves one block of setup's lines from the text to *lines.  Returns 1, or 0 if there is none; -1 with *why if somebody
 * changed the block.
 */
static int
take_block(char *text, struct buf *lines, struct why *why)
{
	char *from = strstr(text, BEGIN), *body, *end, *rest, hash[HASH_SIZE];

	if (from == NULL)
		return 0;
	body = from + strlen(BEGIN);
	if ((end = strstr(body, END)) != NULL) {
		autofree char *copy = strndup(body, (size_t)(end - body));

		if (copy == NULL)
			return refuse_nomem(why);
		hash_lines(copy, hash);
		rest = end + strlen(END);
		if (text_starts(rest, hash) && rest[HASH_CHARS] == '\n') {
			buf_puts(lines, copy);
			rest += HASH_CHARS + 1;
			memmove(from, rest, strlen(rest) + 1);
			return 1;
		}
	}
	return refuse(why, WHY_CONFIG, SHOWN ": somebody changed the lines that «setup» wrote: remove by hand those that "
	    "you do not want");
}

/* Moves all of them. */
static int
take_blocks(char *text, struct buf *lines, struct why *why)
{
	int ret;

	buf_puts(lines, "");
	while ((ret = take_block(text, lines, why)) == 1)
		;
	return ret == 0 && lines->failed ? refuse_nomem(why) : ret;
}

static int
check_conf_paths(const struct setup *s, struct why *why)
{
	size_t i;

	if (check_path(s->runtime, why) == -1)
		return -1;
	for (i = 0; i < s->volumes.n; i++)
		if (check_path(s->volumes.v[i], why) == -1)
			return -1;
	for (i = 0; i < s->stores.n; i++)
		if (check_path(s->stores.v[i], why) == -1)
			return -1;
	return 0;
}

/* Adds the lines to the rest of the file. */
static int
compose(const char *rest, const char *lines, struct buf *text, struct why *why)
{
	char hash[HASH_SIZE];

	hash_lines(lines, hash);
	buf_printf(text, "%s%s" BEGIN "%s" END "%s\n", rest, *rest == '\0' || rest[strlen(rest) - 1] == '\n' ? "" : "\n",
	    lines, hash);
	return text->failed ? refuse_nomem(why) : 0;
}

int
setup_conf(const struct setup *s, bool dry, struct conf_before *before, struct why *why)
{
	autobuf struct buf text = { 0 }, lines = { 0 }, old = { 0 };
	autoearlier struct earlier earlier = { .gone = { .n = 0 } };
	autoclose int dir = -1;
	autofree char *was = read_conf(&dir, why);
	/* a Dockerfile may add any key after setup, and none may be there twice */
	const bool made = was != NULL && *was == '\0' && !s->options->image;
	autofree char *rest = was != NULL ? strdup(made ? NEW_FILE : was) : NULL;
	struct why changed;
	bool whole;

	*before = (struct conf_before){ 0 };
	if (was == NULL || check_conf_paths(s, why) == -1 || check_owners(s, why) == -1)
		return -1;
	if (rest == NULL)
		return refuse_nomem(why);
	/* lines that somebody changed need no replacement if nothing is missing */
	whole = take_blocks(rest, &old, &changed) == 0;
	if (whole && !find_earlier(s, old.p, &earlier))
		return refuse_nomem(why);
	add_lines(s, "", &earlier.gone, &lines);
	if (lines.failed)
		return refuse_nomem(why);
	if (lines.len == 0) {
		say("settings: " SHOWN " already names the runtime%s", s->volumes.n > 0 ? " and the volumes" : "");
		return 0;
	}
	if (!whole) {
		*why = changed;
		return -1;
	}
	lines.len = 0;
	add_lines(s, old.p, &earlier.gone, &lines);
	if (lines.failed)
		return refuse_nomem(why);
	if (compose(rest, lines.p, &text, why) == -1 || check_text(s, &text, why) == -1 ||
	    (!dry && ctl_change_file(dir, FILE_NAME, SHOWN, text.p, text.len, why) == -1))
		return -1;
	before->changed = !dry;
	if (before->changed && *was != '\0') {
		before->text = was;
		was = NULL;
	}
	if (old.len > 0)
		say("settings: %s what «setup» wrote to " SHOWN " by:", dry ? "would replace" : "replaced");
	else
		say("settings: %s to " SHOWN ":", dry ? "would add" : "added");
	if (made)
		say_lines(NEW_FILE);
	say_lines(lines.p);
	say_earlier(&earlier, dry);
	return 0;
}

void
setup_conf_restore(const struct conf_before *before)
{
	struct why why;
	autoclose int dir = open(GPUHELPER_CONFDIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (!before->changed)
		return;
	if (before->text == NULL ? unlinkat(dir, FILE_NAME, 0) == -1 :
	    ctl_change_file(dir, FILE_NAME, SHOWN, before->text, strlen(before->text), &why) == -1)
		say("settings: " SHOWN " can't be restored: remove the lines that «setup» wrote");
	else
		say("settings: " SHOWN " is again as it was");
}

int
setup_conf_undo(bool dry, struct why *why)
{
	autobuf struct buf lines = { 0 };
	autoclose int dir = -1;
	autofree char *text = read_conf(&dir, why);
	bool made;

	if (text == NULL || take_blocks(text, &lines, why) == -1)
		return -1;
	if (lines.len == 0) {
		say("settings: " SHOWN " has no lines of «setup»");
		return 0;
	}
	made = *text == '\0' || strcmp(text, NEW_FILE) == 0;
	if (!dry && made && unlinkat(dir, FILE_NAME, 0) == -1)
		return refuse(why, WHY_IO, SHOWN " can't be removed: %s", strerror(errno));
	if (!dry && !made && ctl_change_file(dir, FILE_NAME, SHOWN, text, strlen(text), why) == -1)
		return -1;
	say("settings: %s %s:", dry ? "would remove" : "removed", made ? SHOWN ", which had only these lines" :
	    "these lines from " SHOWN);
	if (made)
		say_lines(text);
	say_lines(lines.p);
	return 0;
}
