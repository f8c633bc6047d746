/*
 * gpuhelperctl audit follow: sends each record of the audit log on, once it is written.  Run by gpuhelper-audit.service
 * as a user that can read the log and nothing else of gpuhelper's: what tasks wrote is parsed here, and not by root.
 *
 * A record is sent before it is written down as sent: after a kill some come twice, none is lost.  Its place in the
 * chain is looked at on the way, and a break is told of.
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

#include "../host/file.h"
#include "../pure/auditchain.h"
#include "../pure/cleanup.h"
#include "../pure/strictjson.h"
#include "auditline.h"
#include "auditlog.h"
#include "ctl.h"
#include "position.h"
#include "sink.h"

#define NAP_MS 5000		/* where inotify tells nothing; and until a journal is there again */
#define CHUNK (1U << 18)
#define RECORD_MAX (16U << 20)

struct follow {
	enum sink sink;
	const char *log;
	struct position position;
	bool unsaved;			/* the last one could not be written, which was told */
	struct audit_head at;		/* the last record that was sent; of its file file_id(), and how much was sent */
	bool known;			/* at.records is one that was sent, or that another start has sent */
	bool again;			/* lines that were sent once may come: those up to at.records are passed over */
	int log_fd, events;
	sigset_t mask;			/* while it waits: SIGTERM and SIGINT come in */
	char *text;			/* of the log, behind at.size */
	size_t room;
};

static volatile sig_atomic_t stopped;

static void
stop(int sig)
{
	(void)sig;
	stopped = 1;
}

/* What was sent is sent: where that can't be written down it goes on, and another start would send it again. */
static void
save(struct follow *f)
{
	struct why why;

	if (position_save(&f->position, &f->at, &why) == 0)
		f->unsaved = false;
	else if (!f->unsaved) {
		f->unsaved = true;
		(void)complain(why.code, "%s", why.text);
	}
}

/* Sending. */

