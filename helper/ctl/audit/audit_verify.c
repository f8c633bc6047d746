/*
 * gpuhelperctl audit verify: verifies by the chain of records (lease/auditchain.h) that the audit log is complete and
 * unchanged.  Reads with its caller's rights, and trusts no line.  Hashes with nettle, so that a bug in the helper's
 * own SHA-256 would show.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <nettle/base16.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../base/cleanup.h"
#include "../../host/file.h"
#include "../../json/strictjson.h"
#include "../../lease/auditchain.h"
#include "../ctl.h"
#include "auditline.h"
#include "logset.h"

#define HEAD GPUHELPER_STATEDIR "/audit.head"
#define HEAD_TRIES 100
#define FAULTS_MAX 20		/* printed; further ones are only counted */

struct verify {
	const struct options *options;
	struct audit_head at;		/* the last record of the chain so far */
	uint64_t first;			/* its first record's number; 0: no record so far */
	size_t records, before, outside, torn;
	char since[40], until[40];	/* times of the first and the last record */
	struct audit_head head;		/* audit.head, if compares */
	bool compares;			/* audit.head could be read */
	bool agrees;			/* the log has audit.head's record, and the hashes are equal */
	bool spoilt;			/* audit.head is missing or invalid */
	uint64_t asked;			/* number of the record with --head's hash; 0: none */
	const char *path;		/* of the current line */
	size_t line, faults;
	json_t *told;
};

/* The chain */

static void __attribute__((format(printf, 2, 3)))
fault(struct verify *v, const char *fmt, ...)
{
	autofree char *text = NULL;
	va_list ap;
	json_t *j;

	va_start(ap, fmt);
	text = format_text(fmt, ap);
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

static void
check_chain_link(struct verify *v, uint64_t n, const char *prev)
{
	const uint64_t last = v->at.records;

	if (v->first == 0) {
		if (n == 1 && strspn(prev, "0") != AUDIT_HASH - 1)
			fault(v, "record 1 names a previous record, but is the first");
	} else if (n == last + 1) {
		if (strcmp(prev, v->at.hash) != 0)
			fault(v, "record %" PRIu64 " does not match record %" PRIu64 " before it: one of the two was changed", n,
			    last);
	} else if (n > last + 1)
		fault(v, n == last + 2 ? "record %" PRIu64 " is missing before this one" : "records %" PRIu64 " to %" PRIu64
		    " are missing before this one", last + 1, n - 1);
	else
		fault(v, "record %" PRIu64 " comes after record %" PRIu64 ": moved, or written twice", n, last);
}

static void
take_linked(struct verify *v, const char *line, size_t len, uint64_t n, const char *prev)
{
	check_chain_link(v, n, prev);
	if (v->first == 0) {
		v->first = n;
		log_time(line, len, v->since);
	}
	log_time(line, len, v->until);
	v->records++;
	v->at.records = n;
	hash_line(line, len, v->at.hash);
	if (v->compares && n == v->head.records)
		v->agrees = strcmp(v->at.hash, v->head.hash) == 0;
	if (v->options->head != NULL && strcasecmp(v->at.hash, v->options->head) == 0)
		v->asked = n;
}

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
	else if (audit_stands_outside(get_text(j, "event")))
		v->outside++;
	else
		fault(v, "this record is not in the chain, and the helper writes no such record outside it");
	json_decref(j);
}

/*
 * A last line without a newline is torn: a helper is still writing it, or was killed while it did.  audit.head never
 * names such a record (root/log/chain.c).
 */
static void
verify_line(struct verify *v, const char *line, size_t len, bool ended)
{
	char prev[AUDIT_HASH];
	uint64_t n;

	if (!ended)
		v->torn++;
	else if (audit_link_read(line, len, &n, prev))
		take_linked(v, line, len, n, prev);
	else
		take_unlinked(v, line, len);
}

static int
verify_file(struct verify *v, const struct log_file *l, struct why *why)
{
	struct log_reader r;
	const char *line;
	ssize_t n;

	if (log_open_file(&r, l, why) == -1)
		return -1;
	v->path = l->path;
	for (v->line = 1; (n = log_line(&r, &line)) >= 0; v->line++)
		verify_line(v, line, (size_t)n, r.newline);
	if (n == -2)
		fault(v, "this line is too long for a record");
	if (!log_close(&r))
		fault(v, "can't read the file to its end: it is cut off or damaged");
	v->path = NULL;
	return 0;
}

/*
 * A helper may be writing audit.head, so the file is read until two reads are equal.  The caller frees; NULL with
 * errno.
 */
