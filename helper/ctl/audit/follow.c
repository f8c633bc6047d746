/*
 * gpuhelperctl audit follow: forwards each record of the audit log as soon as it is written.  gpuhelper-audit.service
 * runs it as a user that can read the log and nothing else of gpuhelper, so that root does not parse text from tasks.
 *
 * Sends a record before it saves the position.  So a kill loses no record, but the next start may send some again.
 * Verifies the chain on the way, and reports a break as an event of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../host/file.h"
#include "../../json/strictjson.h"
#include "../../lease/auditchain.h"
#include "../ctl.h"
#include "auditline.h"
#include "auditlog.h"
#include "position.h"
#include "sink.h"

#define NAP_MS 5000		/* how often to look at the log if inotify reports nothing */
#define CHUNK (1U << 18)
#define RECORD_MAX (16U << 20)

struct follow {
	enum sink sink;
	const char *log;
	struct position position;
	bool unsaved;			/* saving the position has failed, and that was reported */
	struct audit_head at;		/* the last record sent; inode is its file's file_id(), size the bytes sent of it */
	bool known;			/* a record was sent, by this or an earlier start */
	bool again;			/* skip records up to at.records: they were sent already */
	int log_fd, events;
	sigset_t mask;			/* the signal mask while we wait, which lets SIGTERM and SIGINT in */
	char *text;			/* the part of the log after at.size */
	size_t room;
};

static volatile sig_atomic_t stopped;

static void
stop(int sig)
{
	(void)sig;
	stopped = 1;
}

/* Saves the position.  A failure does not stop us: it only means that the next start sends records again. */
static void
save_position(struct follow *f)
{
	struct why why;

	if (position_save(&f->position, &f->at, &why) == 0)
		f->unsaved = false;
	else if (!f->unsaved) {
		f->unsaved = true;
		(void)complain(why.code, "%s", why.text);
	}
}

/* Sending */

/* Retries until the sink takes the entry.  False if we must stop first. */
static bool
send(const struct follow *f, const struct sink_entry *e)
{
	const struct timespec nap = { .tv_nsec = 500 * 1000000 }, none = { 0 };
	bool told = false;

	/* let in a pending signal */
	(void)ppoll(NULL, 0, &none, &f->mask);
	if (stopped)
		return false;
	while (!sink_send(f->sink, e)) {
		if (f->sink >= SINK_STDOUT)
			exit(complain(WHY_IO, "can't write to stdout"));
		if (!told)
			(void)complain(WHY_AGAIN, "the %s does not take records; retrying", f->sink == SINK_JOURNAL ? "journal" :
			    "system's log");
		told = true;
		(void)ppoll(NULL, 0, &nap, &f->mask);
		if (stopped)
			return false;
	}
	return true;
}

static bool __attribute__((format(printf, 2, 3)))
send_fault(const struct follow *f, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return send(f, &(struct sink_entry){ .event = "fault", .priority = LOG_CRIT, .message = text });
}

static bool
check_continuity(const struct follow *f, uint64_t n, const char *prev)
{
	if (!f->known || (n == f->at.records + 1 && strcmp(prev, f->at.hash) == 0))
		return true;
	if (n > f->at.records + 1)
		return send_fault(f, "the audit log is not intact: records %" PRIu64 " to %" PRIu64 " are missing, or were never "
		    "sent", f->at.records + 1, n - 1);
	return send_fault(f, "the audit log is not intact: record %" PRIu64 " does not match record %" PRIu64
	    " that was sent before it", n, f->at.records);
}

