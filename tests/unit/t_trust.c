/*
 * host/trust.c: the result tells a missing file, a refused file and a temporary failure apart,
 * whatever errno was before. A file that changes during the read is refused. The test has its own
 * pread(2), which changes the file at the right moment.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "host/trust.h"
#include "tap.h"

static char top[] = "/tmp/t_trust.XXXXXX";
static int dir;
static void (*meanwhile)(void);

ssize_t
pread(int fd, void *buf, size_t len, off_t at)
{
	void (*now)(void) = meanwhile;

	meanwhile = NULL;
	if (now != NULL)
		now();
	return syscall(SYS_pread64, fd, buf, len, at);
}

static void
put(const char *name, const char *text, mode_t mode)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd == -1 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) || fchmod(fd, mode) == -1)
		exit(2);
	close(fd);
}

/*
 * Writes the file with an old time, so that a change gives another time even with a coarse clock.
 */
static void
put_old(const char *name, const char *text)
{
	const struct timespec times[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };

	put(name, text, 0644);
	if (utimensat(dir, name, times, 0) == -1)
		exit(2);
}

/* Tries each errno that a caller could mistake for an answer. */
static void
finds_dir(const char *path, bool strict, enum trust_found want, const char *what)
{
	static const int stale[] = { 0, ENOENT, EACCES, ESTALE };
	struct why why;
	size_t i;
	int fd;

	for (i = 0; i < sizeof(stale) / sizeof(stale[0]); i++) {
		errno = stale[i];
		is_int(trust_find_dir(path, strict, &fd, &why), want, "%s, after errno %d", what, stale[i]);
		ok((fd != -1) == (want == TRUST_FOUND),
		    "%s: there is a descriptor only if the directory was found", what);
		if (fd != -1)
			close(fd);
	}
}

static void
finds_text(const char *name, bool strict, enum trust_found want, enum why_code code, const char *what)
{
	static const int stale[] = { 0, ENOENT, EACCES, ESTALE };
	struct why why;
	size_t i, len;

	for (i = 0; i < sizeof(stale) / sizeof(stale[0]); i++) {
		autofree char *text = NULL;

		why.code = WHY_NONE;
		errno = stale[i];
		is_int(trust_find_text(dir, name, name, 100, strict, &text, &len, &why), want, "%s, after errno %d", what, stale[i]);
		ok((text != NULL) == (want == TRUST_FOUND),
		    "%s: there is a text only if the file was found", what);
		is_int(why.code, code, "%s: the code is the expected one", what);
	}
}

static void
check_dirs(void)
{
	char path[80];

	snprintf(path, sizeof(path), "%s/none", top);
	finds_dir(path, false, TRUST_ABSENT, "a missing directory");
	finds_dir("/none/at/all", true, TRUST_ABSENT, "a path whose parents are missing");
	snprintf(path, sizeof(path), "%s/sub", top);
	finds_dir(path, false, TRUST_FOUND, "an existing directory");
	finds_dir(path, true, TRUST_REFUSED, "a directory that other users could change");
	snprintf(path, sizeof(path), "%s/file", top);
	finds_dir(path, false, TRUST_REFUSED, "a file instead of a directory");
	snprintf(path, sizeof(path), "%s/link", top);
	finds_dir(path, false, TRUST_REFUSED, "a link to a directory");
	finds_dir("relative", false, TRUST_REFUSED, "a relative path");
	finds_dir("/", true, TRUST_FOUND, "the root directory");
}

