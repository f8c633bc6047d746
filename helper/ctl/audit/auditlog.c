/* See auditlog.h.  Reads with its caller's rights.  A line may contain any bytes, NULs included. */
#include "auditlog.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../lease/auditchain.h"

#define LINE_MAX_BYTES (16U << 20)
#define STEP (1U << 17)
#define LOOK_BACK 65536		/* bytes; no record is as long */

int
log_refuse(const char *path, int error, struct why *why)
{
	return refuse(why, WHY_IO, "%s: %s%s", path, error != 0 ? strerror(error) : "out of memory",
	    error == EACCES ? ": only root and the group gpuhelper can read the log" :
	    error == ENOENT ? ": nothing has been recorded yet, or the log is elsewhere" : "");
}

int
log_open_file(struct log_reader *r, const struct log_file *l, struct why *why)
{
	const int fd = l->fd == -1 ? open(l->path, O_RDONLY | O_CLOEXEC) : fcntl(l->fd, F_DUPFD_CLOEXEC, 0);

	*r = (struct log_reader){ .newline = true, .until = l->fd == -1 ? -1 : l->size };
	if (fd != -1 && (l->fd == -1 || lseek(fd, 0, SEEK_SET) == 0)) {
		errno = 0;
		r->f = gzdopen(fd, "r");
	}
	if (r->f == NULL) {
		log_refuse(l->path, errno, why);
		if (fd != -1)
			close(fd);
		return -1;
	}
	(void)gzbuffer(r->f, STEP);
	return 0;
}

int
log_open(struct log_reader *r, const char *path, struct why *why)
{
	return log_open_file(r, &(struct log_file){ .path = path, .fd = -1 }, why);
}

/* How many bytes to read next. */
static unsigned
bytes_to_read(const struct log_reader *r)
{
	const off_t left = r->until < 0 || !gzdirect(r->f) ? STEP : r->until - gztell(r->f);

	return left < (off_t)STEP ? (unsigned)left : STEP;
}

/* Appends more bytes of the file to r->text.  False: no memory, or the line is too long for a record. */
static bool
read_more(struct log_reader *r)
{
	char *more;
	int n;

	if (r->at > 0)
		memmove(r->text, r->text + r->at, r->end - r->at);
	r->end -= r->at;
	r->at = 0;
	if (r->room - r->end < STEP) {
		if (r->room >= LINE_MAX_BYTES || (more = realloc(r->text, r->room * 2 + STEP)) == NULL)
			return false;
		r->text = more;
		r->room = r->room * 2 + STEP;
	}
	if ((n = gzread(r->f, r->text + r->end, bytes_to_read(r))) <= 0)
		r->over = true;
	else
		r->end += (size_t)n;
	return true;
}

ssize_t
log_line(struct log_reader *r, const char **line)
{
	size_t was_asked = 0, n;
	char *end;

	for (;;) {
		end = r->text == NULL ? NULL : memchr(r->text + r->at + was_asked, '\n', r->end - r->at - was_asked);
		if (end != NULL || r->over)
			break;
		was_asked = r->end - r->at;
		if (!read_more(r))
			return -2;
	}
	if (end == NULL && r->at == r->end)
		return -1;
	*line = r->text + r->at;
	n = end != NULL ? (size_t)(end - *line) : r->end - r->at;
	r->newline = end != NULL;
	r->at += n + r->newline;
	return (ssize_t)n;
}

bool
log_close(struct log_reader *r)
{
	int error = Z_OK;

	(void)gzerror(r->f, &error);
	free(r->text);
	r->text = NULL;
	/* for a file that ends too early, zlib may report the error only on close */
	return gzclose(r->f) == Z_OK && (error == Z_OK || error == Z_STREAM_END);
}

bool
log_is_past(int fd, off_t size, uint64_t number)
{
	const size_t room = size < LOOK_BACK ? (size_t)size : LOOK_BACK;
	autofree char *text = malloc(room + 1);
	const char *end, *line, *before;
	char prev[AUDIT_HASH];
	uint64_t n;

	if (text == NULL || pread(fd, text, room, size - (off_t)room) != (ssize_t)room)
		return false;
	for (end = memrchr(text, '\n', room); end != NULL; end = before) {
		before = memrchr(text, '\n', (size_t)(end - text));
		line = before != NULL ? before + 1 : text;
		if (audit_link_read(line, (size_t)(end - line), &n, prev))
			return n > number;
	}
	return false;
}

void
log_time(const char *line, size_t len, char out[40])
{
	const char *at = memmem(line, len, "\"time\":\"", 8), *end;

	if (at == NULL)
		return;
	at += 8;
	end = memchr(at, '"', len - (size_t)(at - line));
	snprintf(out, 40, "%.*s", end != NULL && end - at < 39 ? (int)(end - at) : 0, at);
}

/* Sets l->time from the file's first record, and l->first from its first record in the chain. */
static int
look_into(struct log_file *l, struct why *why)
{
	struct log_reader r;
	char prev[AUDIT_HASH];
	const char *line;
	ssize_t n;

	if (log_open_file(&r, l, why) == -1)
		return -1;
	while ((n = log_line(&r, &line)) >= 0) {
		if (l->time[0] == '\0')
			log_time(line, (size_t)n, l->time);
		if (r.newline && audit_link_read(line, (size_t)n, &l->first, prev))
			break;
	}
	if (n < 0)
		l->first = 0;
	(void)log_close(&r);
	return 0;
}

static int
by_first(const void *a, const void *b)
{
	const struct log_file *x = a, *y = b;
	int ret;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return (ret = strcmp(x->time, y->time)) != 0 ? ret : strcmp(x->path, y->path);
}

int
log_order(struct log_file *v, size_t n, struct why *why)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (look_into(&v[i], why) == -1)
			return -1;
	qsort(v, n, sizeof(*v), by_first);
	return 0;
}

bool
log_is_unfinished(const char *path, char *const *among, size_t n)
{
	const size_t len = strlen(path);
	size_t i;

	for (i = 0; len > 3 && strcmp(path + len - 3, ".gz") == 0 && i < n; i++)
		if (strlen(among[i]) == len - 3 && strncmp(among[i], path, len - 3) == 0)
			return true;
	return false;
}

int
log_files(char *const *path, size_t n, struct log_file *out, struct why *why)
{
	size_t i;

	for (i = 0; i < n; i++) {
		out[i] = (struct log_file){ .path = path[i], .fd = -1 };
		if (!log_is_unfinished(path[i], path, n) && look_into(&out[i], why) == -1)
			return -1;
	}
	qsort(out, n, sizeof(*out), by_first);
	return 0;
}
