/*
 * The chain of the audit log. Each record has its number and the hash of the record before it:
 *
 * {"n":17,"prev":"HASH","time":...}
 *
 * HASH is SHA-256 (FIPS 180-4), in hex, of the previous record's line without its newline; in the first
 * record, zeros. A file of its own, the head, has number and hash of the last record. Computes only, and
 * touches no file.
 */
#ifndef GPUHELPER_LEASE_AUDITCHAIN_H
#define GPUHELPER_LEASE_AUDITCHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/text.h"

#define AUDIT_HASH 65		/* with its NUL */
#define AUDIT_LINK_MAX 100	/* bytes that the link adds to a line */
#define AUDIT_HEAD_BYTES 256	/* the head's constant size: one write replaces it */

struct audit_head {
	uint64_t records;
	char hash[AUDIT_HASH];	/* of the last record */
	uint64_t inode, size;	/* of the log after the last record */
};

/* Makes the head of an empty log. */
void audit_head_begin(struct audit_head *h);
/* Makes the text of the head's file. */
void audit_head_write(const struct audit_head *h, char out[AUDIT_HEAD_BYTES]);
/* Reads the head's file. False, with *h the head of an empty log, if the text is no head. */
bool audit_head_read(const char *text, size_t len, struct audit_head *h);

/* The hash of a record's line without its newline. */
void audit_hash(const char *line, size_t len, char out[AUDIT_HASH]);
/*
 * Appends the line «{...}», with or without a newline, to *out, linked to the head's record. False if memory
 * is short.
 */
bool audit_link(const struct audit_head *h, const char *line, size_t len, struct buf *out);
/* Reads the link at the start of a line. False if it has none. */
bool audit_link_read(const char *line, size_t len, uint64_t *n, char prev[AUDIT_HASH]);
/*
 * True if the line, without its newline, is the record after the head's. *h then becomes its head, with inode
 * and size unchanged.
 */
bool audit_head_advance(struct audit_head *h, const char *line, size_t len);

#endif