static void
check_texts(void)
{
	finds_text("file", false, TRUST_FOUND, WHY_NONE, "a file");
	finds_text("none", true, TRUST_ABSENT, WHY_IO, "a missing file");
	finds_text("filelink", false, TRUST_REFUSED, WHY_CONFIG, "a link to a file");
	finds_text("sub", false, TRUST_REFUSED, WHY_CONFIG, "a directory");
	finds_text("open", true, TRUST_REFUSED, WHY_CONFIG, "a file that other users may write");
	finds_text("open", false, TRUST_FOUND, WHY_NONE,
	    "a file that other users may write, without the strict check");
	finds_text("large", false, TRUST_REFUSED, WHY_CONFIG, "a file that is too large");
	if (geteuid() != 0) {
		skip("a file with two links", "this test needs root");
		return;
	}
	finds_text("file", true, TRUST_FOUND, WHY_NONE, "root's file with one link");
	finds_text("twice", true, TRUST_REFUSED, WHY_CONFIG, "a file with two links");
	finds_text("twice", false, TRUST_FOUND, WHY_NONE,
	    "a file with two links, without the strict check");
	finds_text("program", true, TRUST_REFUSED, WHY_CONFIG, "a file that its owner may execute");
	finds_text("program", false, TRUST_FOUND, WHY_NONE,
	    "a file that its owner may execute, without the strict check");
}

/* Changes during the read. */

static void
grow(void)
{
	int fd = openat(dir, "moving", O_WRONLY | O_APPEND);

	if (fd == -1 || write(fd, "more", 4) != 4)
		exit(2);
	close(fd);
}

static void
rewrite(void)
{
	put("moving", "other", 0644);
}

/* The times stay the same, so only the size differs. */
static void
grow_unseen(void)
{
	put_old("moving", "words that are more than they were");
}

static void
touch_it(void)
{
	if (utimensat(dir, "moving", NULL, 0) == -1)
		exit(2);
}

static void
take_away(void)
{
	if (unlinkat(dir, "moving", 0) == -1)
		exit(2);
}

static void
reads_meanwhile(void (*what)(void), enum trust_found want, enum why_code code, const char *name)
{
	autofree char *text = NULL;
	struct why why = { 0 };
	size_t len;

	put_old("moving", "words");
	meanwhile = what;
	is_int(trust_find_text(dir, "moving", "moving", 100, false, &text, &len, &why), want, name);
	ok(meanwhile == NULL, "%s: the change happened", name);
	ok((text != NULL) == (want == TRUST_FOUND),
	    "%s: there is no text that mixes two versions", name);
	is_int(why.code, code, "%s: the code is the expected one", name);
}

static void
nothing(void)
{
}

static void
tidy(void)
{
	static const char *const files[] = { "file", "open", "twice", "second", "program", "large", "link", "filelink" };
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		unlinkat(dir, files[i], 0);
	unlinkat(dir, "sub", AT_REMOVEDIR);
	close(dir);
	rmdir(top);
}

int
main(void)
{
	umask(022);
	if (mkdtemp(top) == NULL || (dir = open(top, O_RDONLY | O_DIRECTORY)) == -1 || mkdirat(dir, "sub", 0755) == -1 ||
	    symlinkat("sub", dir, "link") == -1 || symlinkat("file", dir, "filelink") == -1)
		return 2;
	put("file", "text", 0644);
	put("open", "text", 0666);
	put("twice", "text", 0644);
	put("program", "text", 0700);
	put("large", "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789+",
	    0644);
	if (linkat(dir, "twice", dir, "second", 0) == -1)
		return 2;
	/* every user can write in /tmp, so nothing in it is trusted */
	check_dirs();
	check_texts();
	reads_meanwhile(nothing, TRUST_FOUND, WHY_NONE, "a file that stays as it is");
	reads_meanwhile(grow, TRUST_FAILED, WHY_AGAIN, "a file that grows");
	reads_meanwhile(rewrite, TRUST_FAILED, WHY_AGAIN,
	    "a file that is overwritten with the same size");
	reads_meanwhile(grow_unseen, TRUST_FAILED, WHY_AGAIN,
	    "a file with another size and the same time");
	reads_meanwhile(touch_it, TRUST_FAILED, WHY_AGAIN, "a file with another time");
	reads_meanwhile(take_away, TRUST_FOUND, WHY_NONE,
	    "a file that is removed is read as it was");
	tidy();
	return done_testing();
}
