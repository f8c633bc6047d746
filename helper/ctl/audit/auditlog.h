/* Reads the files of the audit log: the current one and the rotated ones, compressed or not. */
#ifndef GPUHELPER_CTL_AUDIT_AUDITLOG_H
#define GPUHELPER_CTL_AUDIT_AUDITLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <zlib.h>

#include "../../base/why.h"

#define AUDIT_LOG GPUHELPER_LOGDIR "/audit.jsonl"

/* Reads one file, line by line. */
struct log_reader {
	gzFile f;
	char *text;
	size_t room, at, end;	/* text has room bytes; at to end are not returned yet */
	bool over;		/* the file has been read to its end */
	bool newline;		/* the last line ended with one */
	off_t until;		/* where to stop in an uncompressed file; -1: at its end */
};

struct log_file {
	const char *path;	/* borrowed */
	uint64_t first;		/* number of its first record in the chain; 0: no such record */
	char time[40];		/* of its first record; "": no record */
	int fd;			/* the open file (logset.h); -1: open it by path */
	off_t size;		/* size when fd was opened */
};

/* Refuses because the log, or a file of it, can't be read: error is errno, or 0 if memory is short.  Returns -1. */
int log_refuse(const char *path, int error, struct why *why);

/* Opens a file.  -1 with *why.  After 0, the caller calls log_close(). */
int log_open(struct log_reader *r, const char *path, struct why *why);
/* Likewise.  If l->fd is open, reads only the first l->size bytes. */
int log_open_file(struct log_reader *r, const struct log_file *l, struct why *why);
/*
 * Gets the next line, without its newline; *line is valid until the next call.  Returns its length; -1 at the end; -2
 * if the line is too long for a record or memory is short.  After -2 nothing more can be read.
 */
ssize_t log_line(struct log_reader *r, const char **line);
/* Closes the file.  False if it was damaged, or its compressed data was cut off. */
bool log_close(struct log_reader *r);

/*
 * True if the last record of the chain in the file's first «size» bytes has a higher number; false also if no
 * record is near their end. This tells a reader that stopped at «number» that the file is not the one that it read.
 */
bool log_is_past(int fd, off_t size, uint64_t number);

/* Copies the time of a record's line to out; leaves out unchanged if the line has none. */
void log_time(const char *line, size_t len, char out[40]);

/* Sorts the files in the order in which they were written; those older than the chain by time.  -1 with *why. */
int log_order(struct log_file *v, size_t n, struct why *why);
/* True for NAME.gz if NAME is there as well: gzip(1) is still writing NAME.gz, or was interrupted. */
bool log_is_unfinished(const char *path, char *const *among, size_t n);
/* Fills out with the files of these names, sorted likewise.  An unfinished .gz has no records.  -1 with *why. */
int log_files(char *const *path, size_t n, struct log_file *out, struct why *why);

#endif
