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
#include "../pure/text.h"
#include "../read/load.h"
#include "../user/rootfs.h"

#define FILE_NAME "gpuhelper.conf"
#define FILE_MAX_BYTES (1024 * 1024)
#define SHOWN GPUHELPER_CONFDIR "/" FILE_NAME
#define BEGIN "# begin: gpuhelperctl setup wrote this\n"
#define END "# end: gpuhelperctl setup wrote this\n"

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

/* As a text of libconfig's, which no path needs to escape anything in. */
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
	char name[] = "/run/gpuhelper-setup.XXXXXX";
	autosettings struct settings settings = { 0 };
	autoclose int dir = -1;
	int ret;

	if (mkdtemp(name) == NULL || (dir = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		return refuse(why, WHY_IO, "%s: %s", name, strerror(errno));
	if ((ret = ctl_write_file(dir, FILE_NAME, SHOWN, text->p, text->len, NULL, why)) == 0)
		ret = settings_load(name, false, &settings, NULL, NULL, why);
	(void)unlinkat(dir, FILE_NAME, 0);
	(void)rmdir(name);
	if (ret == -1)
		return refuse_within(why, SHOWN " with «runtime» and «volumes»");
	if (access(s->volumes, F_OK) == 0 && !rootfs_may_lie_in(s->volumes, &settings))
		return refuse(why, WHY_CONFIG, SHOWN ": \"volumes\" has no %s, where the worker keeps them: add it", s->volumes);
	return 0;
}

/* *text is the new one; false: there is nothing to add. */
static bool
compose(const struct setup *s, const char *old, struct buf *text)
{
	const bool names = s->settings.runtime != NULL;
	/* as long as it is not there, nobody can say where it leads */
	const bool holds = access(s->volumes, F_OK) == 0 ? rootfs_may_lie_in(s->volumes, &s->settings) :
	    strlist_has(&s->settings.volumes, s->volumes);

	if (names && holds)
		return false;
	buf_printf(text, "%s%s" BEGIN, old, *old == '\0' || old[strlen(old) - 1] == '\n' ? "" : "\n");
	if (!names)
		buf_printf(text, "runtime = \"%s\";\n", s->runtime);
	if (!holds)
		buf_printf(text, "volumes = [ \"%s\" ];\n", s->volumes);
	buf_printf(text, END);
	return true;
}

int
setup_conf(const struct setup *s, bool dry, struct why *why)
{
	autobuf struct buf text = { 0 };
	autoclose int dir = -1;
	autofree char *old = read_conf(&dir, why);
	const char *added;

	if (old == NULL || check_path(s->runtime, why) == -1 || check_path(s->volumes, why) == -1)
		return -1;
	if (!compose(s, old, &text)) {
		say("settings: " SHOWN " names the runtime and the volumes");
		return 0;
	}
	if (text.failed)
		return refuse_nomem(why);
	/* a second «volumes» is no setting: libconfig says where the first one is */
	if (check_text(s, &text, why) == -1 ||
	    (!dry && ctl_write_file(dir, FILE_NAME, SHOWN, text.p, text.len, NULL, why) == -1))
		return -1;
	added = strstr(text.p, BEGIN) + strlen(BEGIN);
	say("settings: %s to " SHOWN ":", dry ? "would add" : "added");
	while (!text_starts(added, END)) {
		say("    %.*s", (int)strcspn(added, "\n"), added);
		added += strcspn(added, "\n") + 1;
	}
	return 0;
}

int
setup_conf_undo(bool dry, struct why *why)
{
	autobuf struct buf text = { 0 };
	autoclose int dir = -1;
	autofree char *old = read_conf(&dir, why);
	const char *from, *to;

	if (old == NULL)
		return -1;
	if ((from = strstr(old, BEGIN)) == NULL || (to = strstr(from, END)) == NULL) {
		say("settings: " SHOWN " has no lines of «setup»");
		return 0;
	}
	buf_add(&text, old, (size_t)(from - old));
	buf_printf(&text, "%s", to + strlen(END));
	if (text.failed)
		return refuse_nomem(why);
	if (!dry && ctl_write_file(dir, FILE_NAME, SHOWN, text.p, text.len, NULL, why) == -1)
		return -1;
	say("settings: %s the lines of «setup» from " SHOWN, dry ? "would take" : "took");
	return 0;
}
