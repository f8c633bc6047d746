/*
 * See chain.h. /var/lib/gpuhelper/audit.head, which only root can open, is also the lock. The record is written first,
 * then the head. If a helper is killed between the two, the next helper finds its record, so that the chain stays
 * whole. A power failure can cut off the end of the log or of the head, and gpuhelperctl audit verify reports that.
 */
#include "chain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../host/file.h"
#include "../../host/trust.h"
#include "../../lease/auditchain.h"
#include "../self/state.h"

#define HEAD GPUHELPER_STATEDIR "/audit.head"
#define LOG GPUHELPER_LOGDIR "/audit.jsonl"
#define CHAIN_WAIT_MS 1000	/* a helper has the chain only while it writes a line */
#define AHEAD_MAX (1U << 20)	/* bytes beyond the head that are read; a killed helper leaves only one record */

struct chain {
	int head;		/* locked until it is closed */
	int log;
	struct audit_head at;
	bool lost;		/* there was no head: it is taken from the log's last record */
	bool skipped;		/* some bytes beyond the head were not read: the chain may go on from a later record */
	bool torn;		/* the log does not end with a newline */
};

static int
open_head(struct why *why)
{
	autoclose int dir = -1;
	int fd;

	if (mkdir(GPUHELPER_STATEDIR, 0700) == -1 && errno != EEXIST)
		return refuse(why, WHY_IO, GPUHELPER_STATEDIR ": %s", strerror(errno));
	if ((dir = trust_open_dir(GPUHELPER_STATEDIR, true, why)) == -1)
		return -1;
	if ((fd = openat(dir, "audit.head", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)) == -1)
		return refuse(why, WHY_IO, HEAD ": %s", strerror(errno));
	if (state_lock_fd(fd, HEAD, CHAIN_WAIT_MS, why) == 0)
		return fd;
	close(fd);
	return -1;
}

/*
 * To be called with the lock. A helper that opened the log before a rotation would append to the old log after others
 * have appended to the new one.
 */
static int
open_log(int log, int (*reopen)(struct why *why), struct why *why)
{
	struct stat mine, there;

	if (fstat(log, &mine) == -1)
		return refuse(why, WHY_IO, LOG ": %s", strerror(errno));
	if (lstat(LOG, &there) == 0 && there.st_ino == mine.st_ino && there.st_dev == mine.st_dev)
		return log;
	return reopen(why);
}

static void
pass(struct chain *c, const char *line, size_t len)
{
	char prev[AUDIT_HASH];
	uint64_t n;

	/* never to an earlier record: a log that was cut off must not look whole once something is appended to it */
	if ((c->lost || c->skipped) && audit_link_read(line, len, &n, prev) && (c->lost || n > c->at.records)) {
		c->at.records = n - 1;
		memcpy(c->at.hash, prev, sizeof(prev));
	}
	(void)audit_head_advance(&c->at, line, len);
}

/*
 * Reads what the log has beyond the head: records of helpers that were killed before they wrote the head, and lines
 * that are not part of the chain.
 */
static int
catch_up(struct chain *c, struct why *why)
{
	autofree char *text = NULL;
	char *line, *end;
	struct stat st;
	uint64_t from;
	ssize_t n;

	if (fstat(c->log, &st) == -1)
		return refuse(why, WHY_IO, LOG ": %s", strerror(errno));
	from = c->at.inode == st.st_ino && c->at.size <= (uint64_t)st.st_size ? c->at.size : 0;
	c->at.inode = st.st_ino;
	if (from == (uint64_t)st.st_size)
		return 0;
	/* this happens if for a time the log could be written, but the head could not */
	c->skipped = (uint64_t)st.st_size - from > AHEAD_MAX;
	if (c->skipped)
		from = (uint64_t)st.st_size - AHEAD_MAX;
	if ((text = malloc(AHEAD_MAX)) == NULL)
		return refuse_nomem(why);
	if ((n = pread(c->log, text, AHEAD_MAX, (off_t)from)) <= 0)
		return n == 0 ? 0 : refuse(why, WHY_IO, LOG ": %s", strerror(errno));
	for (line = text; (end = memchr(line, '\n', (size_t)(text + n - line))) != NULL; line = end + 1)
		pass(c, line, (size_t)(end - line));
	/* the newline before the next record will end this line, too */
	if (line < text + n)
		pass(c, line, (size_t)(text + n - line));
	c->torn = text[n - 1] != '\n';
	return 0;
}

/* A single write(2), so that no other line gets into this one. */
static int
append(struct chain *c, const struct buf *line, struct why *why)
{
	autobuf struct buf b = { 0 };
	const size_t before = c->torn;
	off_t end;
	ssize_t n;

	if (c->torn)
		buf_puts(&b, "\n");
	if (!audit_link(&c->at, line->p, line->len, &b))
		return refuse_nomem(why);
	if ((n = write(c->log, b.p, b.len)) != (ssize_t)b.len) {
		refuse(why, WHY_IO, LOG ": %s", n == -1 ? strerror(errno) : "no space left");
		/* a torn line must not swallow the next one */
		if (n > 0)
			(void)!write(c->log, "\n", 1);
		return -1;
	}
	(void)audit_head_advance(&c->at, b.p + before, b.len - before - 1);
	if ((end = lseek(c->log, 0, SEEK_CUR)) != -1)
		c->at.size = (uint64_t)end;
	return 0;
}

/* If this fails, the record is in the log all the same, and the next helper finds it. */
static void
write_head(const struct chain *c)
{
	char text[AUDIT_HEAD_BYTES];

	audit_head_write(&c->at, text);
	(void)!pwrite(c->head, text, sizeof(text), 0);
}

int
chain_append(int log, int (*reopen)(struct why *why), const struct buf *line, struct why *why)
{
	struct chain c = { .log = -1 };
	char text[AUDIT_HEAD_BYTES];
	int ret = -1;
	ssize_t n;

	if ((c.head = open_head(why)) == -1)
		return -1;
	if ((n = pread(c.head, text, sizeof(text), 0)) == -1)
		refuse(why, WHY_IO, HEAD ": %s", strerror(errno));
	else if ((c.log = open_log(log, reopen, why)) != -1) {
		c.lost = !audit_head_read(text, (size_t)n, &c.at);
		if (catch_up(&c, why) == 0 && (ret = append(&c, line, why)) == 0)
			write_head(&c);
	}
	if (c.log != log && c.log != -1)
		close(c.log);
	close(c.head);
	return ret;
}