static bool
send_line(struct follow *f, const char *line, size_t len, const struct audit_head *as)
{
	autobuf struct buf message = { 0 };
	struct why ignored;
	json_t *record = strictjson_object(line, len, &ignored);
	const char *event = record != NULL ? get_text(record, "event") : "torn";
	bool mild = strcmp(event, "grant") == 0 || strcmp(event, "end") == 0 || strcmp(event, "gave-back") == 0 ||
	    strcmp(event, "plain") == 0 || strcmp(event, "draining") == 0 || strcmp(event, "undo") == 0 ||
	    strcmp(event, "promise") == 0 || strcmp(event, "abandon") == 0 || strcmp(event, "made-nodes") == 0;
	bool sent;

	mild = mild || (strcmp(event, "exec") == 0 && !audit_is_denial(record));
	if (as == NULL && record != NULL && f->known && !audit_stands_outside(event) &&
	    !send_fault(f, "the audit log is not intact: a record is not in the chain, and the helper writes no such record "
	    "outside it")) {
		json_decref(record);
		return false;
	}
	if (record != NULL)
		audit_line(record, &message);
	else
		buf_printf(&message, "a line of the audit log is no valid record: cut off by a full disk, or changed later");
	sent = !message.failed && send(f, &(struct sink_entry){ .event = event, .priority = mild ? LOG_INFO : LOG_WARNING,
	    .message = message.p, .record = record, .line = line, .len = len, .number = as != NULL ? as->records : 0,
	    .hash = as != NULL ? as->hash : NULL });
	json_decref(record);
	return sent;
}

/* Sends a line (without its newline) unless it was sent already.  False: it was not sent, and must be sent later. */
static bool
forward_line(struct follow *f, const char *line, size_t len)
{
	struct audit_head as = { .inode = f->at.inode, .size = f->at.size };
	char prev[AUDIT_HASH];

	if (len == 0)
		return true;
	if (!audit_link_read(line, len, &as.records, prev))
		return f->again || send_line(f, line, len, NULL);
	if (f->again && as.records <= f->at.records)
		return true;
	audit_hash(line, len, as.hash);
	if (!check_continuity(f, as.records, prev) || !send_line(f, line, len, &as))
		return false;
	f->at = as;
	f->known = true;
	f->again = false;
	return true;
}

/* Files */

/*
 * Identifies a file.  Inode numbers are reused after a file is removed, so the birth time is mixed in if the file
 * system records it.  0: there is no file.
 */
static uint64_t
file_id(int fd, const char *path)
{
	struct statx st;

	if (statx(fd, path, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW, STATX_INO | STATX_BTIME, &st) == -1)
		return 0;
	return st.stx_ino ^ ((st.stx_mask & STATX_BTIME) == 0 ? 0 :
	    (uint64_t)st.stx_btime.tv_sec * 1000000000U + st.stx_btime.tv_nsec);
}

/*
 * Detects that the log was truncated, and sends a fault for it.  1: it was; reading starts at its beginning again, and
 * skips the records that were sent.  0: it was not, or we must stop.  -1 with *why.
 */
static int
check_cut(struct follow *f, struct why *why)
{
	bool told = false;
	struct stat st;

	if (fstat(f->log_fd, &st) == -1)
		return refuse(why, WHY_IO, "%s: %s", f->log, strerror(errno));
	if ((uint64_t)st.st_size < f->at.size)
		told = send_fault(f, "the audit log was cut off: %" PRIu64 " bytes of it were sent, but it has only %lld",
		    f->at.size, (long long)st.st_size);
	else if (f->known && log_is_past(f->log_fd, (off_t)f->at.size, f->at.records))
		told = send_fault(f, "the audit log was cut off, and has grown again: %" PRIu64 " bytes of it were sent",
		    f->at.size);
	if (!told)
		return 0;
	f->at.size = 0;
	f->again = f->known;
	return 1;
}

/*
 * Sends the complete lines of the open log after at.size.  A line without its newline is not a record yet.  1: there
 * was a line; 0: there was none; -1 with *why.
 */
static int
forward_more(struct follow *f, struct why *why)
{
	char *more, *line, *end;
	size_t n = 0;
	ssize_t got;
	int cut;

	do {
		if (f->room - n < CHUNK) {
			if (f->room >= RECORD_MAX || (more = realloc(f->text, f->room + RECORD_MAX / 4)) == NULL)
				return refuse(why, WHY_BUG, "%s: a line is too long for a record, or memory is short", f->log);
			f->text = more;
			f->room += RECORD_MAX / 4;
		}
		if ((got = pread(f->log_fd, f->text + n, CHUNK, (off_t)(f->at.size + n))) == -1)
			return refuse(why, WHY_IO, "%s: %s", f->log, strerror(errno));
		n += (size_t)got;
	} while (got > 0 && memrchr(f->text, '\n', n) == NULL);
	/* only a check after the read covers a truncation before the read */
	if ((cut = check_cut(f, why)) != 0)
		return cut;
	for (line = f->text; n > 0; line = end + 1) {
		if ((end = memchr(line, '\n', (size_t)(f->text + n - line))) == NULL)
			break;
		if (stopped || !forward_line(f, line, (size_t)(end - line)))
			break;
		f->at.size += (uint64_t)(end - line) + 1;
	}
	return line > f->text ? 1 : 0;
}

