/*
 * host/trust.c: the result tells a missing file, a refused file and a temporary failure apart, whatever errno was
 * before.  A file that changes while it is read is refused.  The test has its own pread(2), which changes the file at
 * the right moment.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/trust.h"
#include "pure/cleanup.h"
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

/* A copy of this file with an older time, so that a change gets another time even from a coarse clock. */
static void
put_old(const char *name, const char *text)
{
	const struct timespec times[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };

	put(name, text, 0644);
	if (utimensat(dir, name, times, 0) == -1)
		exit(2);
}

/* With every errno that a caller could mistake for an answer. */
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
		ok((fd != -1) == (want == TRUST_FOUND), "%s: a descriptor only where it was found", what);
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
		ok((text != NULL) == (want == TRUST_FOUND), "%s: a text only where it was found", what);
		is_int(why.code, code, "%s: the code", what);
	}
}

static void
check_dirs(void)
{
	char path[80];

	snprintf(path, sizeof(path), "%s/none", top);
	finds_dir(path, false, TRUST_ABSENT, "a directory that is not there");
	finds_dir("/none/at/all", true, TRUST_ABSENT, "none of a path");
	snprintf(path, sizeof(path), "%s/sub", top);
	finds_dir(path, false, TRUST_FOUND, "one that is");
	finds_dir(path, true, TRUST_REFUSED, "one that others could change");
	snprintf(path, sizeof(path), "%s/file", top);
	finds_dir(path, false, TRUST_REFUSED, "a file");
	snprintf(path, sizeof(path), "%s/link", top);
	finds_dir(path, false, TRUST_REFUSED, "a link to one");
	finds_dir("relative", false, TRUST_REFUSED, "a relative path");
	finds_dir("/", true, TRUST_FOUND, "the root");
}

static void
check_texts(void)
{
	finds_text("file", false, TRUST_FOUND, WHY_NONE, "a file");
	finds_text("none", true, TRUST_ABSENT, WHY_IO, "a file that is not there");
	finds_text("filelink", false, TRUST_REFUSED, WHY_CONFIG, "a link");
	finds_text("sub", false, TRUST_REFUSED, WHY_CONFIG, "a directory");
	finds_text("open", true, TRUST_REFUSED, WHY_CONFIG, "one that others may write");
	finds_text("open", false, TRUST_FOUND, WHY_NONE, "which is no matter where that is not asked");
	finds_text("large", false, TRUST_REFUSED, WHY_CONFIG, "one that is too large");
	if (geteuid() != 0) {
		skip("a file with two links", "not root");
		return;
	}
	finds_text("file", true, TRUST_FOUND, WHY_NONE, "a file of root's");
	finds_text("twice", true, TRUST_REFUSED, WHY_CONFIG, "one with two links");
	finds_text("twice", false, TRUST_FOUND, WHY_NONE, "which is no matter either");
	finds_text("program", true, TRUST_REFUSED, WHY_CONFIG, "one that its owner may execute");
	finds_text("program", false, TRUST_FOUND, WHY_NONE, "nor is that");
}

/* While the file is read. */

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

/* The times do not change: the size tells. */
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
	ok(meanwhile == NULL, "%s: it happened", name);
	ok((text != NULL) == (want == TRUST_FOUND), "%s: no text of two times", name);
	is_int(why.code, code, "%s: the code", name);
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
	/* /tmp is everybody's, so nothing in it is trusted */
	check_dirs();
	check_texts();
	reads_meanwhile(nothing, TRUST_FOUND, WHY_NONE, "a file that stays as it is");
	reads_meanwhile(grow, TRUST_FAILED, WHY_AGAIN, "one that grows");
	reads_meanwhile(rewrite, TRUST_FAILED, WHY_AGAIN, "one that is written anew, of the same size");
	reads_meanwhile(grow_unseen, TRUST_FAILED, WHY_AGAIN, "one of another size and the same time");
	reads_meanwhile(touch_it, TRUST_FAILED, WHY_AGAIN, "one of another time");
	reads_meanwhile(take_away, TRUST_FOUND, WHY_NONE, "one that is removed is what it was");
	tidy();
	return done_testing();
}
