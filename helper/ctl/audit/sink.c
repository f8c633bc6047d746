/*
 * See sink.h.  Messages and fields contain text from tasks.  libsystemd sends each field with its length, so text can't
 * imitate another field; lines are made printable first.  syslog(3) does not report failures, so this file writes to
 * its socket directly.
 */
#include "sink.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <syslog.h>
#include <systemd/sd-journal.h>
#include <time.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/text.h"
#include "../ctl.h"
#include "auditline.h"

#define FIELDS_MAX 64
#define JOURNAL "/run/systemd/journal/socket"
#define SYSLOG "/dev/log"

/* The manual lists these, for journalctl MESSAGE_ID=...: they must never change, whatever the messages say. */
static const struct {
	const char *event, *id;
} ids[] = {
	{ "grant", "b6b1f1d5e1a64b6f9b0b6c0a2f0d7c11" },
	{ "refuse", "0f6c2a4f9a0a4b0c8f4e5d1c7b3a9e22" },
	{ "exec", "a4d0e6c82b7f4915b3c96e1f5d7a8023" },
	{ "end", "5d9d3e2a7c614e54a1f0b8c6d4e2f033" },
	{ "undo", "c7a8e9b04d1f4f2e93a6d5b7c1e0f844" },
	{ "plain", "9e1b5c7d3f2a4860b5d4c3e2f1a09755" },
	{ "draining", "2c4e6f8a0b1d4357a9c8b7d6e5f41266" },
	{ "gave-back", "7f3d1b5a9c8e4672b0a1d2c3e4f58177" },
	{ "promise", "3b7e9d15c2a84f06b1d8e5a7f4c20966" },
	{ "abandon", "d2f81c6ab97e4350a6c3e0b5918f7d44" },
	{ "made-nodes", "03d6359a13776f2376def94fa6868fd5" },
	{ "orphan", "4b4742f45b90a1032f48685287a4575e" },
	{ "fault", "e8c6a4b29d0f4e71a5b3c1d7f9e02488" },
};
#define ID_OTHER "41d7c9e5b3a84f60928e7d6c5b4a3f99"

bool
sink_find(const char *name, bool json, enum sink *out)
{
	*out = strcmp(name, "journal") == 0 ? SINK_JOURNAL : strcmp(name, "syslog") == 0 ? SINK_SYSLOG :
	    json ? SINK_STDOUT_JSON : SINK_STDOUT;
	return *out < SINK_STDOUT ? !json : strcmp(name, "stdout") == 0;
}

/* The fields of one entry. */
struct fields {
	struct iovec v[FIELDS_MAX];
	int n;
	bool failed;
};

static void
add_bytes(struct fields *f, const char *name, const char *value, size_t len)
{
	const size_t before = strlen(name);
	char *text;

	if (len == 0 || f->n == FIELDS_MAX)
		return;
	if ((text = malloc(before + 1 + len)) == NULL) {
		f->failed = true;
		return;
	}
	memcpy(text, name, before);
	text[before] = '=';
	memcpy(text + before + 1, value, len);
	f->v[f->n++] = (struct iovec){ .iov_base = text, .iov_len = before + 1 + len };
}

static void
add_field(struct fields *f, const char *name, const char *value)
{
	add_bytes(f, name, value, strlen(value));
}

static void
add_number_field(struct fields *f, const char *name, json_int_t n)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", (long long)n);
	add_field(f, name, text);
}

static void
add_record(struct fields *f, const json_t *record)
{
	static const struct {
		const char *member, *field;
	} texts[] = {
		{ "team", "GPUHELPER_TEAM" }, { "pipeline", "GPUHELPER_PIPELINE" }, { "job", "GPUHELPER_JOB" },
		{ "instance_vars", "GPUHELPER_INSTANCE_VARS" },
		{ "identity", "GPUHELPER_IDENTITY" }, { "policy", "GPUHELPER_POLICY" },
		{ "container", "GPUHELPER_CONTAINER" }, { "user", "GPUHELPER_USER" }, { "reason", "GPUHELPER_REASON" },
	};
	const json_t *gpu;
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		add_field(f, texts[i].field, get_text(record, texts[i].member));
	if (json_is_integer(json_object_get(record, "uid")))
		add_number_field(f, "GPUHELPER_UID", json_integer_value(json_object_get(record, "uid")));
	if (json_is_integer(json_object_get(record, "code")))
		add_number_field(f, "GPUHELPER_CODE", json_integer_value(json_object_get(record, "code")));
	json_array_foreach(json_object_get(record, "gpus"), i, gpu)
		if (json_is_string(gpu) && i < 16)
			add_field(f, "GPUHELPER_GPU", json_string_value(gpu));
}

