/*
 * gpuhelperctl audit verify: whether the audit log is the one that the helper wrote, by the chain of its records
 * (pure/auditchain.h).  Reads with its caller's rights; believes no line.  Hashes by nettle, so that a fault of the
 * helper's own SHA-256 would show.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <nettle/base16.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../host/file.h"
#include "../pure/auditchain.h"
#include "../pure/cleanup.h"
#include "../pure/strictjson.h"
#include "auditlog.h"
#include "ctl.h"

#define HEAD GPUHELPER_STATEDIR "/audit.head"
#define FAULTS_MAX 20		/* that are told; the others are counted */

struct verify {
	const struct options *options;
	struct audit_head at;		/* the last record that was seen */
	uint64_t first;			/* 0: none was yet */
	size_t records, before, outside, torn;
	char since[40], until[40];	/* times of the first and the last one */
	struct audit_head head;		/* audit.head, where it could be read */
	bool compares, agrees;		/* with that; the record is there, and is that one */
	uint64_t asked;			/* the record that has --head's hash; 0: none */
	const char *path;		/* of the line at hand */
	size_t line, faults;
	json_t *told;
};

/* The chain. */

static void __attribute__((format(printf, 2, 3)))
fault(struct verify *v, const char *fmt, ...)
{
	autofree char *text = NULL;
	va_list ap;
	json_t *j;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) == -1)
		text = NULL;
	va_end(ap);
	if (v->faults++ >= FAULTS_MAX || text == NULL)
		return;
	if (!v->options->json) {
		if (v->path != NULL)
			say("%s:%zu: %s", v->path, v->line, text);
		else
			say("%s", text);
		return;
	}
	j = json_object();
	if (v->path != NULL) {
		put_text(j, "file", v->path);
		json_object_set_new(j, "line", json_integer((json_int_t)v->line));
	}
	put_text(j, "message", text);
	json_array_append_new(v->told, j);
}

static void
hash_line(const char *line, size_t len, char out[AUDIT_HASH])
{
	struct sha256_ctx s;
	uint8_t digest[SHA256_DIGEST_SIZE];

	sha256_init(&s);
	sha256_update(&s, len, (const uint8_t *)line);
	sha256_digest(&s, sizeof(digest), digest);
	base16_encode_update(out, sizeof(digest), digest);
	out[AUDIT_HASH - 1] = '\0';
}

/* The helper wrote it near the line's beginning: the line is not parsed, there may be millions. */
static void
take_time(const char *line, size_t len, char out[40])
{
	const char *at = memmem(line, len, "\"time\":\"", 8), *end;

	if (at == NULL)
		return;
	at += 8;
	end = memchr(at, '"', len - (size_t)(at - line));
	snprintf(out, 40, "%.*s", end != NULL && end - at < 39 ? (int)(end - at) : 0, at);
}

static void
check_link(struct verify *v, uint64_t n, const char *prev)
{
	const uint64_t last = v->at.records;

	if (v->first == 0) {
		if (n == 1 && strspn(prev, "0") != AUDIT_HASH - 1)
			fault(v, "record 1 names a record before it: there was none");
	} else if (n == last + 1) {
		if (strcmp(prev, v->at.hash) != 0)
			fault(v, "record %" PRIu64 " does not follow record %" PRIu64 " as it stands here: one of the two was changed", n,
			    last);
	} else if (n > last + 1)
		fault(v, n == last + 2 ? "record %" PRIu64 " is missing before this one" : "records %" PRIu64 " to %" PRIu64
		    " are missing before this one", last + 1, n - 1);
	else
		fault(v, "record %" PRIu64 " stands after record %" PRIu64 ": moved, or written twice", n, last);
}

static void
take_linked(struct verify *v, const char *line, size_t len, uint64_t n, const char *prev)
{
	check_link(v, n, prev);
	if (v->first == 0) {
		v->first = n;
		take_time(line, len, v->since);
	}
	take_time(line, len, v->until);
	v->records++;
	v->at.records = n;
	hash_line(line, len, v->at.hash);
	if (v->compares && n == v->head.records)
		v->agrees = strcmp(v->at.hash, v->head.hash) == 0;
	if (v->options->head != NULL && strcasecmp(v->at.hash, v->options->head) == 0)
		v->asked = n;
}

/* Only who is refused before he could be kept from stopping others has a record outside (root/audit.c). */
static void
take_unlinked(struct verify *v, const char *line, size_t len)
{
	struct why ignored;
	json_t *j;

	if (len == 0)
		return;
	if (v->first == 0) {
		v->before++;
		return;
	}
	if ((j = strictjson_object(line, len, &ignored)) == NULL)
		v->torn++;
	else if (strcmp(get_text(j, "event"), "refuse") == 0)
		v->outside++;
	else
		fault(v, "a record that is not in the chain: the helper wrote none such");
	json_decref(j);
}

static int
read_file(struct verify *v, const char *path, struct why *why)
{
	struct log_reader r;
	char prev[AUDIT_HASH];
	const char *line;
	uint64_t number;
	ssize_t n;

	if (log_open(&r, path, why) == -1)
		return -1;
	v->path = path;
	for (v->line = 1; (n = log_line(&r, &line)) >= 0; v->line++)
		if (audit_link_read(line, (size_t)n, &number, prev))
			take_linked(v, line, (size_t)n, number, prev);
		else
			take_unlinked(v, line, (size_t)n);
	if (n == -2)
		fault(v, "this line is too long for a record");
	if (!log_close(&r))
		fault(v, "the file can't be read to its end: cut off, or damaged");
	v->path = NULL;
	return 0;
}

