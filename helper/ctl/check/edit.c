/*
 * gpuhelperctl edit: opens a copy of one configuration file in the administrator's editor, checks it together with the
 * rest of the configuration, and only then renames it into place.  Never installs a file with errors.  Runs with its
 * caller's rights.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/quoted.h"
#include "../../host/file.h"
#include "../../host/own/etc.h"
#include "../../policy/conffault.h"
#include "../ctl.h"
#include "check.h"

struct editing {
	const struct options *options;
	const char *name;	/* the file's name in its directory */
	char *shown;		/* the file's path */
	int dir;		/* the file's directory */
	struct stat was;	/* the file before the edit; st_ino 0: there was none */
	char *text;		/* its content before the edit */
	size_t len;
	char *config;		/* the configuration's directory */
	char *work;		/* a temporary directory with a copy of the configuration */
	char *copy;		/* path of the file's copy in work */
	size_t errors;		/* errors of the whole configuration before the edit */
	bool keep;		/* keep work: it has the only copy of the user's changes */
};

static int
remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st, (void)kind, (void)at;
	(void)remove(path);
	return 0;
}

static void
end_editing(struct editing *e)
{
	if (e->work != NULL && !e->keep)
		(void)nftw(e->work, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	if (e->dir != -1)
		close(e->dir);
	free(e->work);
	free(e->copy);
	free(e->config);
	free(e->text);
	free(e->shown);
}

static int __attribute__((format(printf, 2, 3)))
make(char **out, const char *fmt, ...)
{
	va_list ap;

	free(*out);
	va_start(ap, fmt);
	*out = format_text(fmt, ap);
	va_end(ap);
	return *out != NULL ? 0 : -1;
}

static bool
is_policy_name(const char *name)
{
	const size_t n = strlen(name);

	return name[0] != '.' && strchr(name, '/') == NULL && n > 5 && n < 200 && strcmp(name + n - 5, ".conf") == 0;
}

/*
 * Accepts gpuhelper.conf, NAME.conf, policy.d/NAME.conf, and these beneath the configuration's path.  Sets *name to the
 * file's name, and returns the subdirectory that it is in; NULL if the word is none of these.
 */
static const char *
subdir_of(const char *given, const char *config, const char **name)
{
	const size_t n = strlen(config);

	if (strncmp(given, config, n) == 0 && given[n] == '/')
		given += n + 1;
	*name = given;
	if (strcmp(given, SETTINGS_FILE) == 0)
		return "";
	if (text_starts(given, "policy.d/"))
		*name = given + strlen("policy.d/");
	return is_policy_name(*name) ? "/policy.d" : NULL;
}

/*
 * Opens the file's directory and reads the file.  Fails early, before the user types, if the directory is not writable.
 */
static int
open_place(struct editing *e, const char *sub, struct why *why)
{
	autofree char *path = NULL;
	const char *remedy = geteuid() != 0 ? ": run this as root" : "";

	if (make(&path, "%s%s", e->config, sub) == -1 || make(&e->shown, "%s/%s", path, e->name) == -1)
		return refuse_nomem(why);
	if ((e->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		return refuse(why, WHY_IO, "%s: %s%s", path, strerror(errno), errno == EACCES ? remedy : "");
	if (faccessat(e->dir, ".", W_OK, AT_EACCESS) == -1)
		return refuse(why, WHY_IO, "%s: this user can't write to the directory: %s%s", path, strerror(errno),
		    errno == EACCES ? remedy : "");
	if (fstatat(e->dir, e->name, &e->was, AT_SYMLINK_NOFOLLOW) == -1) {
		e->was = (struct stat){ 0 };
		return errno == ENOENT ? 0 : refuse(why, WHY_IO, "%s: %s", e->shown, strerror(errno));
	}
	if (!S_ISREG(e->was.st_mode))
		return refuse(why, WHY_CONFIG, "%s is not a regular file: the helper would not read it", e->shown);
	e->text = ctl_read_input(e->shown, CONF_MAX, &e->len, why);
	return e->text != NULL ? 0 : -1;
}

static int
put_copy(const char *work, const char *name, const char *text, size_t len, struct why *why)
{
	autofree char *path = NULL;
	autoclose int dir = open(work, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (make(&path, "%s/%s", work, name) == -1)
		return refuse_nomem(why);
	return ctl_write_file(dir, name, path, text, len, NULL, why);
}

/* Copies the whole configuration, since the edited file is checked together with the other files. */
static int
copy_config(struct editing *e, struct why *why)
{
	autopolicyfiles struct policy_files files = { 0 };
	autofree char *settings = NULL, *policies = NULL;
	size_t i, len;
	int ret;

	if (make(&policies, "%s/policy.d", e->work) == -1)
		return refuse_nomem(why);
	if (mkdir(policies, 0700) == -1)
		return refuse(why, WHY_IO, "%s: %s", policies, strerror(errno));
	if ((ret = settings_text(e->config, false, &settings, &len, why)) == 0 && settings != NULL)
		ret = put_copy(e->work, SETTINGS_FILE, settings, len, why);
	if (ret == 0)
		ret = policy_files_load(e->config, false, &files, why);
	for (i = 0; ret == 0 && i < files.n; i++)
		ret = put_copy(policies, files.v[i].name, files.v[i].text, files.v[i].len, why);
	return ret;
}

static int
begin_editing(struct editing *e, struct why *why)
{
	const char *temp = getenv("TMPDIR"), *sub;
	struct check_count before;
	bool ignored;

	if (ctl_config_dir(e->options->config_dir, &e->config, &ignored, why) == -1)
		return -1;
	if ((sub = subdir_of(e->options->arg[0], e->config, &e->name)) == NULL)
		return refuse(why, WHY_USAGE, "edit: \"%.200s\" is neither gpuhelper.conf nor the name of a policy, like "
		    "10-train.conf", e->options->arg[0]);
	if (open_place(e, sub, why) == -1)
		return -1;
	if (make(&e->work, "%s/gpuhelper-edit.XXXXXX", temp != NULL && temp[0] == '/' ? temp : "/tmp") == -1)
		return refuse_nomem(why);
	if (mkdtemp(e->work) == NULL) {
		refuse(why, WHY_IO, "%s: %s", e->work, strerror(errno));
		free(e->work);
		e->work = NULL;
		return -1;
	}
	if (make(&e->copy, "%s%s/%s", e->work, sub, e->name) == -1)
		return refuse_nomem(why);
	if (copy_config(e, why) == -1 || check_copy(e->options, e->work, e->config, NULL, &before, why) == -1)
		return -1;
	e->errors = before.errors;
	return 0;
}

/* The editor's command, as the shell finds it. */
static const char *
editor(void)
{
	const char *visual = getenv("VISUAL"), *usual = getenv("EDITOR");

	return visual != NULL && *visual != '\0' ? visual : usual != NULL && *usual != '\0' ? usual : "vi";
}

/* Like system(3), but passes the file as an argument, so that the shell does not parse its name.  -1 with *why. */
static int
run_editor(const char *file, struct why *why)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct sigaction was_int, was_quit;
	int status = -1;
	pid_t pid;

	fflush(stdout);
	/* the terminal's signals are meant for the editor */
	sigaction(SIGINT, &ignore, &was_int);
	sigaction(SIGQUIT, &ignore, &was_quit);
	if ((pid = fork()) == 0) {
		sigaction(SIGINT, &was_int, NULL);
		sigaction(SIGQUIT, &was_quit, NULL);
		execl("/bin/sh", "sh", "-c", "file=$1; set -- ${VISUAL:-${EDITOR:-vi}}; command -v \"$1\" >/dev/null || exit 127; "
		    "exec \"$@\" \"$file\"", "sh", file, (char *)NULL);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) == -1 && errno == EINTR)
		;
	sigaction(SIGINT, &was_int, NULL);
	sigaction(SIGQUIT, &was_quit, NULL);
	if (pid == -1)
		return refuse(why, WHY_AGAIN, "can't start the editor: %s", strerror(errno));
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return refuse(why, WHY_ABSENT, "the editor %s is not installed: set EDITOR to another one", quoted(editor()));
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return refuse(why, WHY_IO, "the editor ($VISUAL, else $EDITOR, else vi) failed: nothing has changed");
	return 0;
}

/* Asks whether to edit the file again.  Without a terminal the answer is no. */
static bool
ask_again(const struct editing *e)
{
	char line[16];

	if (!isatty(STDIN_FILENO))
		return false;
	for (;;) {
		printf("%s has errors.  (e)dit again, or e(x)it without changing the file? ", e->name);
		fflush(stdout);
		if (fgets(line, sizeof(line), stdin) == NULL || line[0] == 'x')
			return false;
		if (line[0] == 'e')
			return true;
	}
}

/* Checks the edited copy.  0: install it; 1: edit it again; -1 with *why. */
static int
check_edited(struct editing *e, struct why *why)
{
	struct check_count now;

	if (check_copy(e->options, e->work, e->config, e->shown, &now, why) == -1)
		return -1;
	if (now.file_errors == 0 && now.errors <= e->errors)
		return 0;
	if (ask_again(e))
		return 1;
	return refuse(why, WHY_CONFIG, "%s is unchanged: the edited text has errors", e->shown);
}

static int
install_edited(struct editing *e, const char *text, size_t len, struct why *why)
{
	struct stat now = { 0 };

	if ((fstatat(e->dir, e->name, &now, AT_SYMLINK_NOFOLLOW) == -1 && errno != ENOENT) || now.st_ino != e->was.st_ino ||
	    now.st_size != e->was.st_size || now.st_mtim.tv_sec != e->was.st_mtim.tv_sec ||
	    now.st_mtim.tv_nsec != e->was.st_mtim.tv_nsec) {
		e->keep = true;
		return refuse(why, WHY_AGAIN, "%s was changed by somebody else in the meantime: your text is in %s", e->shown,
		    e->copy);
	}
	if (ctl_change_file(e->dir, e->name, e->shown, text, len, why) == -1) {
		e->keep = true;
		complain(why->code, "your text is in %s", e->copy);
		return -1;
	}
	say("%s: %s", e->shown, e->was.st_ino != 0 ? "changed" : "created");
	return 0;
}

static int
edit(struct editing *e, struct why *why)
{
	autofree char *text = NULL;
	size_t len;
	int again;

	if (begin_editing(e, why) == -1)
		return -1;
	do {
		free(text);
		text = NULL;
		if (run_editor(e->copy, why) == -1)
			return -1;
		if (access(e->copy, F_OK) == -1 && e->was.st_ino == 0) {
			say("%s: not created", e->shown);
			return 0;
		}
		if ((text = ctl_read_input(e->copy, CONF_MAX, &len, why)) == NULL)
			return -1;
		if (e->text != NULL && len == e->len && memcmp(text, e->text, len) == 0) {
			say("%s: unchanged", e->shown);
			return 0;
		}
	} while ((again = check_edited(e, why)) == 1);
	return again == 0 ? install_edited(e, text, len, why) : -1;
}

int
ctl_edit(const struct options *o)
{
	struct editing e = { .options = o, .dir = -1 };
	struct why why;
	const int ret = edit(&e, &why);

	end_editing(&e);
	return ret == 0 ? 0 : give_up(o, &why);
}
