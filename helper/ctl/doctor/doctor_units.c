/*
 * See doctor.h: checks the udev rule, and what must be done again and again: leases that end, keys that are fetched.
 * That is systemd's work where it runs, and else cron's.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../host/file.h"
#include "../../host/listing.h"
#include "doctor.h"

#define UNITS "/etc/systemd/system/"
#define CRON_MAX_BYTES (256 * 1024)

/* What a timer of systemd's does, and the same as a line of /etc/cron.d/gpuhelper. */
struct caller_op {
	const char *timer;
	const char *command;	/* what such a line has */
	const char *line;
	const char *without;
};

static const struct caller_op leases_end = { "gpuhelper-reap.timer", "gpuhelperctl reap",
	"* * * * * root /usr/sbin/gpuhelperctl reapply; /usr/sbin/gpuhelperctl reap",
	"the lease of a container that is gone ends only with the next request" };
static const struct caller_op keys_come = { "gpuhelper-keys.timer", "gpuhelperctl keys fetch",
	"*/5 * * * * root /usr/sbin/gpuhelperctl keys fetch", "new keys of the issuers are not fetched" };

bool
systemd_runs(void)
{
	struct stat st;

	/* as sd_booted(3) */
	return lstat("/run/systemd/system", &st) == 0 && S_ISDIR(st.st_mode);
}

/* True if a line of the text that is no comment has the command. */
static bool
has_line(const char *text, const char *command)
{
	const char *end;

	for (; *text != '\0'; text = end + (*end != '\0')) {
		text += strspn(text, " \t");
		end = text + strcspn(text, "\n");
		if (*text != '#' && memmem(text, (size_t)(end - text), command, strlen(command)) != NULL)
			return true;
	}
	return false;
}

static bool
file_has_line(const char *path, const char *command)
{
	const int root = file_root();
	autofree char *text = root != -1 ? file_read_at(root, path, CRON_MAX_BYTES, NULL) : NULL;

	return text != NULL && has_line(text, command);
}

/* The file of cron's, of those that every user may read, that runs the command; false if there is none. */
static bool
find_cron(const char *command, char path[300])
{
	static const char *const files[] = { "etc/crontab", "etc/crontabs/root", "var/spool/cron/crontabs/root" };
	autostrlist struct strlist names = { 0 };
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, 300, "%s", files[i]);
		if (file_has_line(path, command))
			return true;
	}
	(void)listing_names(open("/etc/cron.d", O_RDONLY | O_DIRECTORY | O_CLOEXEC), 1024, &names);
	for (i = 0; i < names.n; i++) {
		snprintf(path, 300, "etc/cron.d/%s", names.v[i]);
		/* cron(8) reads no file with a dot in its name */
		if (strchr(names.v[i], '.') == NULL && file_has_line(path, command))
			return true;
	}
	return false;
}

static void
look_at_cron(struct doctor *d, const struct caller_op *c)
{
	autofree char *fix = NULL;
	char path[300];

	if (find_cron(c->command, path)) {
		doctor_say(d, FINDING_OK, "units", NULL, "/%s runs «%s», as systemd does not run here", path, c->command);
		return;
	}
	if (asprintf(&fix, "echo '%s' >>/etc/cron.d/gpuhelper", c->line) != -1)
		doctor_say(d, FINDING_WARN, "units", fix, "systemd does not run here, and no file of cron's has «%s»: %s",
		    c->command, c->without);
}

static void
look_at_timer(struct doctor *d, const struct caller_op *c)
{
	autofree char *path = NULL, *fix = NULL;

	if (asprintf(&path, UNITS "timers.target.wants/%s", c->timer) == -1 ||
	    asprintf(&fix, "systemctl enable --now %s", c->timer) == -1)
		return;
	if (faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		doctor_say(d, FINDING_OK, "units", NULL, "%s is enabled", c->timer);
	else
		doctor_say(d, FINDING_WARN, "units", fix, "%s is not enabled: %s", c->timer, c->without);
}

static void
look_at_keys_socket(struct doctor *d)
{
	if (door_leads_to_keys())
		doctor_say(d, FINDING_OK, "units", NULL, "gpuhelper-keys.socket listens");
	else
		doctor_say(d, FINDING_WARN, "units", "systemctl enable --now gpuhelper-keys.socket", "there is no socket "
		    DOOR_KEYS_PATH ": when an issuer signs with a new key, its tokens are refused until the timer has fetched "
		    "the key");
}

static void
look_at_rule(struct doctor *d)
{
	static const char rule[] = GPUHELPER_LIBDIR "/udev/rules.d/60-gpuhelper.rules";
	static const char mine[] = "/etc/udev/rules.d/60-gpuhelper.rules";
	struct stat st;

	if (stat(mine, &st) == 0 && !S_ISREG(st.st_mode))
		doctor_say(d, FINDING_WARN, "udev", "rm /etc/udev/rules.d/60-gpuhelper.rules", "%s masks the rule", mine);
	else if (access(rule, R_OK) == 0 || access(mine, R_OK) == 0)
		doctor_say(d, FINDING_OK, "udev", NULL, "%s", access(mine, R_OK) == 0 ? mine : rule);
	else
		doctor_say(d, FINDING_WARN, "udev", "make install",
		    "there is no %s: when udev resets a node, the container that holds it loses access", rule);
}

void
doctor_units(struct doctor *d)
{
	const bool systemd = systemd_runs();
	void (*const check)(struct doctor *, const struct caller_op *) = systemd ? look_at_timer : look_at_cron;

	look_at_rule(d);
	check(d, &leases_end);
	if (d->settings.issuers == 0)
		return;
	check(d, &keys_come);
	/* without systemd nothing makes that socket, so there is nothing to advise */
	if (systemd)
		look_at_keys_socket(d);
}