/* Before the log: what is written meanwhile is beyond it. */
static void
read_head(struct verify *v)
{
	autoclose int dir = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	autofree char *text = NULL;
	size_t len;

	if (dir != -1 && (text = file_read_at(dir, &HEAD[1], AUDIT_HEAD_BYTES, &len)) != NULL)
		v->compares = audit_head_read(text, len, &v->head);
}

static void
check_end(struct verify *v)
{
	if (v->compares && v->head.records > v->at.records)
		fault(v, "the log ends with record %" PRIu64 ", and " HEAD " says %" PRIu64 ": its end was cut off", v->at.records,
		    v->head.records);
	else if (v->compares && v->head.records >= v->first && v->head.records > 0 && !v->agrees)
		fault(v, "record %" PRIu64 " is not the one that " HEAD " says", v->head.records);
	if (v->options->head != NULL && v->asked == 0)
		fault(v, "no record here has the hash of --head: what it was taken from is not in this log");
}

/* The answer. */

static void
put_json(const struct verify *v, size_t files, double seconds)
{
	json_t *j = json_pack("{s:b, s:I, s:I, s:I, s:I, s:s, s:I, s:I, s:I, s:b, s:f, s:I, s:O}", "ok", v->faults == 0,
	    "files", (json_int_t)files, "count", (json_int_t)v->records, "first", (json_int_t)v->first,
	    "last", (json_int_t)v->at.records, "hash", v->at.hash, "before", (json_int_t)v->before,
	    "outside", (json_int_t)v->outside, "torn", (json_int_t)v->torn, "compared", v->compares,
	    "seconds", seconds, "faults", (json_int_t)v->faults, "findings", v->told);

	if (v->asked != 0)
		json_object_set_new(j, "asked", json_integer((json_int_t)v->asked));
	put_out(j);
}

static void
say_number(size_t n, const char *what)
{
	if (n > 0)
		say("note: %zu %s", n, what);
}

static void
say_end(const struct verify *v, size_t files, double seconds)
{
	if (v->faults > FAULTS_MAX)
		say("and %zu more", v->faults - FAULTS_MAX);
	if (v->first > 1)
		say("note: records 1 to %" PRIu64 " are in files that are not here", v->first - 1);
	say_number(v->before, "records from before there was a chain: nothing can be said of them");
	say_number(v->outside, "refusals outside the chain, of requests from where gpuhelper could be stopped (gpuhelper(8))");
	say_number(v->torn, "lines are no records: cut off by a full disk, or put there by somebody");
	if (!v->compares && v->options->args == 0)
		say("note: not compared with " HEAD ": root reads that");
	if (v->asked != 0)
		say("--head is that of record %" PRIu64 ": up to there nothing was changed", v->asked);
	if (v->records > 0)
		say("records %" PRIu64 " to %" PRIu64 ", %s to %s, in %zu file%s: %s (%.1f s)", v->first, v->at.records, v->since,
		    v->until, files, files == 1 ? "" : "s", v->faults == 0 ? "whole" : "NOT whole", seconds);
	else
		say("no record of the chain in %zu file%s", files, files == 1 ? "" : "s");
	if (v->records > 0 && v->faults == 0)
		say("head %s", v->at.hash);
}

static int
verify(struct verify *v, char *const *path, size_t n, struct why *why)
{
	autofree struct log_file *file = calloc(n + 1, sizeof(*file));
	struct timespec begin, end;
	size_t i;

	if (file == NULL)
		return refuse_nomem(why);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	audit_head_begin(&v->at);
	/* of files that were named nobody knows whether they are this host's */
	if (v->options->args == 0)
		read_head(v);
	if (log_files(path, n, file, why) == -1)
		return -1;
	for (i = 0; i < n; i++)
		if (read_file(v, file[i].path, why) == -1)
			return -1;
	check_end(v);
	clock_gettime(CLOCK_MONOTONIC, &end);
	(v->options->json ? put_json : say_end)(v, n, (double)(end.tv_sec - begin.tv_sec) +
	    (double)(end.tv_nsec - begin.tv_nsec) / 1e9);
	return 0;
}

int
ctl_audit_verify(const struct options *o)
{
	struct verify v = { .options = o, .told = json_array() };
	struct why why = { 0 };
	glob_t own = { 0 };
	int ret;

	if (o->head != NULL && (strlen(o->head) != AUDIT_HASH - 1 || strspn(o->head, "0123456789abcdefABCDEF") !=
	    AUDIT_HASH - 1))
		ret = misuse(o, "audit verify: --head must be a hash that this command printed: 64 hexadecimal digits");
	else if (o->args == 0 && glob(AUDIT_LOG "*", GLOB_ERR, NULL, &own) != 0) {
		refuse(&why, WHY_IO, AUDIT_LOG ": can't be found: nothing was recorded yet, or only root and group "
		    "gpuhelper may look");
		ret = give_up(o, &why);
	} else if (verify(&v, o->args > 0 ? o->arg : own.gl_pathv, o->args > 0 ? o->args : own.gl_pathc, &why) == -1)
		ret = give_up(o, &why);
	else
		ret = v.faults == 0 ? 0 : WHY_DATA;
	globfree(&own);
	json_decref(v.told);
	return ret;
}
