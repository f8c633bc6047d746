/*
 * See audit.h.  Appends and does nothing else.  All text from requests is cut
 * and escaped to ASCII, so that a line is a line wherever it is shown; no token
 * ever gets here.
 */
#include "audit.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "../host/file.h"
#include "../host/trust.h"

#define FIELD_MAX 256

int
audit_open(struct why *why)
{
	autoclose int dir = -1;
	struct stat st;
	int fd;

	/* above it only root may own, but some systems let a group write in /var/log: the folder itself must be ours */
	if ((dir = trust_open_dir(GPUHELPER_LOGDIR, false, why)) == -1 || trust_check(dir, GPUHELPER_LOGDIR, why) == -1)
		return -1;
	fd = openat(dir, "audit.jsonl", O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd == -1 && errno == ENOENT) {
		fd = openat(dir, "audit.jsonl", O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_CREAT | O_EXCL, 0600);
		/* its folder's group (gpuhelper's, where it was installed) reads it: so an administrator can name another */
		if (fd != -1 && fstat(dir, &st) == 0 && fchown(fd, 0, st.st_gid) == 0)
			(void)fchmod(fd, 0640);
		else if (fd == -1 && errno == EEXIST)
			fd = openat(dir, "audit.jsonl", O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
	}
	if (fd == -1)
		return refuse(why, WHY_IO, GPUHELPER_LOGDIR "/audit.jsonl: %s", strerror(errno));
	if (trust_check(fd, GPUHELPER_LOGDIR "/audit.jsonl", why) == -1) {
		close(fd);
		return -1;
	}
	return fd;
}

static void
put(json_t *j, const char *key, const char *text)
{
	char safe[FIELD_MAX];

	if (text == NULL || *text == '\0')
		return;
	text_printable(safe, sizeof(safe), text);
	json_object_set_new(j, key, json_string(safe));
}

static void
put_list(json_t *j, const char *name, const struct strlist *l)
{
	json_t *list;
	size_t i;

	if (l == NULL || l->n == 0)
		return;
	list = json_array();
	for (i = 0; i < l->n; i++)
		json_array_append_new(list, json_string(l->v[i]));
	json_object_set_new(j, name, list);
}

static void
put_folders(json_t *j, const struct edits *e)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < e->mounts; i++) {
		json_t *m;

		if (e->mount[i].driver)
			continue;
		m = json_object();
		put(m, "path", e->mount[i].source);
		put(m, "target", e->mount[i].target);
		put(m, "access", strlist_has(&e->mount[i].options, "rw") ? "rw" : "ro");
		if (e->mount[i].relabel != RELABEL_NO)
			put(m, "relabel", relabel_name(e->mount[i].relabel));
		json_array_append_new(list, m);
	}
	if (json_array_size(list) > 0)
		json_object_set_new(j, "folders", list);
	else
		json_decref(list);
}

/* What the container is let into. */
static void
put_edits(json_t *j, const struct edits *e)
{
	json_t *nodes = json_array(), *hooks = json_array();
	size_t i;

	for (i = 0; i < e->nodes; i++)
		json_array_append_new(nodes, json_string(e->node[i].path));
	for (i = 0; i < e->hooks; i++)
		json_array_append_new(hooks, json_string(e->hook[i].path));
	if (e->nodes > 0)
		json_object_set(j, "nodes", nodes);
	if (e->hooks > 0)
		json_object_set(j, "hooks", hooks);
	json_decref(nodes);
	json_decref(hooks);
	put(j, "selinux", e->label);
	put_folders(j, e);
}

static void
put_identity(json_t *j, const struct known *k)
{
	put(j, "identity", identity_name(k->id.kind));
	put(j, "team", k->id.team);
	put(j, "pipeline", k->id.pipeline);
	put(j, "job", k->id.job);
	put(j, "issuer", k->id.issuer);
	put(j, "token_sha256", k->token_hash);
	if (k->claims.exp != 0)
		json_object_set_new(j, "token_exp", json_integer(k->claims.exp));
}

