/*
 * user/spec/bundle.c: refuses a config.json that another process changes during the read, or between the
 * read and the replacement; the other process's file stays. Also checks the new file's mode. The
 * test has its own pread(2), which changes the file at the right moment.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tap.h"
#include "user/spec/bundle.h"

static char top[] = "/tmp/t_bundle.XXXXXX";
static int dir;
static void (*meanwhile)(void);
static const struct bundle_readers everybody;

ssize_t
pread(int fd, void *buf, size_t len, off_t at)
{
	const ssize_t n = syscall(SYS_pread64, fd, buf, len, at);
	void (*now)(void) = meanwhile;

	/* after the read of the whole file, so that the text is the one before the change */
	if (now != NULL) {
		meanwhile = NULL;
		now();
	}
	return n;
}

/* The old time makes sure that a change gives another time, even with a coarse clock. */
static void
put(const char *name, const char *text)
{
	const struct timespec times[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC, 0640);

	if (fd == -1 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) || futimens(fd, times) == -1)
		exit(2);
	close(fd);
}

static bool
holds(const char *name, const char *text)
{
	char got[64] = "";
	int fd = openat(dir, name, O_RDONLY);
	ssize_t n = fd != -1 ? read(fd, got, sizeof(got) - 1) : -1;

	if (fd != -1)
		close(fd);
	return n == (ssize_t)strlen(text) && strcmp(got, text) == 0;
}

/* The changes. */

static void
nothing(void)
{
}

static void
append(void)
{
	int fd = openat(dir, "config.json", O_WRONLY | O_APPEND);

	if (fd == -1 || write(fd, " ", 1) != 1)
		exit(2);
	close(fd);
}

static void
cut(void)
{
	int fd = openat(dir, "config.json", O_WRONLY);

	if (fd == -1 || ftruncate(fd, 1) == -1)
		exit(2);
	close(fd);
}

/*
 * The size and the modification time stay the same. The change time differs once the kernel's clock
 * has advanced.
 */
static void
overwrite(void)
{
	const struct timespec nap = { .tv_nsec = 50000000 };

	nanosleep(&nap, NULL);
	put("config.json", "{3}");
}

static void
touch_it(void)
{
	const struct timespec times[2] = { { .tv_sec = 2000000000 }, { .tv_sec = 2000000000 } };

	if (utimensat(dir, "config.json", times, 0) == -1)
		exit(2);
}

static void
take_away(void)
{
	if (unlinkat(dir, "config.json", 0) == -1)
		exit(2);
}

/* Puts another file with the same attributes in its place. */
static void
replace(void)
{
	put("other", "{3}");
	if (renameat(dir, "other", dir, "config.json") == -1)
		exit(2);
}

static void
commits(void (*change)(void), bool good, const char *after, const char *name)
{
	struct why why = { 0 };
	struct bundle b;
	char staged[64];

	put("config.json", "{1}");
	if (bundle_open(top, &b, &why) == -1 || bundle_stage(&b, "{new}", 5, &everybody, staged, &why) == -1) {
		ok(false, "%s: %s", name, why.text);
		return;
	}
	is_str(b.text, "{1}", "%s: the old text is read", name);
	change();
	is_int(bundle_commit(&b, staged, &why), good ? 0 : -1, "%s", name);
	ok(good || (why.code == WHY_DATA && strstr(why.text, "config.json: was changed by another process meanwhile: try again") != NULL),
	    "%s: the message says that the file was changed: %s", name, why.text);
	ok(after != NULL ? holds("config.json", after) : faccessat(dir, "config.json", F_OK,
	    0) == -1,
	    "%s: config.json is the expected one", name);
	ok(faccessat(dir, staged, F_OK, 0) == -1, "%s: no staged file is left", name);
	bundle_close(&b);
}

/*
 * The kernel's clock advances in steps of milliseconds. A change within one step leaves the change
 * time as it was, so another attribute must show it.
 */
static void
commits_at_once(void (*change)(void), const char *name)
{
	struct why why = { 0 };
	struct bundle b;
	struct stat now;
	char staged[64];
	int i, ret;

	for (i = 0; i < 2000; i++) {
		put("config.json", "{1}");
		if (bundle_open(top, &b, &why) == -1)
			break;
		change();
		if (fstatat(dir, "config.json", &now, 0) == 0 &&
		    memcmp(&now.st_ctim, &b.st.st_ctim, sizeof(now.st_ctim)) == 0) {
			ret = bundle_stage(&b, "{new}", 5, &everybody, staged, &why) == -1 ? -2 : bundle_commit(&b, staged, &why);
			is_int(ret, -1, "%s is refused within one tick of the clock", name);
			bundle_close(&b);
			return;
		}
		bundle_close(&b);
	}
	skip(name, "this clock is too fine");
}

static void
reads(void (*change)(void), bool good, const char *name)
{
	struct why why = { 0 };
	struct bundle b;

	put("config.json", "{1}");
	meanwhile = change;
	is_int(bundle_open(top, &b, &why), good ? 0 : -1, "during the read: %s", name);
	ok(meanwhile == NULL, "%s: the change happened", name);
	ok(good || strstr(why.text, "config.json: changed while it was read") != NULL,
	    "%s: the message says so: %s", name, why.text);
	bundle_close(&b);
}

/* Modes. */

static const struct bundle_readers closed = { .secret = true };
static const struct bundle_readers callers_hook = { .secret = true, .hook = true, .mapped = true, .uid = 1234, .gid = 5 };
static const struct bundle_readers others_hook = { .secret = true, .hook = true, .mapped = true, .uid = 5, .gid = 5 };

