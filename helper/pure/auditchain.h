/*
 * The chain of the audit log.  Each record says its number and the hash of the one before it:
 *
 *	{"n":17,"prev":"HASH","time":...}
 *
 * HASH is SHA-256 (FIPS 180-4), in hex, of that record's line without its newline; the first one has zeros.  Number and
 * hash of the last record stand in a file of their own, the head.  Text in, values out.
 */
#ifndef GPUHELPER_PURE_AUDITCHAIN_H
#define GPUHELPER_PURE_AUDITCHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text.h"

#define AUDIT_HASH 65		/* with its NUL */
#define AUDIT_LINK_MAX 100	/* bytes that the link adds to a line */
#define AUDIT_HEAD_BYTES 256	/* the head has always so many: it is written over in one write */

struct audit_head {
	uint64_t records;
	char hash[AUDIT_HASH];	/* of the last one */
	uint64_t inode, size;	/* of the log, when that one was at its end */
};

/* That of a log without records. */
void audit_head_begin(struct audit_head *h);
/* The head's file. */
void audit_head_write(const struct audit_head *h, char out[AUDIT_HEAD_BYTES]);
/* False: this is no head; *h is that of a log without records, then. */
bool audit_head_read(const char *text, size_t len, struct audit_head *h);

/* Of a record's line, without its newline. */
void audit_hash(const char *line, size_t len, char out[AUDIT_HASH]);
/* Links a line, «{...}» with or without a newline, to the head's record.  False: no memory. */
bool audit_link(const struct audit_head *h, const char *line, size_t len, struct buf *out);
/* The link that the line begins with; false: it has none. */
bool audit_link_read(const char *line, size_t len, uint64_t *n, char prev[AUDIT_HASH]);
/* Is the line, without its newline, the record that follows the head's?  Then *h is its, but for inode and size. */
bool audit_head_advance(struct audit_head *h, const char *line, size_t len);

#endif
