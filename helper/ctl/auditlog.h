/* The audit log's files: the one that is written, and those that were rotated, compressed or not. */
#ifndef GPUHELPER_CTL_AUDITLOG_H
#define GPUHELPER_CTL_AUDITLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <zlib.h>

#include "../pure/why.h"

#define AUDIT_LOG GPUHELPER_LOGDIR "/audit.jsonl"

/* One file, line by line, from its beginning. */
struct log_reader {
	gzFile f;
	char *text;
	size_t room, at, end;	/* of text: what is not told of yet */
	bool over;		/* nothing more comes */
	bool newline;		/* the last line had one */
	off_t until;		/* of a file that is not compressed: where to stop; -1: at its end */
};

struct log_file {
	const char *path;	/* borrowed */
	uint64_t first;		/* number of its first record in the chain; 0: it has none */
	char time[40];		/* of its first record; "": it has none */
	int fd;			/* open (logset.h); -1: it is opened by its path */
	off_t size;		/* when it was opened */
};

/* -1 with *why.  log_close() only after 0. */
int log_open(struct log_reader *r, const char *path, struct why *why);
/* Likewise; of one that is open, what was there when it was opened. */
int log_open_file(struct log_reader *r, const struct log_file *l, struct why *why);
/*
 * The next line, of any bytes, without its newline: its length, and *line until the next call.  -1: there is none; -2:
 * it is too long for a record, or there is no memory, and nothing can be read after it.
 */
ssize_t log_line(struct log_reader *r, const char **line);
/* False if the file was damaged, or cut off in the midst of what is compressed. */
bool log_close(struct log_reader *r);

/*
 * Is a record after that of this number among the first «size» bytes of the file?  By the last record of the chain
 * there; false, too, where there is none near their end.  So who has read them up to that record knows that they are
 * others.
 */
bool log_is_past(int fd, off_t size, uint64_t number);

/* The time that a record's line says, as it stands there; *out is left alone where it says none. */
void log_time(const char *line, size_t len, char out[40]);

/* Looks into the files, and puts them in the order in which they were written; those from before the chain by time. */
int log_order(struct log_file *v, size_t n, struct why *why);
/* NAME.gz beside NAME: what gzip(1) has written so far, or was stopped at. */
bool log_is_unfinished(const char *path, char *const *among, size_t n);
/* The files of these names in that order; one that is not finished counts as one without records.  -1 with *why. */
int log_files(char *const *path, size_t n, struct log_file *out, struct why *why);

#endif
