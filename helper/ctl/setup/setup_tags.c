/* See setup.h: gives the worker tags, in a drop-in of its unit (systemd.unit(5)). */
#include "setup.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/text.h"
#include "../../host/file.h"
#include "../../kernel/cgroupline.h"
#include "../gpus/tags.h"

#define UNITS "/etc/systemd/system"
#define DROP_IN "50-gpuhelper-tags.conf"

/* The service in a path of /proc/PID/cgroup; NULL if there is none.  Units of a user's manager have other files. */
static char *
service_of(const char *path)
{
	static const char end[] = ".service";
	size_t n;

	if (text_starts(path, "/user.slice/"))
		return NULL;
	for (; *path == '/'; path += n) {
		n = strcspn(++path, "/");
		if (n >= sizeof(end) && strncmp(path + n - strlen(end), end, strlen(end)) == 0)
			return strndup(path, n);
	}
	return NULL;
}

/* Services that start other people's commands: their units must not get tags for a worker in their cgroup. */
static bool
starts_others(const char *unit)
{
	static const char *const names[] = { "cron.service", "crond.service", "cronie.service", "fcron.service",
		"anacron.service", "atd.service", "ssh.service", "sshd.service", "rc-local.service", NULL };

	return text_among(unit, names) || text_starts(unit, "cron-");
}

/* The unit of the process, by its cgroup; NULL if it is in no service.  The caller frees. */
static char *
unit_of(pid_t pid)
{
	autoclose int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	autofree char *text = NULL;
	struct cgroup_line line;
	char name[40], *rest, *unit = NULL;

	snprintf(name, sizeof(name), "%d/cgroup", pid);
	if (proc != -1)
		text = file_read_at(proc, name, 65536, NULL);
	for (rest = text; unit == NULL && cgroup_line_next(&rest, &line);)
		unit = service_of(line.path);
	if (unit != NULL && starts_others(unit)) {
		free(unit);
		unit = NULL;
	}
	return unit;
}

static bool
has_drop_in(const char *unit)
{
	char path[400];

	return snprintf(path, sizeof(path), UNITS "/%s.d/" DROP_IN, unit) < (int)sizeof(path) && access(path, F_OK) == 0;
}

static int
write_drop_in(const char *unit, const char *variable, struct why *why)
{
	autobuf struct buf text = { 0 }, dir = { 0 }, shown = { 0 };
	autoclose int fd = -1;

	buf_printf(&dir, UNITS "/%s.d", unit);
	buf_printf(&shown, "%s/" DROP_IN, dir.failed ? "" : dir.p);
	buf_printf(&text, "# gpuhelperctl setup concourse --tags wrote this\n[Service]\nEnvironment=\"%s\"\n", variable);
	if (dir.failed || shown.failed || text.failed)
		return refuse_nomem(why);
	if ((mkdir(dir.p, 0755) == -1 && errno != EEXIST) ||
	    (fd = open(dir.p, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		return refuse(why, WHY_IO, "%s: %s", dir.p, strerror(errno));
	return ctl_write_file(fd, DROP_IN, shown.p, text.p, text.len, NULL, why);
}

int
setup_tags(const struct setup *s, bool dry, struct why *why)
{
	autofree char *unit = s->worker.concourse != 0 ? unit_of(s->worker.concourse) : NULL, *variable = NULL;
	autostrlist struct strlist tags = { 0 };

	if (tags_find(&s->settings, &tags, why) == -1)
		return -1;
	if (tags.n == 0)
		return refuse(why, WHY_CONFIG, "this host has no GPUs that tags could name (gpuhelperctl devices)");
	if ((variable = tags_variable(s->worker.quickstart ? "CONCOURSE_WORKER_TAG" : "CONCOURSE_TAG", &tags)) == NULL)
		return refuse_nomem(why);
	/* tags of an earlier setup may name other GPUs */
	if (s->worker.tagged && (unit == NULL || !has_drop_in(unit))) {
		say("tags: the worker has some already; add those that it lacks: %s", variable);
		return 0;
	}
	if (unit == NULL)
		return refuse(why, WHY_CONFIG, "no unit of systemd runs the worker: add this to its environment: %.300s", variable);
	if (!dry && write_drop_in(unit, variable, why) == -1)
		return -1;
	say("tags: %s " UNITS "/%s.d/" DROP_IN ": %s", dry ? "would write" : "wrote", unit, variable);
	if (!dry)
		say("tags: run systemctl daemon-reload; from its next start on the worker takes only steps with one of the tags");
	return 0;
}

static int
remove_drop_in(char *path, bool dry, struct why *why)
{
	if (!dry && unlink(path) == -1)
		return refuse(why, WHY_IO, "%s can't be removed: %s", path, strerror(errno));
	say("tags: %s %s (systemctl daemon-reload)", dry ? "would remove" : "removed", path);
	*strrchr(path, '/') = '\0';
	/* fails, as it should, if the directory has other drop-ins */
	if (!dry)
		(void)rmdir(path);
	return 0;
}

int
setup_tags_undo(bool dry, struct why *why)
{
	glob_t found;
	size_t i;
	int ret = 0;

	if (glob(UNITS "/*.service.d/" DROP_IN, 0, NULL, &found) != 0)
		return 0;
	for (i = 0; i < found.gl_pathc && ret == 0; i++)
		ret = remove_drop_in(found.gl_pathv[i], dry, why);
	globfree(&found);
	return ret;
}
