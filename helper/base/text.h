/* Text, numbers and lists of strings, independent of any locale. */
#ifndef GPUHELPER_BASE_TEXT_H
#define GPUHELPER_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if the len bytes at s are well-formed UTF-8 (RFC 3629: no overlong forms, no surrogates). */
bool text_is_utf8(const char *s, size_t len);

/*
 * Copies src to dst (size bytes, always terminated), cut to fit. Every byte that is not printable ASCII or
 * part of well-formed UTF-8 above U+009F becomes '?', and so do bidirectional controls.
 */
void text_printable(char *dst, size_t size, const char *src);

/*
 * Parses an unsigned decimal number within [min, max]: digits only, no leading zero. False otherwise, with
 * *out unchanged.
 */
bool text_u32(const char *s, uint32_t min, uint32_t max, uint32_t *out);
bool text_u64(const char *s, uint64_t max, uint64_t *out);

/* Writes seconds since 1970 as "2026-11-20T23:06:00Z" (RFC 3339, UTC), without the C library's time zones. */
void text_time(int64_t seconds, char out[32]);

/* True if s begins with prefix. */
bool text_starts(const char *s, const char *prefix);
/* True if s is in the list, which ends with NULL. */
bool text_among(const char *s, const char *const *list);

/* A growing list of owned strings. */
struct strlist {
	char **v;	/* not NULL-terminated */
	size_t n;
};

/* Adds a copy of the first len bytes of s (SIZE_MAX: all). False if memory is short. */
bool strlist_add(struct strlist *l, const char *s, size_t len);
/* Adds copies of all strings of «from». False if memory is short; then some may be there. */
bool strlist_append(struct strlist *l, const struct strlist *from);
bool strlist_has(const struct strlist *l, const char *s);
/* True if each text in *l is valid UTF-8. */
bool strlist_is_utf8(const struct strlist *l);
void strlist_free(struct strlist *l);
#define autostrlist __attribute__((cleanup(strlist_free)))

/* A growing buffer. After a failed add it stays failed, so that one check at the end suffices. */
struct buf {
	char *p;	/* terminated when !failed */
	size_t len, cap;
	bool failed;
};

void buf_add(struct buf *b, const char *s, size_t len);
void buf_puts(struct buf *b, const char *s);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/*
 * Adds s as a JSON string in quotes (RFC 8259). Characters beyond ASCII stay, if they are well-formed UTF-8.
 */
void buf_json(struct buf *b, const char *s);
/* The same with ASCII only. */
void buf_json_ascii(struct buf *b, const char *s);
/* Hands the bytes over to the caller, who frees them. NULL if an add failed. */
char *buf_take(struct buf *b);
void buf_free(struct buf *b);
#define autobuf __attribute__((cleanup(buf_free)))

#endif