/* Until it is taken; false: we are to stop first. */
static bool
send(const struct follow *f, const struct sink_entry *e)
{
	const struct timespec nap = { .tv_nsec = 500 * 1000000 }, none = { 0 };
	bool told = false;

	/* a signal that has come by now is heard */
	(void)ppoll(NULL, 0, &none, &f->mask);
	if (stopped)
		return false;
	while (!sink_send(f->sink, e)) {
		if (f->sink >= SINK_STDOUT)
			exit(complain(WHY_IO, "stdout can't be written"));
		if (!told)
			(void)complain(WHY_AGAIN, "the %s does not take records: trying on", f->sink == SINK_JOURNAL ? "journal" :
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
check_link(const struct follow *f, uint64_t n, const char *prev)
{
	if (!f->known || (n == f->at.records + 1 && strcmp(prev, f->at.hash) == 0))
		return true;
	if (n > f->at.records + 1)
		return send_fault(f, "the audit log is not whole: records %" PRIu64 " to %" PRIu64 " are missing, or were never sent",
		    f->at.records + 1, n - 1);
	return send_fault(f, "the audit log is not whole: record %" PRIu64 " does not follow record %" PRIu64
	    " as it was sent", n, f->at.records);
}

static bool
send_line(struct follow *f, const char *line, size_t len, const struct audit_head *as)
{
	autobuf struct buf message = { 0 };
	struct why ignored;
	json_t *record = strictjson_object(line, len, &ignored);
	const char *event = record != NULL ? get_text(record, "event") : "torn";
	bool mild = strcmp(event, "grant") == 0 || strcmp(event, "end") == 0 || strcmp(event, "gave-back") == 0 ||
	    strcmp(event, "plain") == 0 || strcmp(event, "draining") == 0 || strcmp(event, "undo") == 0;
	bool sent;

	mild = mild || (strcmp(event, "exec") == 0 && !audit_is_denial(record));
	if (as == NULL && record != NULL && f->known && !audit_stands_outside(event) &&
	    !send_fault(f, "the audit log is not whole: a record that is not in the chain: the helper wrote none such")) {
		json_decref(record);
		return false;
	}
	if (record != NULL)
		audit_line(record, &message);
	else
		buf_printf(&message, "a line of the audit log is no record: cut off by a full disk, or changed since");
	sent = !message.failed && send(f, &(struct sink_entry){ .event = event, .priority = mild ? LOG_INFO : LOG_WARNING,
	    .message = message.p, .record = record, .line = line, .len = len, .number = as != NULL ? as->records : 0,
	    .hash = as != NULL ? as->hash : NULL });
	json_decref(record);
	return sent;
}

/* A line, without its newline.  False: it could not be sent, and is still to be. */
static bool
take_line(struct follow *f, const char *line, size_t len)
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
	if (!check_link(f, as.records, prev) || !send_line(f, line, len, &as))
		return false;
	f->at = as;
	f->known = true;
	f->again = false;
	return true;
}

/* Files. */

/*
 * Which file it is: an inode's number alone comes again once the file that had it is removed, so its birth is in it
 * where the file system knows that.  0: there is none.
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
 * 1: it was cut off.  What is left, or was written since, is passed over as far as it was sent.  0: it was not, or we
 * are to stop; -1 with *why.
 */
static int
check_cut(struct follow *f, struct why *why)
{
	bool told = false;
	struct stat st;

	if (fstat(f->log_fd, &st) == -1)
		return refuse(why, WHY_IO, "%s: %s", f->log, strerror(errno));
	if ((uint64_t)st.st_size < f->at.size)
		told = send_fault(f, "the audit log was cut off: %" PRIu64 " bytes of it were sent, and it has %lld", f->at.size,
		    (long long)st.st_size);
	else if (f->known && log_is_past(f->log_fd, (off_t)f->at.size, f->at.records))
		told = send_fault(f, "the audit log was cut off, and has grown since: %" PRIu64 " bytes of it were sent", f->at.size);
	if (!told)
		return 0;
	f->at.size = 0;
	f->again = f->known;
	return 1;
}

/*
 * What the open log has behind at.size, whole lines alone: a record is one when its newline is there.  1: there was
 * something; 0: nothing; -1 with *why.
 */
static int
take_more(struct follow *f, struct why *why)
{
	char *more, *line, *end;
	size_t n = 0;
	ssize_t got;
	int cut;

	do {
		if (f->room - n < CHUNK) {
			if (f->room >= RECORD_MAX || (more = realloc(f->text, f->room + RECORD_MAX / 4)) == NULL)
				return refuse(why, WHY_BUG, "%s: a line that is too long for a record, or no memory for it", f->log);
			f->text = more;
			f->room += RECORD_MAX / 4;
		}
		if ((got = pread(f->log_fd, f->text + n, CHUNK, (off_t)(f->at.size + n))) == -1)
			return refuse(why, WHY_IO, "%s: %s", f->log, strerror(errno));
		n += (size_t)got;
	} while (got > 0 && memrchr(f->text, '\n', n) == NULL);
	/* asked after it was read: what was cut off before that is not what was sent until then */
	if ((cut = check_cut(f, why)) != 0)
		return cut;
	for (line = f->text; n > 0; line = end + 1) {
		if ((end = memchr(line, '\n', (size_t)(f->text + n - line))) == NULL)
			break;
		if (stopped || !take_line(f, line, (size_t)(end - line)))
			break;
		f->at.size += (uint64_t)(end - line) + 1;
	}
	return line > f->text ? 1 : 0;
}

/* All that is there now; false with *why. */
static bool
take_rest(struct follow *f, struct why *why)
{
	int more;

	while ((more = take_more(f, why)) == 1 && !stopped)
		save(f);
	if (more == 1)
		save(f);
	return more != -1;
}

/* A rotated file, from its beginning; records that were sent are passed over.  It is not written to any more. */
static int
take_file(struct follow *f, const char *path, struct why *why)
{
	struct log_reader r;
	const char *line;
	ssize_t n;

	if (log_open(&r, path, why) == -1)
		return -1;
	/* a line without its newline never came to be a record (audit_verify.c) */
	while (!stopped && (n = log_line(&r, &line)) >= 0 && r.newline)
		if (!take_line(f, line, (size_t)n))
			break;
	if (!log_close(&r) && !send_fault(f, "%s can't be read to its end", path))
		stopped = 1;
	save(f);
	return 0;
}

/* Opens the file that is the log now.  1: there is none yet. */
static int
open_log(struct follow *f, struct why *why)
{
	struct stat st;

	if ((f->log_fd = open(f->log, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) == -1)
		return errno == ENOENT ? 1 : refuse(why, WHY_IO, "%s: %s", f->log, strerror(errno));
	if (fstat(f->log_fd, &st) == -1 || !S_ISREG(st.st_mode))
		return refuse(why, WHY_IO, "%s is no file", f->log);
	if (f->at.inode != file_id(f->log_fd, "")) {
		f->at.inode = file_id(f->log_fd, "");
		f->at.size = 0;
	}
	return 0;
}

/* The rotated file that was the log when the last record was sent, under whichever name: what it has more. */
static int
finish_renamed(struct follow *f, const struct log_file *file, struct why *why)
{
	if ((f->log_fd = open(file->path, O_RDONLY | O_CLOEXEC)) == -1 || file_id(f->log_fd, "") != f->at.inode) {
		if (f->log_fd != -1)
			close(f->log_fd);
		f->log_fd = -1;
		return 1;
	}
	if (!take_rest(f, why))
		return -1;
	close(f->log_fd);
	f->log_fd = -1;
	return 0;
}

/* Those that were rotated away since, in their order. */
static int
take_rotated(struct follow *f, char *const *path, size_t n, struct why *why)
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
	/* it has been compressed, say: the last one that begins before what is missing */
	for (i = 0; ret == 1 && i < n; i++)
		if (file[i].first > 0 && file[i].first <= f->at.records + 1)
			from = i;
	f->again = ret == 1;
	for (i = from; ret != -1 && i < n && !stopped; i++)
		if (file[i].first > 0 && (ret = take_file(f, file[i].path, why)) != -1)
			ret = 0;
	f->again = false;
	return ret == -1 ? -1 : 0;
}

/* What was written while nobody followed. */
static int
catch_up(struct follow *f, struct why *why)
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
		ret = take_rotated(f, rotated.gl_pathv, rotated.gl_pathc, why);
	globfree(&rotated);
	return ret;
}

/* Is the open file still the log?  One that was rotated away is read to its end first, by who asks. */
static bool
is_rotated(const struct follow *f)
{
	const uint64_t now = file_id(AT_FDCWD, f->log);

	return now != 0 && now != f->at.inode;
}

/* The log's directory, or where that is not there yet, time. */
static void
watch(struct follow *f)
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

/* One round: what there is; 1: and at once another, for the log has been rotated. */
static int
round_trip(struct follow *f, struct why *why)
{
	bool rotated;

	if (f->log_fd == -1 && open_log(f, why) == -1)
		return -1;
	if (f->log_fd == -1)
		return 0;
	/* asked before it is read: what is written in between is there for the next round */
	rotated = is_rotated(f);
	if (!take_rest(f, why))
		return -1;
	f->again = false;
	if (!rotated || stopped)
		return 0;
	close(f->log_fd);
	f->log_fd = -1;
	return 1;
}

static int
follow(struct follow *f, struct why *why)
{
	int more = 0;

	if (position_load(&f->position, &f->at, why) == -1)
		return -1;
	f->known = f->at.records > 0;
	if (catch_up(f, why) == -1)
		return -1;
	while (!stopped) {
		watch(f);
		if ((more = round_trip(f, why)) == -1)
			return -1;
		if (more == 0 && !stopped)
			wait_for_more(f);
	}
	return 0;
}

/* They come in while it waits, and at no other time: a record is sent and written down before it stops. */
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
		return misuse(o, "audit follow: --to must be journal, syslog or stdout, and --json is for stdout");
	hear_signals(&f);
	ret = position_open(&f.position, o->state, &why) == -1 ? -1 : follow(&f, &why);
	position_close(&f.position);
	if (f.log_fd != -1)
		close(f.log_fd);
	if (f.events != -1)
		close(f.events);
	free(f.text);
	return ret == -1 ? complain(why.code, "%s", why.text) : 0;
}
