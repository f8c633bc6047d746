/*
 * See request.h. Runs as root on bytes that the caller chose: copies, compares and counts, and checks texts only for
 * characters that are not allowed.
 */
#include "request.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "../base/bytes.h"
#include "../base/cleanup.h"
#include "requesthead.h"
#include "wire.h"

#define ID_MAX 255		/* bytes; runtimes use it as a directory's name */
#define PATH_MAX_ASKED 1024
#define KEY_LENGTH 64		/* of a lease's name: hex SHA-256 */

static const struct text {
	const char *name;
	size_t at;		/* in struct request */
	uint32_t max;		/* bytes */
	bool needed;
} texts[] = {
#define TEXT(part, member, max, needed) { #member, offsetof(struct request, part member), max, needed }
	TEXT(, id, ID_MAX, true),
	TEXT(, runtime_root, PATH_MAX_ASKED, true),
	TEXT(spec., cgroups_path, PATH_MAX_ASKED, true),
	TEXT(spec., label, 1024, false),
	TEXT(spec., mount_label, 1024, false),
	TEXT(spec., init_path, 4096, false),
	TEXT(untrusted., token, 16384, false),
	TEXT(untrusted., team, 1024, false),
	TEXT(untrusted., pipeline, 1024, false),
	TEXT(untrusted., job, 1024, false),
	TEXT(untrusted., instance_vars, 65536, false),
	TEXT(untrusted., gpus, 16384, false),
	TEXT(untrusted., folders, 131072, false),
	TEXT(untrusted., cuda_visible, 4096, false),
	TEXT(untrusted., rocr_visible, 4096, false),
	TEXT(, reason, 2048, false),
#undef TEXT
};
_Static_assert(sizeof(texts) / sizeof(texts[0]) == TEXTS, "a head has the length of each text");

char **
request_text(struct request *r, size_t i)
{
	return (char **)((char *)r + texts[i].at);
}

static int
refuse_short(struct why *why)
{
	return refuse(why, WHY_DATA, "request: is shorter than its head says");
}

static int
take_idmap(struct bytes *rest, uint32_t ranges, struct idmap *m, struct why *why)
{
	size_t i;

	m->identity = ranges == NONE;
	if (m->identity)
		return 0;
	if (ranges > IDMAP_MAX)
		return refuse(why, WHY_DATA, "request: more than %d ranges of an id mapping", IDMAP_MAX);
	if (!bytes_take(rest, m->v, ranges * sizeof(m->v[0])))
		return refuse_short(why);
	for (i = 0; i < ranges; i++)
		if (m->v[i].inside == UINT32_MAX || m->v[i].outside == UINT32_MAX || m->v[i].size == UINT32_MAX)
			return refuse(why, WHY_DATA, "request: an id mapping is out of range");
	m->n = ranges;
	return 0;
}

static int
take_groups(struct bytes *rest, uint32_t n, struct request *r, struct why *why)
{
	size_t i;

	if (n > REQUEST_GIDS_MAX)
		return refuse(why, WHY_DATA, "request: more than %d supplementary groups", REQUEST_GIDS_MAX);
	if (!bytes_take(rest, r->spec.gid_list, n * sizeof(r->spec.gid_list[0])))
		return refuse_short(why);
	for (i = 0; i < n; i++)
		if (r->spec.gid_list[i] == UINT32_MAX)
			return refuse(why, WHY_DATA, "request: a supplementary group is out of range");
	r->spec.gid_count = n;
	return 0;
}

static int
take_revoked(struct bytes *rest, uint32_t n, struct request *r, struct why *why)
{
	char key[KEY_LENGTH + 1];
	size_t i;

	if (n > REQUEST_REVOKED_MAX)
		return refuse(why, WHY_DATA, "request: more than %d leases that are shut", REQUEST_REVOKED_MAX);
	for (i = 0; i < n; i++) {
		if (!bytes_take(rest, key, KEY_LENGTH))
			return refuse_short(why);
		key[KEY_LENGTH] = '\0';
		if (strspn(key, "0123456789abcdef") != KEY_LENGTH)
			return refuse(why, WHY_DATA, "request: the key of a shut lease is malformed");
		if (!strlist_add(&r->retry.revoked, key, SIZE_MAX))
			return refuse_nomem(why);
	}
	return 0;
}

static int
take_field(struct bytes *rest, const struct text *t, uint32_t length, char **out, struct why *why)
{
	if (length == NONE)
		return t->needed ? refuse(why, WHY_DATA, "request: %s is missing", t->name) : 0;
	if (length > t->max)
		return refuse(why, WHY_DATA, "request: %s is longer than %u bytes", t->name, t->max);
	if (length > rest->n)
		return refuse_short(why);
	if (memchr(rest->p, '\0', length) != NULL || !text_is_utf8(rest->p, length))
		return refuse(why, WHY_DATA, "request: %s is not UTF-8", t->name);
	if ((*out = strndup(rest->p, length)) == NULL)
		return refuse_nomem(why);
	rest->p += length;
	rest->n -= length;
	return 0;
}