static json_t *
record_json(const struct record *r)
{
	json_t *j = json_object();
	char when[32];

	text_time(time(NULL), when);
	put(j, "time", when);
	put(j, "event", r->event);
	json_object_set_new(j, "uid", json_integer(r->peer->asker.uid));
	put(j, "user", r->peer->user);
	if (r->peer->pid != 0)
		json_object_set_new(j, "pid", json_integer(r->peer->pid));
	if (r->request != NULL) {
		put(j, "container", r->request->id);
		put(j, "asked_gpus", r->request->gpus);
		put(j, "asked_folders", r->request->folders);
		if (r->request->privileged)
			json_object_set_new(j, "privileged", json_true());
	}
	if (r->known != NULL)
		put_identity(j, r->known);
	put(j, "policy", r->policy);
	put_list(j, "gpus", r->gpus);
	put_list(j, "cdi_specs", r->specs);
	if (r->edits != NULL)
		put_edits(j, r->edits);
	if (r->again)
		json_object_set_new(j, "again", json_true());
	if (r->draining)
		json_object_set_new(j, "draining", json_true());
	if (r->suppressed > 0)
		json_object_set_new(j, "suppressed", json_integer(r->suppressed));
	if (r->why != NULL) {
		json_object_set_new(j, "code", json_integer(r->why->code));
		json_object_set_new(j, "reason", json_string(r->why->text));
	}
	return j;
}

/* The line of a record. */
static int
compose(const struct record *r, struct buf *line, struct why *why)
{
	json_t *j = record_json(r);
	char *text = json_dumps(j, JSON_COMPACT | JSON_ENSURE_ASCII);

	json_decref(j);
	if (text == NULL)
		return refuse_nomem(why);
	buf_puts(line, text);
	buf_puts(line, "\n");
	free(text);
	return line->failed ? refuse_nomem(why) : 0;
}

int
audit_append(int fd, struct audit_line *line, struct why *why)
{
	const ssize_t n = write(fd, line->text.p, line->text.len);

	if (n == (ssize_t)line->text.len) {
		line->suppressed = 0;
		return 0;
	}
	/* a torn line must not swallow the next one */
	if (n > 0)
		(void)!write(fd, "\n", 1);
	return refuse(why, WHY_IO, GPUHELPER_LOGDIR "/audit.jsonl: %s", n == -1 ? strerror(errno) : "no space left");
}

int
audit_write(int fd, const struct record *r, struct why *why)
{
	struct audit_line line = { .uid = 0 };
	int ret = compose(r, &line.text, why) == -1 ? -1 : audit_append(fd, &line, why);

	audit_line_end(fd, &line);
	return ret;
}

/* Counted first: who is ended in between has a record less, not one more. */
static int
count(int fd, const struct record *r, struct rate *rate, enum rate_kind kind, struct buf *line, struct why *why)
{
	const struct record quota = { .event = "quota", .peer = r->peer, .why = why };
	struct why ignored;

	if (compose(r, line, why) == -1)
		return -1;
	if (rate_take(rate, kind, line->len, why) == 0)
		return 0;
	if (rate->used_up)
		(void)audit_write(fd, &quota, &ignored);
	return -1;
}

int
audit_count(int fd, const struct record *r, enum rate_kind kind, struct audit_line *out, struct why *why)
{
	struct record rec = *r;
	struct rate rate;
	int ret;

	*out = (struct audit_line){ .uid = r->peer->asker.uid };
	if (rate_open(out->uid, time(NULL), &rate, why) == -1)
		return -1;
	rec.suppressed = rate.untold;
	if ((ret = count(fd, &rec, &rate, kind, &out->text, why)) == 0)
		out->suppressed = rec.suppressed;
	rate_close(&rate);
	return ret;
}

int
audit_count_and_write(int fd, const struct record *r, enum rate_kind kind, struct why *why)
{
	struct audit_line line;
	int ret = audit_count(fd, r, kind, &line, why);

	if (ret == 0)
		ret = audit_append(fd, &line, why);
	audit_line_end(fd, &line);
	return ret;
}

static void
write_left_out(void *ctx, uint32_t uid, uint32_t left_out)
{
	const struct peer who = { .asker = { .uid = uid } };
	const struct record rec = { .event = "left-out", .peer = &who, .suppressed = left_out };
	const int *fd = ctx;
	struct why ignored;

	(void)audit_write(*fd, &rec, &ignored);
}

void
audit_line_end(int fd, struct audit_line *line)
{
	if (line->suppressed > 0)
		write_left_out(&fd, line->uid, line->suppressed);
	buf_free(&line->text);
}

void
audit_left_out(int fd)
{
	rate_tell_left_out(time(NULL), write_left_out, &fd);
}

void
audit_lease(int fd, const char *event, const struct lease *l)
{
	const struct request about = { .id = l->id };
	const struct peer holder = { .asker = { .uid = l->uid }, .pid = l->asker.pid };
	const struct record rec = { .event = event, .peer = &holder, .request = &about, .policy = l->policy };
	struct why ignored;

	(void)audit_write(fd, &rec, &ignored);
}