static char *
head_text(size_t *len)
{
	const int dir = file_root();
	char *text = NULL, *before = NULL;
	size_t len_before, tries;

	for (tries = 0; dir != -1 && tries < HEAD_TRIES; tries++) {
		free(before);
		before = text;
		len_before = *len;
		text = file_read_at(dir, &HEAD[1], AUDIT_HEAD_BYTES, len);
		if (text == NULL || (before != NULL && *len == len_before && memcmp(text, before, *len) == 0))
			break;
	}
	free(before);
	return text;
}

/* Must run before the log is read: records that are added in between then lie after the head, which is no fault. */
static void
read_head(struct verify *v)
{
	size_t len = 0;
	autofree char *text = head_text(&len);

	v->compares = text != NULL && audit_head_read(text, len, &v->head);
	v->spoilt = !v->compares && (text != NULL || (errno != EACCES && errno != EPERM));
}

static void
check_end(struct verify *v)
{
	/* the first helper may have begun the chain since: then it has made audit.head too */
	if (v->spoilt && v->first != 0) {
		read_head(v);
		v->compares = false;
	}
	/* files on the command line are what somebody chose; the host's log must be whole */
	if (v->options->args == 0 && v->first > 1 && !v->options->partial)
		fault(v, "records 1 to %" PRIu64 " are missing: if they were rotated away, give --partial", v->first - 1);
	if (v->spoilt && v->first != 0)
		fault(v, HEAD " is missing or was changed: records may be missing from the log's end");
	if (v->compares && v->head.records > v->at.records)
		fault(v, "the log ends with record %" PRIu64 ", but " HEAD " names record %" PRIu64 ": the log's end was cut off",
		    v->at.records, v->head.records);
	else if (v->compares && v->head.records >= v->first && v->head.records > 0 && !v->agrees)
		fault(v, "record %" PRIu64 " does not have the hash in " HEAD ": it was changed", v->head.records);
	if (v->options->head != NULL && v->asked == 0)
		fault(v, "no record here has the hash of --head: the record was removed, or this is another log");
}

/* The result */

static void
print_result_json(const struct verify *v, size_t files, double seconds)
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
say_result(const struct verify *v, size_t files, double seconds)
{
	if (v->faults > FAULTS_MAX)
		say("and %zu more", v->faults - FAULTS_MAX);
	if (v->first > 1 && (v->options->args > 0 || v->options->partial))
		say("note: records 1 to %" PRIu64 " are in files that were not read", v->first - 1);
	say_number(v->before, "records are older than the chain, and not verified");
	say_number(v->outside, "records are outside the chain, of callers that could stop gpuhelper (gpuhelper(8))");
	say_number(v->torn, "lines are no records: cut off by a full disk or a kill, or written by somebody else");
	if (!v->compares && !v->spoilt && v->options->args == 0)
		say("note: not compared with " HEAD ": only root can read it");
	if (v->asked != 0)
		say("--head is the hash of record %" PRIu64 ": nothing up to that record was changed", v->asked);
	if (v->records > 0)
		say("records %" PRIu64 " to %" PRIu64 ", %s to %s, in %zu file%s: %s (%.1f s)", v->first, v->at.records, v->since,
		    v->until, files, S_OF(files), v->faults == 0 ? "intact" : "NOT intact", seconds);
	else
		say("no record of the chain in %zu file%s", files, S_OF(files));
	if (v->records > 0 && v->faults == 0)
		say("head %s", v->at.hash);
}

static int
verify(struct verify *v, struct why *why)
{
	autologset struct log_set files = { .n = 0 };
	struct timespec begin, end;
	size_t i;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	audit_head_begin(&v->at);
	/* files on the command line may come from another host, whose audit.head is elsewhere */
	if (v->options->args == 0)
		read_head(v);
	if (log_set_open(v->options->arg, v->options->args, &files, why) == -1)
		return -1;
	for (i = 0; i < files.n; i++)
		if (verify_file(v, &files.v[i], why) == -1)
			return -1;
	check_end(v);
	clock_gettime(CLOCK_MONOTONIC, &end);
	(v->options->json ? print_result_json : say_result)(v, files.n, (double)(end.tv_sec - begin.tv_sec) +
	    (double)(end.tv_nsec - begin.tv_nsec) / 1e9);
	return 0;
}

int
ctl_audit_verify(const struct options *o)
{
	struct verify v = { .options = o, .told = json_array() };
	struct why why = { 0 };
	int ret;

	if (o->head != NULL && (strlen(o->head) != AUDIT_HASH - 1 || strspn(o->head, "0123456789abcdefABCDEF") !=
	    AUDIT_HASH - 1))
		ret = misuse(o, "audit verify: --head must be a hash that this command printed: 64 hexadecimal digits");
	else if (verify(&v, &why) == -1)
		ret = give_up(o, &why);
	else
		ret = v.faults == 0 ? 0 : WHY_DATA;
	json_decref(v.told);
	return ret;
}