static int
take_head(struct bytes *rest, struct head *h, struct request *r, struct why *why)
{
	if (!bytes_take(rest, h, sizeof(*h)))
		return refuse(why, WHY_DATA, "request: is shorter than its head");
	if (h->verb >= VERBS)
		return refuse(why, WHY_DATA, "request: unknown verb %u", h->verb);
	if ((h->flags & ~(uint32_t)FLAGS) != 0)
		return refuse(why, WHY_DATA, "request: unknown flags 0x%x", h->flags);
	if (h->waiter > INT32_MAX || h->unused != 0)
		return refuse(why, WHY_DATA, "request: the waiter's process is out of range");
	if (h->uid == UINT32_MAX || h->gid == UINT32_MAX)
		return refuse(why, WHY_DATA, "request: the process's uid or gid is out of range");
	r->verb = (enum verb)h->verb;
	r->spec.systemd_cgroup = (h->flags & FLAG_SYSTEMD_CGROUP) != 0;
	r->spec.dac_override = (h->flags & FLAG_DAC_OVERRIDE) != 0;
	r->spec.privileged = (h->flags & FLAG_PRIVILEGED) != 0;
	r->retry.no_ops = (h->flags & FLAG_NO_OPS) != 0;
	r->spec.is_run = (h->flags & FLAG_IS_RUN) != 0;
	r->retry.await_keys = (h->flags & FLAG_AWAIT_KEYS) != 0;
	r->spec.promises = (h->flags & FLAG_PROMISES) != 0;
	r->retry.scan_first = (h->flags & FLAG_SCAN_FIRST) != 0;
	r->waiter = (struct process_id){ (pid_t)h->waiter, h->waiter_start };
	r->spec.uid = h->uid;
	r->spec.gid = h->gid;
	r->spec.init_file = (struct file_id){ h->init_major, h->init_minor, h->init_inode };
	return 0;
}

/* The id goes into hashes of file names, logs and cgroup names: allows what runc allows, and no more. */
static int
check_id(const char *id, struct why *why)
{
	size_t n = strspn(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-.");

	if (n == 0 || id[n] != '\0' || strcmp(id, ".") == 0 || strcmp(id, "..") == 0)
		return refuse(why, WHY_DATA, "container id \"%.80s\" is not one that runc would take", id);
	return 0;
}

/* In UTF-8, including the controls of C1. */
static bool
has_control_character(const char *s)
{
	const unsigned char *p;

	for (p = (const unsigned char *)s; *p != '\0'; p++)
		if (*p < 0x20 || *p == 0x7f || (*p == 0xc2 && p[1] >= 0x80 && p[1] <= 0x9f))
			return true;
	return false;
}

/* Both go into leases, where a control character takes six bytes. */
static int
check_paths(const char *root, const char *cgroup, struct why *why)
{
	if (has_control_character(root))
		return refuse(why, WHY_DATA, "--root has a control character");
	if (root[0] != '\0' && root[0] != '/')
		return refuse(why, WHY_DATA, "--root \"%.80s\" is not an absolute path", root);
	if (has_control_character(cgroup))
		return refuse(why, WHY_DATA, "linux.cgroupsPath has a control character");
	return 0;
}

/* Without init_path, the request must not identify that file. */
static int
check_init(const struct request *r, struct why *why)
{
	const struct file_id none = { 0 };

	if (r->spec.init_path == NULL && !file_id_same(&r->spec.init_file, &none))
		return refuse(why, WHY_DATA, "request: init_path is missing");
	return 0;
}

int
request_decode(const char *bytes, size_t len, struct request *r, struct why *why)
{
	struct bytes rest = { bytes, len };
	struct head h;
	size_t i;

	*r = (struct request){ 0 };
	if (take_head(&rest, &h, r, why) == -1 || take_idmap(&rest, h.uid_ranges, &r->spec.uids, why) == -1 ||
	    take_idmap(&rest, h.gid_ranges, &r->spec.gids, why) == -1 || take_groups(&rest, h.gids, r, why) == -1 ||
	    take_revoked(&rest, h.revoked, r, why) == -1)
		return -1;
	for (i = 0; i < TEXTS; i++)
		if (take_field(&rest, &texts[i], h.text[i], request_text(r, i), why) == -1)
			return -1;
	if (rest.n > 0)
		return refuse(why, WHY_DATA, "request: is longer than its head says");
	return check_id(r->id, why) == -1 ||
	    check_paths(r->runtime_root, r->spec.cgroups_path, why) == -1 ||
	    check_init(r, why) == -1 ? -1 : 0;
}

void
request_free(struct request *r)
{
	size_t i;

	if (r->untrusted.token != NULL)
		explicit_bzero(r->untrusted.token, strlen(r->untrusted.token));
	for (i = 0; i < TEXTS; i++)
		free(*request_text(r, i));
	strlist_free(&r->retry.revoked);
	*r = (struct request){ 0 };
}

int
request_hint(const void *message, size_t len)
{
	uint32_t verb;

	_Static_assert(WIRE_HEADER + offsetof(struct head, verb) + sizeof(verb) <= REQUEST_HINT_BYTES, "it has the verb");
	if (len < WIRE_HEADER + offsetof(struct head, verb) + sizeof(verb))
		return -1;
	memcpy(&verb, (const char *)message + WIRE_HEADER + offsetof(struct head, verb), sizeof(verb));
	return verb < VERBS ? (int)verb : -1;
}
