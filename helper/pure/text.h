/* Bytes, numbers and lists of strings.  No locale anywhere: bytes are bytes. */
#ifndef GPUHELPER_PURE_TEXT_H
#define GPUHELPER_PURE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if the len bytes at s are well-formed UTF-8 (RFC 3629: no overlong forms, no surrogates). */
bool text_is_utf8(const char *s, size_t len);

/*
 * Copies src to dst (size bytes, always terminated), cut to fit; every byte
 * that is not printable ASCII or part of well-formed UTF-8 above U+009F
 * becomes '?', and so do the bidirectional controls.
 */
void text_printable(char *dst, size_t size, const char *src);

/*
 * Reads an unsigned decimal number: digits only, no sign, no space, no leading
 * zero unless it is "0" itself, within [min, max].  Returns false otherwise and
 * leaves *out alone.
 */
bool text_u32(const char *s, uint32_t min, uint32_t max, uint32_t *out);
bool text_u64(const char *s, uint64_t max, uint64_t *out);

/* Writes seconds since 1970 as "2026-11-20T23:06:00Z" (RFC 3339, UTC), without the C library's time zones. */
void text_time(int64_t seconds, char out[32]);

/* True if s begins with prefix. */
bool text_starts(const char *s, const char *prefix);
/* The string is one of these; the list ends with NULL. */
bool text_among(const char *s, const char *const *list);

/*
 * Of «known» (ends with NULL) the word nearest to «word», if that could be a slip of the finger for it, whatever its
 * case; else NULL.
 */
const char *text_nearest(const char *word, const char *const *known);

/* A growing list of owned strings. */
struct strlist {
	char **v;	/* not NULL-terminated */
	size_t n;
};

/* Adds a copy of the first len bytes of s (SIZE_MAX: all).  False: out of memory. */
bool strlist_add(struct strlist *l, const char *s, size_t len);
bool strlist_has(const struct strlist *l, const char *s);
void strlist_free(struct strlist *l);
#define autostrlist __attribute__((cleanup(strlist_free)))

/* A growing byte buffer; after any failed add it stays failed, so one test at the end is enough. */
struct buf {
	char *p;	/* terminated when !failed */
	size_t len, cap;
	bool failed;
};

void buf_add(struct buf *b, const char *s, size_t len);
void buf_puts(struct buf *b, const char *s);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Adds s as a JSON string with its quotes (RFC 8259), ASCII only beyond well-formed UTF-8. */
void buf_json(struct buf *b, const char *s);
/* Likewise, ASCII throughout. */
void buf_json_ascii(struct buf *b, const char *s);
/* Hands the bytes to the caller, who frees them; NULL if an add failed. */
char *buf_take(struct buf *b);
void buf_free(struct buf *b);
#define autobuf __attribute__((cleanup(buf_free)))

#endif