/* Sends everything that the open log has now.  False with *why. */
static bool
forward_rest(struct follow *f, struct why *why)
{
	int more;

	while ((more = forward_more(f, why)) == 1 && !stopped)
		save_position(f);
	if (more == 1)
		save_position(f);
	return more != -1;
}

/* Sends a rotated file, which nobody writes to any more.  Skips records that were sent already. */
static int
forward_file(struct follow *f, const char *path, struct why *why)
{
	struct log_reader r;
	const char *line;
	ssize_t n;

	if (log_open(&r, path, why) == -1)
		return -1;
	/* a last line without a newline never became a record (audit_verify.c) */
	while (!stopped && (n = log_line(&r, &line)) >= 0 && r.newline)
		if (!forward_line(f, line, (size_t)n))
			break;
	if (!log_close(&r) && !send_fault(f, "%s: can't read the file to its end", path))
		stopped = 1;
	save_position(f);
	return 0;
}

/* Opens the current log.  1: it does not exist yet; -1 with *why. */
static int
open_current_log(struct follow *f, struct why *why)
{
	struct stat st;

	if ((f->log_fd = open(f->log, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) == -1)
		return errno == ENOENT ? 1 : refuse(why, WHY_IO, "%s: %s", f->log, strerror(errno));
	if (fstat(f->log_fd, &st) == -1 || !S_ISREG(st.st_mode))
		return refuse(why, WHY_IO, "%s is not a regular file", f->log);
	if (f->at.inode != file_id(f->log_fd, "")) {
		f->at.inode = file_id(f->log_fd, "");
		f->at.size = 0;
	}
	return 0;
}

/* Sends the rest of the file if it was the log when the last record was sent.  1: it was not; -1 with *why. */
static int
finish_renamed(struct follow *f, const struct log_file *file, struct why *why)
{
	if ((f->log_fd = open(file->path, O_RDONLY | O_CLOEXEC)) == -1 || file_id(f->log_fd, "") != f->at.inode) {
		if (f->log_fd != -1)
			close(f->log_fd);
		f->log_fd = -1;
		return 1;
	}
	if (!forward_rest(f, why))
		return -1;
	close(f->log_fd);
	f->log_fd = -1;
	return 0;
}

/* Sends the files that were rotated since the last record, in order. */
static int
forward_rotated(struct follow *f, char *const *path, size_t n, struct why *why)
{
	autofree struct log_file *file = calloc(n + 1, sizeof(*file));
	size_t i, from = 0;
	int ret = 1;

	if (file == NULL)
		return refuse_nomem(why);
	if (log_files(path, n, file, why) == -1)
		return -1;
	for (i = 0; ret == 1 && i < n; i++)
		if ((ret = finish_renamed(f, &file[i], why)) == 0)
			from = i + 1;
	/* the file we were in is gone, perhaps compressed: begin with the last file that starts before the next record */
	for (i = 0; ret == 1 && i < n; i++)
		if (file[i].first > 0 && file[i].first <= f->at.records + 1)
			from = i;
	f->again = ret == 1;
	for (i = from; ret != -1 && i < n && !stopped; i++)
		if (file[i].first > 0 && (ret = forward_file(f, file[i].path, why)) != -1)
			ret = 0;
	f->again = false;
	return ret == -1 ? -1 : 0;
}

/* Sends the records that were written while nobody followed the log. */
static int
send_missed(struct follow *f, struct why *why)
{
	autobuf struct buf pattern = { 0 };
	glob_t rotated = { 0 };
	int ret = 0;

	if (!f->known || file_id(AT_FDCWD, f->log) == f->at.inode)
		return 0;
	buf_printf(&pattern, "%s-*", f->log);
	if (pattern.failed)
		return refuse_nomem(why);
	if (glob(pattern.p, 0, NULL, &rotated) == 0)
		ret = forward_rotated(f, rotated.gl_pathv, rotated.gl_pathc, why);
	globfree(&rotated);
	return ret;
}

/* True if the open file is no longer the log.  The caller then reads it to its end before it opens the new one. */
static bool
is_rotated(const struct follow *f)
{
	const uint64_t now = file_id(AT_FDCWD, f->log);

	return now != 0 && now != f->at.inode;
}

/* Watches the log's directory.  While it does not exist, NAP_MS alone paces us. */
static void
watch_directory(struct follow *f)
{
	autobuf struct buf dir = { 0 };
	const char *slash = strrchr(f->log, '/');

	if (f->events != -1)
		return;
	buf_printf(&dir, "%.*s", slash != NULL ? (int)(slash - f->log) + 1 : 1, slash != NULL ? f->log : ".");
	if ((f->events = inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) == -1 || dir.failed)
		return;
	if (inotify_add_watch(f->events, dir.p, IN_MODIFY | IN_CREATE | IN_MOVED_TO) == -1) {
		close(f->events);
		f->events = -1;
	}
}

static void
wait_for_more(struct follow *f)
{
	const struct timespec nap = { .tv_sec = NAP_MS / 1000 };
	struct pollfd p = { .fd = f->events, .events = POLLIN };
	char events[4096];

	(void)ppoll(&p, 1, &nap, &f->mask);
	while (f->events != -1 && read(f->events, events, sizeof(events)) > 0)
		;
}

/* Sends everything that is there.  1: the log was rotated, so start the next round at once; -1 with *why. */
static int
round_trip(struct follow *f, struct why *why)
{
	bool rotated;

	if (f->log_fd == -1 && open_current_log(f, why) == -1)
		return -1;
	if (f->log_fd == -1)
		return 0;
	/* ask before reading: a record that is written in between is then left for the next round */
	rotated = is_rotated(f);
	if (!forward_rest(f, why))
		return -1;
	f->again = false;
	if (!rotated || stopped)
		return 0;
	close(f->log_fd);
	f->log_fd = -1;
	return 1;
}

static int
follow_log(struct follow *f, struct why *why)
{
	int more = 0;

	if (position_load(&f->position, &f->at, why) == -1)
		return -1;
	f->known = f->at.records > 0;
	if (send_missed(f, why) == -1)
		return -1;
	while (!stopped) {
		watch_directory(f);
		if ((more = round_trip(f, why)) == -1)
			return -1;
		if (more == 0 && !stopped)
			wait_for_more(f);
	}
	return 0;
}

/* Lets signals in only while we wait, so that a record is always sent and its position saved before we stop. */
static void
hear_signals(struct follow *f)
{
	const struct sigaction act = { .sa_handler = stop };
	sigset_t both;

	sigemptyset(&both);
	sigaddset(&both, SIGTERM);
	sigaddset(&both, SIGINT);
	(void)sigprocmask(SIG_BLOCK, &both, &f->mask);
	sigdelset(&f->mask, SIGTERM);
	sigdelset(&f->mask, SIGINT);
	(void)sigaction(SIGTERM, &act, NULL);
	(void)sigaction(SIGINT, &act, NULL);
}

int
ctl_audit_follow(const struct options *o)
{
	struct follow f = { .log = o->args > 0 ? o->arg[0] : AUDIT_LOG, .log_fd = -1, .events = -1 };
	struct why why;
	int ret;

	if (!sink_find(o->to, o->json, &f.sink))
		return misuse(o, "audit follow: --to must be journal, syslog or stdout; --json works only with stdout");
	hear_signals(&f);
	ret = position_open(&f.position, o->state, &why) == -1 ? -1 : follow_log(&f, &why);
	position_close(&f.position);
	if (f.log_fd != -1)
		close(f.log_fd);
	if (f.events != -1)
		close(f.events);
	free(f.text);
	return ret == -1 ? complain(why.code, "%s", why.text) : 0;
}