/* Fills *st from the new config.json. */
static int
change_config(const struct bundle_readers *readers, struct stat *st, struct why *why)
{
	struct bundle b;
	char staged[64];
	int ret = -1;

	if (bundle_open(top, &b, why) == 0 && bundle_stage(&b, "{new}", 5, readers, staged, why) == 0 &&
	    bundle_commit(&b, staged, why) == 0)
		ret = fstatat(dir, "config.json", st, 0);
	bundle_close(&b);
	return ret;
}

static int
mode_after(const struct bundle_readers *readers)
{
	struct why why;
	struct stat st;

	return change_config(readers, &st, &why) == 0 ? (int)(st.st_mode & 07777) : -1;
}

static void
put_config(mode_t mode, uid_t owner, gid_t group)
{
	put("config.json", "{1}");
	if (fchownat(dir, "config.json", owner, group, 0) == -1 || fchmodat(dir, "config.json", mode, 0) == -1)
		exit(2);
}

static void
modes(mode_t mode, const struct bundle_readers *readers, int after, const char *name)
{
	put_config(mode, geteuid(), getegid());
	is_int(mode_after(readers), after, "%s", name);
}

/* A hook's user must read what it could read before, and no other user what is secret. */
static void
hooks(void)
{
	static const struct {
		const char *name;
		uid_t owner;		/* of the old file */
		gid_t group;
		mode_t mode;
		struct bundle_readers readers;
		gid_t new_group;
		mode_t new_mode;
	} t[] = {
		{ "the new file is not secret", 0, 0, 0644, { .hook = true, .mapped = true, .uid = 7, .gid = 8 }, 0, 0644 },
		{ "the hook's user becomes the group", 0, 0, 0644, { true, true, true, 7, 8 }, 8, 0640 },
		{ "  whatever the old group", 0, 5, 0664, { true, true, true, 7, 8 }, 8, 0640 },
		{ "the owner gets no more rights than before", 0, 0, 0444, { true, true, true, 7, 8 }, 8, 0440 },
		{ "the hook's user owns the file", 7, 0, 0644, { true, true, true, 7, 8 }, 0, 0600 },
		{ "its group has the file already", 0, 8, 0640, { true, true, true, 7, 8 }, 8, 0640 },
		{ "the hook's user could not read the old file", 0, 0, 0640, { true, true, true, 7, 8 }, 0, 0600 },
		{ "no hook reads the file", 0, 0, 0644, { true, false, true, 7, 8 }, 0, 0600 },
	};
	static const struct bundle_readers unknown = { .secret = true, .hook = true };
	struct why why = { 0 };
	struct stat st = { 0 };
	size_t i;
	bool good;

	if (geteuid() != 0) {
		skip("files of hooks", "needs root");
		return;
	}
	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		put_config(t[i].mode, t[i].owner, t[i].group);
		good = change_config(&t[i].readers, &st, &why) == 0 && st.st_uid == t[i].owner && st.st_gid == t[i].new_group &&
		    (st.st_mode & 07777) == t[i].new_mode;
		ok(good, "a hook: %s: mode %o, group %u %s", t[i].name, st.st_mode & 07777, st.st_gid, why.text);
	}
	put_config(0644, 0, 0);
	ok(change_config(&unknown, &st, &why) == -1 && strstr(why.text, "gidMappings") != NULL && holds("config.json", "{1}"),
	    "a hook whose user is unknown is refused: %s", why.text);
}

/*
 * The caller's directory has another user's file. The caller cannot give its own file that owner
 * and group.
 */
static void
others_file(const struct bundle_readers *readers, int after, const char *name)
{
	int status = 0;
	pid_t pid;

	if (geteuid() != 0) {
		skip("another user's file", "needs root");
		return;
	}
	put_config(0644, 0, 0);
	if (chmod(top, 0777) == -1)
		exit(2);
	if ((pid = fork()) == 0)
		_exit(setresgid(1234, 1234, 1234) != 0 || setresuid(1234, 1234, 1234) != 0 || mode_after(readers) != after);
	ok(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0, "%s", name);
}

int
main(void)
{
	if (mkdtemp(top) == NULL || (dir = open(top, O_RDONLY | O_DIRECTORY)) == -1)
		return 2;
	commits(nothing, true, "{new}", "a config.json that stays as it was");
	commits(append, false, "{1} ", "a config.json that grew");
	commits(overwrite, false, "{3}",
	    "a config.json that was overwritten and has the same size and time");
	commits(touch_it, false, "{1}", "a config.json with another modification time");
	commits(replace, false, "{3}", "a config.json that another file replaced");
	commits(take_away, false, NULL, "a config.json that was removed");
	commits_at_once(append, "a config.json that grew");
	commits_at_once(touch_it, "a config.json with another modification time");
	commits_at_once(replace, "a config.json that another file replaced");
	reads(nothing, true, "nothing happens");
	reads(append, false, "the file grows");
	reads(cut, false, "the file is truncated");
	modes(0644, &everybody, 0644, "without secrets, the new file keeps mode 0644");
	modes(0640, &everybody, 0640, "without secrets, the new file keeps mode 0640");
	modes(0644, &closed, 0600, "with secrets, neither the group nor others can read the new file");
	modes(0464, &closed, 0400, "with secrets, the owner gets no more rights than before");
	hooks();
	others_file(&everybody, 0600, "a new file whose owner and group cannot be kept is readable only to the caller");
	others_file(&callers_hook, 0600, "  that is enough for a hook of the caller's");
	others_file(&others_hook, -1, "  a hook of another user cannot read it, and is refused");
	unlinkat(dir, "config.json", 0);
	close(dir);
	rmdir(top);
	return done_testing();
}
