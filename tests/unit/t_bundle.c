/*
 * user/bundle.c: a config.json that changes between being read and being replaced,
 * or while it is read, is refused, and what someone else wrote stays; and who may
 * read the new one.  pread(2) is the test's own, and changes the file on the way.
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
#include "user/bundle.h"

static char top[] = "/tmp/t_bundle.XXXXXX";
static int dir;
static void (*meanwhile)(void);

ssize_t
pread(int fd, void *buf, size_t len, off_t at)
{
	const ssize_t n = syscall(SYS_pread64, fd, buf, len, at);
	void (*now)(void) = meanwhile;

	/* after the read that gets all of it, so that the text is the one before the change */
	if (now != NULL) {
		meanwhile = NULL;
		now();
	}
	return n;
}

/* Of some time ago: what is done to it now has another time, however coarse the clock is. */
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

/* The size and the time of before: the change time tells, once the kernel's clock has gone on. */
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

/* Another file in its place, alike from outside. */
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
	if (bundle_open(top, &b, &why) == -1 || bundle_stage(&b, "{new}", 5, false, staged, &why) == -1) {
		ok(false, "%s: %s", name, why.text);
		return;
	}
	is_str(b.text, "{1}", "%s: the text", name);
	change();
	is_int(bundle_commit(&b, staged, &why), good ? 0 : -1, "%s", name);
	ok(good || (why.code == WHY_DATA && strstr(why.text, "config.json: was changed by another process meanwhile: try again") != NULL),
	    "%s: which is told: %s", name, why.text);
	ok(after != NULL ? holds("config.json", after) : faccessat(dir, "config.json", F_OK, 0) == -1, "%s: what is there", name);
	ok(faccessat(dir, staged, F_OK, 0) == -1, "%s: nothing is left beside it", name);
	bundle_close(&b);
}

/*
 * The kernel's clock goes on in steps of milliseconds, and what happens within one
 * has the change time of before: then the rest has to tell.
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
			ret = bundle_stage(&b, "{new}", 5, false, staged, &why) == -1 ? -2 : bundle_commit(&b, staged, &why);
			is_int(ret, -1, "within one tick of the clock, %s", name);
			bundle_close(&b);
			return;
		}
		bundle_close(&b);
	}
	skip(name, "the clock is too fine here");
}

static void
reads(void (*change)(void), bool good, const char *name)
{
	struct why why = { 0 };
	struct bundle b;

	put("config.json", "{1}");
	meanwhile = change;
	is_int(bundle_open(top, &b, &why), good ? 0 : -1, "while it is read, %s", name);
	ok(meanwhile == NULL, "%s: it happened", name);
	ok(good || strstr(why.text, "config.json: changed while it was read") != NULL, "%s: which is told: %s", name, why.text);
	bundle_close(&b);
}

/* Modes. */

static int
mode_after(bool secret)
{
	struct why why = { 0 };
	struct stat st = { 0 };
	struct bundle b;
	char staged[64];

	if (bundle_open(top, &b, &why) == -1 || bundle_stage(&b, "{new}", 5, secret, staged, &why) == -1 ||
	    bundle_commit(&b, staged, &why) == -1 || fstatat(dir, "config.json", &st, 0) == -1)
		return -1;
	bundle_close(&b);
	return (int)(st.st_mode & 07777);
}

static void
modes(mode_t mode, bool secret, int after, const char *name)
{
	put("config.json", "{1}");
	if (fchmodat(dir, "config.json", mode, 0) == -1)
		exit(2);
	is_int(mode_after(secret), after, "%s", name);
}

/* In a directory of the caller's lies a file of someone else's, whose owner and group a caller can't give his own. */
static void
others_file(void)
{
	int status = 0;
	pid_t pid;

	if (geteuid() != 0) {
		skip("another's file", "needs root");
		return;
	}
	put("config.json", "{1}");
	if (fchmodat(dir, "config.json", 0644, 0) == -1 || chmod(top, 0777) == -1)
		exit(2);
	if ((pid = fork()) == 0)
		_exit(setresgid(1234, 1234, 1234) == 0 && setresuid(1234, 1234, 1234) == 0 && mode_after(false) == 0600 ? 0 : 1);
	ok(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0,
	    "where group and owner can't be kept the new one is the caller's alone");
}

int
main(void)
{
	if (mkdtemp(top) == NULL || (dir = open(top, O_RDONLY | O_DIRECTORY)) == -1)
		return 2;
	commits(nothing, true, "{new}", "one that stays as it was");
	commits(append, false, "{1} ", "one that grew");
	commits(overwrite, false, "{3}", "one that was written over, with its size and time");
	commits(touch_it, false, "{1}", "one of another time");
	commits(replace, false, "{3}", "another one in its place");
	commits(take_away, false, NULL, "one that is gone");
	commits_at_once(append, "one that grew");
	commits_at_once(touch_it, "one of another time");
	commits_at_once(replace, "another one in its place");
	reads(nothing, true, "nothing");
	reads(append, false, "it grows");
	reads(cut, false, "it is cut");
	modes(0644, false, 0644, "without secrets its mode is kept");
	modes(0640, false, 0640, "and so is another one");
	modes(0644, true, 0600, "with secrets neither group nor others read it");
	modes(0464, true, 0400, "and nobody gets more than he had");
	others_file();
	unlinkat(dir, "config.json", 0);
	close(dir);
	rmdir(top);
	return done_testing();
}
