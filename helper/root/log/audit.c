/* See audit.h. Only appends to the log. chain.h links a record to the one before it. */
#include "audit.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "../../host/file.h"
#include "../../host/trust.h"
#include "../../lease/auditchain.h"
#include "../enter/owncgroup.h"
#include "chain.h"

int
audit_open(struct why *why)
{
	autoclose int dir = -1;
	struct stat st;
	int fd;

	/* only root may own the directories above, but a group may write /var/log; only root may write the log's own */
	if ((dir = trust_open_dir(GPUHELPER_LOGDIR, false, why)) == -1 || trust_check(dir, GPUHELPER_LOGDIR, why) == -1)
		return -1;
	fd = openat(dir, "audit.jsonl", O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd == -1 && errno == ENOENT) {
		fd = openat(dir, "audit.jsonl", O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_CREAT | O_EXCL, 0600);
		/* the directory's group may read the log, so that the administrator can choose the group */
		if (fd != -1 && fstat(dir, &st) == 0 && fchown(fd, 0, st.st_gid) == 0)
			(void)fchmod(fd, 0640);
		else if (fd == -1 && errno == EEXIST)
			fd = openat(dir, "audit.jsonl", O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
	}
	if (fd == -1)
		return refuse(why, WHY_IO, GPUHELPER_LOGDIR "/audit.jsonl: %s", strerror(errno));
	/* a pipe can be opened for reading and writing, but keeps nothing */
	if (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode))
		refuse(why, WHY_CONFIG, GPUHELPER_LOGDIR "/audit.jsonl is not a regular file: remove it");
	else if (trust_check(fd, GPUHELPER_LOGDIR "/audit.jsonl", why) == 0)
		return fd;
	close(fd);
	return -1;
}

/* For a helper that its caller can still stop. If such a helper held the chain's lock, it would stop all others. */
static int
append_unlinked(int fd, const struct buf *line, struct why *why)
{
	const ssize_t n = write(fd, line->p, line->len);

	if (n == (ssize_t)line->len)
		return 0;
	/* a torn line must not swallow the next one */
	if (n > 0)
		(void)!write(fd, "\n", 1);
	return refuse(why, WHY_IO, GPUHELPER_LOGDIR "/audit.jsonl: %s", n == -1 ? strerror(errno) : "no space left");
}

int
audit_append(int fd, struct audit_line *line, struct why *why)
{
	const int ret = fd == -1 ? refuse(why, WHY_BUG, "the audit log is not open") :
	    has_left_cgroup() ? chain_append(fd, audit_open, &line->text, why) : append_unlinked(fd, &line->text, why);

	if (ret == 0)
		line->suppressed = 0;
	return ret;
}

int
audit_write(int fd, const struct record *r, struct why *why)
{
	struct audit_line line = { .uid = 0 };
	int ret = record_line(r, &line.text, why) == -1 ? -1 : audit_append(fd, &line, why);

	audit_line_end(fd, &line);
	return ret;
}

/* Counts a record before it is written: if the helper is killed in between, the user has one record less, not more. */
static int
count(int fd, const struct record *r, struct rate *rate, enum rate_kind kind, struct buf *line, struct why *why)
{
	const struct record quota = { .event = "quota", .uid = r->uid, .user = r->user, .pid = r->pid, .why = why };
	struct why ignored;

	if (record_line(r, line, why) == -1)
		return -1;
	if (rate_charge(rate, kind, line->len + AUDIT_LINK_MAX, why) == 0)
		return 0;
	if (rate->used_up)
		(void)audit_write(fd, &quota, &ignored);
	return -1;
}

int
audit_prepare(int fd, const struct record *r, enum rate_kind kind, struct audit_line *out, struct why *why)
{
	struct record rec = *r;
	struct rate rate;
	int ret;

	*out = (struct audit_line){ .uid = r->uid };
	if (rate_open(out->uid, time(NULL), &rate, why) == -1)
		return -1;
	rec.suppressed = rate.untold;
	if ((ret = count(fd, &rec, &rate, kind, &out->text, why)) == 0)
		out->suppressed = rec.suppressed;
	out->left_out = ret == -1 && rate.refused;
	rate_close(&rate);
	return ret;
}

int
audit_write_counted(int fd, const struct record *r, enum rate_kind kind, struct why *why)
{
	struct audit_line line;
	int ret = audit_prepare(fd, r, kind, &line, why);

	if (ret == 0)
		ret = audit_append(fd, &line, why);
	else if (line.left_out)
		ret = 1;
	audit_line_end(fd, &line);
	return ret;
}

static void
write_left_out(void *ctx, uint32_t uid, uint32_t left_out)
{
	const struct record rec = { .event = "left-out", .uid = uid, .suppressed = left_out };
	const int *fd = ctx;
	struct why ignored;

	(void)audit_write(*fd, &rec, &ignored);
}

void
audit_line_end(int fd, struct audit_line *line)
{
	if (line->suppressed > 0)
		write_left_out(&fd, line->uid, line->suppressed);
	buf_free(&line->text);
}

void
audit_left_out(int fd)
{
	rate_tell_left_out(time(NULL), write_left_out, &fd);
}

bool
audit_lease(int fd, const char *event, const struct lease *l)
{
	const struct request about = { .id = l->id };
	const struct record rec = { .event = event, .uid = l->uid, .pid = l->asker.pid, .request = &about,
		.of_lease = l->pipeline, .policy = l->policy };
	struct why why = { 0 };

	return audit_write(fd, &rec, &why) == 0 || why.code != WHY_AGAIN;
}