static const char *
message_id_of(const char *event)
{
	size_t i;

	for (i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		if (strcmp(ids[i].event, event) == 0)
			return ids[i].id;
	return ID_OTHER;
}

static bool
to_journal(const struct sink_entry *e, const char *message)
{
	struct fields f = { .n = 0 };
	char priority[2] = { (char)('0' + e->priority), '\0' };
	int ret = 0, i;

	add_field(&f, "MESSAGE", message);
	add_field(&f, "MESSAGE_ID", message_id_of(e->event));
	add_field(&f, "PRIORITY", priority);
	add_field(&f, "SYSLOG_IDENTIFIER", "gpuhelper");
	add_field(&f, "GPUHELPER_EVENT", e->event);
	if (e->number > 0) {
		add_number_field(&f, "GPUHELPER_N", (json_int_t)e->number);
		add_field(&f, "GPUHELPER_HASH", e->hash);
	}
	add_record(&f, e->record);
	add_bytes(&f, "GPUHELPER_RECORD", e->line, e->len);
	/* sd_journal_sendv() reports success if there is no journal */
	if (access(JOURNAL, F_OK) == -1 || f.failed || (ret = sd_journal_sendv(f.v, f.n)) < 0)
		ret = -1;
	for (i = 0; i < f.n; i++)
		free(f.v[i].iov_base);
	return ret == 0;
}

/* Appends the record's number and hash, so that lines which are kept elsewhere can prove a change of the log. */
static char *
whole_line(const struct sink_entry *e, const char *message)
{
	char *line;

	if (e->number == 0)
		return strdup(message);
	return asprintf(&line, "%s; record %llu %s", message, (unsigned long long)e->number, e->hash) == -1 ? NULL : line;
}

/* The connection to /dev/log, or -1. */
static int log_socket = -1;
static bool log_is_stream;

static void
disconnect(void)
{
	const int error = errno;

	close(log_socket);
	log_socket = -1;
	errno = error;
}

static bool
connect_log(void)
{
	const struct sockaddr_un to = { .sun_family = AF_UNIX, .sun_path = SYSLOG };
	int i;

	for (i = 0; i < 2 && (i == 0 || errno == EPROTOTYPE); i++) {
		log_is_stream = i == 1;
		if ((log_socket = socket(AF_UNIX, (log_is_stream ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC, 0)) == -1)
			return false;
		if (connect(log_socket, (const struct sockaddr *)&to, sizeof(to)) == 0)
			return true;
		disconnect();
	}
	return false;
}

/* Writes the line as syslog(3) does: RFC 3164, section 4.1, without a host name. */
static bool
to_syslog(int priority, const char *line)
{
	const time_t now = time(NULL);
	autobuf struct buf b = { 0 };
	char when[32] = "";
	struct tm tm;
	size_t len;

	if (localtime_r(&now, &tm) != NULL)
		(void)strftime(when, sizeof(when), "%b %e %T", &tm);
	buf_printf(&b, "<%d>%s gpuhelper[%ld]: %s", LOG_AUTHPRIV | priority, when, (long)getpid(), line);
	if (b.failed || (log_socket == -1 && !connect_log()))
		return false;
	/* on a stream, a NUL ends each message */
	len = b.len + log_is_stream;
	if (send(log_socket, b.p, len, MSG_NOSIGNAL) == (ssize_t)len)
		return true;
	/* a restarted syslog daemon has a new socket: connect again at the next try */
	disconnect();
	return false;
}

static bool
to_line(enum sink s, const struct sink_entry *e, const char *message)
{
	autofree char *line = whole_line(e, message);

	if (line == NULL)
		return false;
	if (s == SINK_STDOUT)
		return puts(line) != EOF && fflush(stdout) == 0;
	return to_syslog(e->priority, line);
}

static bool
to_json(const struct sink_entry *e, const char *message)
{
	json_t *j;

	if (e->line != NULL) {
		fwrite(e->line, 1, e->len, stdout);
		return putchar('\n') != EOF && fflush(stdout) == 0;
	}
	j = json_object();
	put_text(j, "event", e->event);
	put_text(j, "message", message);
	(void)json_dumpf(j, stdout, JSON_COMPACT);
	json_decref(j);
	return putchar('\n') != EOF && fflush(stdout) == 0;
}

bool
sink_send(enum sink s, const struct sink_entry *e)
{
	autofree char *message = printable(e->message);

	if (message == NULL)
		return false;
	return s == SINK_JOURNAL ? to_journal(e, message) : s == SINK_STDOUT_JSON ? to_json(e, message) :
	    to_line(s, e, message);
}
