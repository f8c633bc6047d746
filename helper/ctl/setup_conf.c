/* See setup.h: the lines of gpuhelper.conf.  They stand between two comments, so that they can be found again. */
#include "setup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../host/etc.h"
#include "../host/file.h"
#include "../pure/cleanup.h"
#include "../pure/hash.h"
#include "../pure/text.h"
#include "../read/load.h"
#include "../user/rootfs.h"

#define FILE_NAME "gpuhelper.conf"
#define FILE_MAX_BYTES (1024 * 1024)
#define SHOWN GPUHELPER_CONFDIR "/" FILE_NAME
#define BEGIN "# begin: gpuhelperctl setup wrote this\n"
#define END "# end: gpuhelperctl setup wrote this, "	/* a hash of the lines follows: undo takes no others away */
#define HASH_CHARS 16

static void
hash_lines(const char *lines, char hash[65])
{
	const char *const pieces[] = { lines, NULL };

	hash_pieces(pieces, hash);
	hash[HASH_CHARS] = '\0';
}

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

/* The path goes into a text of libconfig's as it is: nothing in it may have to be escaped. */
static int
check_path(const char *path, struct why *why)
{
	const char *c;

	for (c = path; *c != '\0'; c++)
		if ((unsigned char)*c < ' ' || *c == '"' || *c == '\\' || *c == 0x7f)
			return refuse(why, WHY_DATA, "\"%.200s\" has a character that a path in gpuhelper.conf can't have", path);
	return 0;
}

/* In a directory of its own, as the helper reads it. */
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
		return refuse(why, WHY_CONFIG, SHOWN " can't have the worker's runtime and volumes added: %.300s; add them by hand",
		    cause.text + (text_starts(cause.text, name) ? strlen(name) + 1 : 0));
	if (access(s->volumes, F_OK) == 0 && !rootfs_may_lie_in(s->volumes, &settings))
		return refuse(why, WHY_CONFIG, SHOWN ": \"volumes\" has no %s, where the worker keeps them: add it", s->volumes);
	return 0;
}

/* What there is to add; nothing: "". */
static void
add_lines(const struct setup *s, struct buf *out)
{
	const struct strlist *v = &s->settings.volumes;
	size_t i;

	if (s->settings.runtime == NULL)
		buf_printf(out, "runtime = \"%s\";\n", s->runtime);
	/* as long as it is not there, nobody can say where it leads */
	if (access(s->volumes, F_OK) == 0 ? rootfs_may_lie_in(s->volumes, &s->settings) : strlist_has(v, s->volumes))
		return;
	/* the key takes the place of the defaults, which other engines may need */
	buf_puts(out, "volumes = [ ");
	for (i = 0; i < v->n; i++)
		buf_printf(out, "\"%s\", ", v->v[i]);
	buf_printf(out, "\"%s\" ];\n", s->volumes);
}

static void
say_lines(const char *lines)
{
	for (; *lines != '\0'; lines += strcspn(lines, "\n") + 1)
		say("    %.*s", (int)strcspn(lines, "\n"), lines);
}

int
setup_conf(const struct setup *s, bool dry, struct why *why)
{
	autobuf struct buf text = { 0 }, lines = { 0 };
	autoclose int dir = -1;
	autofree char *old = read_conf(&dir, why);
	char hash[65];

	if (old == NULL || check_path(s->runtime, why) == -1 || check_path(s->volumes, why) == -1)
		return -1;
	add_lines(s, &lines);
	if (lines.failed)
		return refuse_nomem(why);
	if (lines.len == 0) {
		say("settings: " SHOWN " names the runtime and the volumes");
		return 0;
	}
	hash_lines(lines.p, hash);
	buf_printf(&text, "%s%s" BEGIN "%s" END "%s\n", old, *old == '\0' || old[strlen(old) - 1] == '\n' ? "" : "\n",
	    lines.p, hash);
	if (text.failed)
		return refuse_nomem(why);
	if (check_text(s, &text, why) == -1 ||
	    (!dry && ctl_change_file(dir, FILE_NAME, SHOWN, text.p, text.len, why) == -1))
		return -1;
	say("settings: %s to " SHOWN ":", dry ? "would add" : "added");
	say_lines(lines.p);
	return 1;
}

/* One block of lines out of the text, in place; 0: there is none, -1 with *why: it is not as it was written. */
static int
take_block(char *text, struct why *why)
{
	char *from = strstr(text, BEGIN), *lines, *end, *rest, hash[65];

	if (from == NULL)
		return 0;
	lines = from + strlen(BEGIN);
	if ((end = strstr(lines, END)) != NULL) {
		autofree char *body = strndup(lines, (size_t)(end - lines));

		if (body == NULL)
			return refuse_nomem(why);
		hash_lines(body, hash);
		rest = end + strlen(END);
		if (text_starts(rest, hash) && rest[HASH_CHARS] == '\n') {
			say_lines(body);
			rest += HASH_CHARS + 1;
			memmove(from, rest, strlen(rest) + 1);
			return 1;
		}
	}
	return refuse(why, WHY_CONFIG, SHOWN ": somebody changed the lines that «setup» wrote: take away by hand what is "
	    "not yours");
}

int
setup_conf_undo(bool dry, struct why *why)
{
	autoclose int dir = -1;
	autofree char *text = read_conf(&dir, why);
	unsigned blocks = 0;
	int ret;

	if (text == NULL)
		return -1;
	while ((ret = take_block(text, why)) == 1)
		blocks++;
	if (ret == -1)
		return -1;
	if (blocks == 0) {
		say("settings: " SHOWN " has no lines of «setup»");
		return 0;
	}
	if (!dry && ctl_change_file(dir, FILE_NAME, SHOWN, text, strlen(text), why) == -1)
		return -1;
	say("settings: %s these lines from " SHOWN, dry ? "would take" : "took");
	return 0;
}
