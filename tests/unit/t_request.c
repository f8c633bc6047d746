/*
 * ask/request.c: a request is read back as it was written, and root refuses every malformed one.
 */
#include "ask/request.h"
#include "ask/requestwrite.h"
#include "ask/wire.h"
#include "base/cleanup.h"
#include "nomem.h"
#include "tap.h"

#define KEY_A "0000000000000000000000000000000000000000000000000000000000000000"
#define KEY_B "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"

/* The offsets in a message's head; every number has four bytes. */
enum fs_path { AT_INODE = 0, AT_MAJOR = 8, AT_MINOR = 12, AT_VERB = 16, AT_FLAGS = 20, AT_UID = 24, AT_GID = 28,
	AT_UID_RANGES = 32, AT_GID_RANGES = 36, AT_GIDS = 40, AT_CLOSED = 44, AT_WAITER = 56,
	AT_TEXTS = 64 };
#define AT_TEXT(n) (AT_TEXTS + 4 * (n))
#define HEAD_SIZE AT_TEXT(16)

/* The texts, in the order of a message. */
static const struct {
	const char *name;
	size_t at, max;
} texts[16] = {
	{ "id", offsetof(struct request, id), 255 },
	{ "runtime_root", offsetof(struct request, runtime_root), 1024 },
	{ "cgroups_path", offsetof(struct request, spec.cgroups_path), 1024 },
	{ "label", offsetof(struct request, spec.label), 1024 },
	{ "mount_label", offsetof(struct request, spec.mount_label), 1024 },
	{ "init_path", offsetof(struct request, spec.init_path), 4096 },
	{ "token", offsetof(struct request, untrusted.token), 16384 },
	{ "team", offsetof(struct request, untrusted.team), 1024 },
	{ "pipeline", offsetof(struct request, untrusted.pipeline), 1024 },
	{ "job", offsetof(struct request, untrusted.job), 1024 },
	{ "instance_vars", offsetof(struct request, untrusted.instance_vars), 65536 },
	{ "gpus", offsetof(struct request, untrusted.gpus), 16384 },
	{ "folders", offsetof(struct request, untrusted.folders), 131072 },
	{ "cuda_visible", offsetof(struct request, untrusted.cuda_visible), 4096 },
	{ "rocr_visible", offsetof(struct request, untrusted.rocr_visible), 4096 },
	{ "reason", offsetof(struct request, reason), 2048 },
};

static char **
text_of(struct request *r, unsigned n)
{
	return (char **)((char *)r + texts[n].at);
}

/* The smallest request, with literal texts. */
static struct request
minimal(void)
{
	static char id[] = "c1", none[] = "";

	return (struct request){ .id = id, .runtime_root = none, .spec.cgroups_path = none, .spec.uids.identity = true,
		.spec.gids.identity = true };
}

static int
decode(const char *bytes, size_t len, struct why *why)
{
	autorequest struct request r;

	*why = (struct why){ 0 };
	return request_decode(bytes, len, &r, why);
}

/* Whether the encoded request is accepted; if not, *why has the reason. */
static int
there(const struct request *r, struct why *why)
{
	size_t len;
	autofree char *bytes = request_encode(r, &len);

	return decode(bytes, len, why);
}

static void
test_minimal(void)
{
	const struct request in = minimal();
	autorequest struct request r;
	autofree char *bytes = NULL;
	struct why why;
	size_t len;
	unsigned n;

	bytes = request_encode(&in, &len);
	is_int(len, HEAD_SIZE + 2, "the smallest request is a head and an id");
	if (!ok(request_decode(bytes, len, &r, &why) == 0, "the smallest request is accepted"))
		return;
	ok(r.verb == VERB_GRANT && strcmp(r.id, "c1") == 0 && r.spec.uids.identity && r.spec.gids.identity && r.spec.uids.n == 0 &&
	    r.spec.gid_count == 0 && !r.spec.privileged && !r.spec.dac_override && !r.spec.systemd_cgroup,
	    "the smallest request's members are read");
	ok(r.runtime_root[0] == '\0' && r.spec.cgroups_path[0] == '\0',
	    "an empty text is read as empty");
	for (n = 3; n < 16; n++)
		ok(*text_of(&r, n) == NULL, "%s is NULL if it is missing", texts[n].name);
	ok(r.retry.revoked.n == 0 && !r.retry.no_ops && !r.spec.is_run && !r.retry.await_keys &&
	    r.spec.init_file.major == 0 && r.spec.init_file.minor == 0 && r.spec.init_file.inode == 0,
	    "no lease is shut, and no file is named");
}

/* A request with all members; each text is its own name. */
static void
fill(struct request *r)
{
	static char text[16][32], a[] = KEY_A, b[] = KEY_B, *closed[] = { a, b };
	unsigned n;

	*r = (struct request){ .spec.systemd_cgroup = true, .spec.dac_override = true, .spec.privileged = true,
		.retry.no_ops = true, .spec.is_run = true, .retry.await_keys = true, .retry.scan_first = true,
		.spec.promises = true, .waiter = { INT32_MAX, UINT64_MAX - 1 }, .spec.uid = 7, .spec.gid = 4294967294,
		.spec.gid_list = { 1, 0, 4294967294 }, .spec.gid_count = 3,
		.spec.init_file = { 4294967295, 4294967294, UINT64_MAX }, .retry.revoked = { closed, 2 } };
	r->spec.uids.v[r->spec.uids.n++] = (struct idrange){ 0, 4294967294, 1 };
	r->spec.uids.v[r->spec.uids.n++] = (struct idrange){ 1, 2, 4294967293 };
	for (n = 0; n < 16; n++) {
		snprintf(text[n], sizeof(text[n]), "%s%s", n == 1 ? "/" : "", texts[n].name);
		*text_of(r, n) = text[n];
	}
}

static void
test_round_trip(void)
{
	struct request in;
	struct why why;
	size_t len, more;
	unsigned n, v;

	fill(&in);
	for (v = VERB_GRANT; v < VERBS; v++) {
		autorequest struct request out;
		autofree char *bytes = NULL, *again = NULL;

		in.verb = (enum verb)v;
		bytes = request_encode(&in, &len);
		if (!ok(request_decode(bytes, len, &out, &why) == 0,
		    "verb %u: the request is written and read back: %s", v, why.text))
			continue;
		again = request_encode(&out, &more);
		ok(more == len && memcmp(bytes, again, len) == 0,
		    "  written again, it is the same bytes");
		ok(out.verb == in.verb && out.spec.uids.n == 2 && !out.spec.uids.identity && out.spec.uids.v[0].outside == 4294967294 &&
		    out.spec.uids.v[1].inside == 1 && out.spec.uids.v[1].outside == 2 && out.spec.uids.v[1].size == 4294967293 &&
		    !out.spec.gids.identity && out.spec.gids.n == 0,
		    "  the verb and the mappings are the same");
		ok(out.spec.uid == 7 && out.spec.gid == 4294967294 && out.spec.gid_count == 3 && out.spec.gid_list[0] == 1 &&
		    out.spec.gid_list[2] == 4294967294, "  the numbers are the same");
		ok(process_id_same(&out.waiter, &in.waiter), "  the waiter is the same");
		ok(file_id_same(&out.spec.init_file, &in.spec.init_file),
		    "  the file of the first process is the same");
		ok(out.retry.revoked.n == 2 && strcmp(out.retry.revoked.v[0], KEY_A) == 0 &&
		    strcmp(out.retry.revoked.v[1], KEY_B) == 0,
		    "  the shut leases are the same");
		for (n = 0; n < 16; n++)
			is_str(*text_of(&out, n), *text_of(&in, n),
			    "  %s is the same", texts[n].name);
	}
}

/* One flag at a time. No flag affects another one. */
static void
test_flags(void)
{
	static const size_t flags[] = { offsetof(struct request, spec.systemd_cgroup), offsetof(struct request, spec.dac_override),
		offsetof(struct request, spec.privileged), offsetof(struct request, retry.no_ops),
		offsetof(struct request, spec.is_run), offsetof(struct request, retry.await_keys),
		offsetof(struct request, spec.promises), offsetof(struct request, retry.scan_first) };
	struct why why;
	size_t i, j, len;

	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		struct request in = minimal();
		autorequest struct request out;
		autofree char *bytes = NULL;

		*(bool *)((char *)&in + flags[i]) = true;
		bytes = request_encode(&in, &len);
		ok(request_decode(bytes, len, &out, &why) == 0 && (uint8_t)bytes[AT_FLAGS] == 1U << i,
		    "flag %zu is written and read", i);
		for (j = 0; j < sizeof(flags) / sizeof(flags[0]); j++)
			is_int(*(bool *)((char *)&out + flags[j]), i == j,
			    "  flag %zu has its value", j);
	}
}

static void
test_lies(void)
{
	static const struct {
		enum fs_path at;
		uint32_t number;
		const char *why;
	} t[] = {
		{ AT_VERB, VERBS, "request: unknown verb 11" },
		{ AT_VERB, UINT32_MAX, "request: unknown verb 4294967295" },
		{ AT_FLAGS, 256, "request: unknown flags 0x100" },
		{ AT_FLAGS, 0x80000000, "request: unknown flags 0x80000000" },
		{ AT_UID, UINT32_MAX, "request: the process's uid or gid is out of range" },
		{ AT_GID, UINT32_MAX, "request: the process's uid or gid is out of range" },
		{ AT_UID_RANGES, IDMAP_MAX + 1, "request: more than 340 ranges of an id mapping" },
		{ AT_GID_RANGES, UINT32_MAX - 1, "request: more than 340 ranges of an id mapping" },
		{ AT_GID_RANGES, 0x15555556, "request: more than 340 ranges of an id mapping" },
		{ AT_GID_RANGES, 300, "request: is shorter than its head says" },
		{ AT_GIDS, REQUEST_GIDS_MAX + 1, "request: more than 64 supplementary groups" },
		{ AT_GIDS, UINT32_MAX, "request: more than 64 supplementary groups" },
		{ AT_CLOSED, REQUEST_REVOKED_MAX + 1, "request: more than 64 leases that are shut" },
		{ AT_CLOSED, 1, "request: is longer than its head says" },
		{ AT_CLOSED, 3, "request: the key of a shut lease is malformed" },
		{ AT_WAITER, (uint32_t)INT32_MAX + 1, "request: the waiter's process is out of range" },
		{ AT_WAITER + 4, 1, "request: the waiter's process is out of range" },
		{ AT_TEXT(0), UINT32_MAX, "request: id is missing" },
		{ AT_TEXT(1), UINT32_MAX, "request: runtime_root is missing" },
		{ AT_TEXT(2), UINT32_MAX, "request: cgroups_path is missing" },
		{ AT_TEXT(0), 256, "request: id is longer than 255 bytes" },
		{ AT_TEXT(5), UINT32_MAX, "request: is longer than its head says" },
		{ AT_TEXT(6), UINT32_MAX, "request: is longer than its head says" },
		{ AT_TEXT(12), 131072, "request: is shorter than its head says" },
		{ AT_TEXT(12), UINT32_MAX - 1, "request: folders is longer than 131072 bytes" },
		{ AT_TEXT(15), 5, "request: is longer than its head says" },
		{ AT_TEXT(15), 7, "request: is shorter than its head says" },
	};
	struct request in;
	struct why why;
	size_t i, len;

	fill(&in);
	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		autofree char *bytes = request_encode(&in, &len);

		memcpy(bytes + t[i].at, &t[i].number, sizeof(t[i].number));
		is_int(decode(bytes, len, &why), -1,
		    "%u at offset %d is refused", t[i].number, t[i].at);
		is_str(why.text, t[i].why, "  the message says why");
		is_int(why.code, WHY_DATA, "  the code says that the sender is at fault");
	}
}

/* Only the complete message is a request, nothing shorter and nothing longer. */
static void
test_cut(void)
{
	struct request in;
	unsigned taken = 0, silent = 0;
	struct why why;
	size_t n, len;
	char *bytes;

	fill(&in);
	bytes = request_encode(&in, &len);
	for (n = 0; n < len; n++) {
		/* each part has its own allocation, so that a sanitizer notices reads beyond it */
		autofree char *part = malloc(n + 1);

		memcpy(part, bytes, n);
		part = realloc(part, n > 0 ? n : 1);
		taken += decode(part, n, &why) == 0;
		silent += why.text[0] == '\0' || why.code != WHY_DATA;
	}
	is_int(taken, 0, "no request truncated to 0 to %zu bytes is accepted", len - 1);
	is_int(silent, 0, "each refusal has a message");
	bytes = realloc(bytes, len + 1);
	bytes[len] = 'x';
	is_int(decode(bytes, len + 1, &why), -1, "a request with an extra byte is refused");
	is_str(why.text, "request: is longer than its head says", "  the message says why");
	is_int(decode(bytes, len, &why), 0, "the whole request is accepted");
	free(bytes);
}

static void
test_numbers(void)
{
	static const uint32_t none = UINT32_MAX;
	struct request in;
	struct why why;
	size_t i, len;

	for (i = 0; i < 9; i++) {
		autofree char *bytes = NULL;

		fill(&in);
		bytes = request_encode(&in, &len);
		memcpy(bytes + HEAD_SIZE + 4 * i, &none, sizeof(none));
		is_int(decode(bytes, len, &why), -1,
		    "-1 in an id mapping or as a group is refused (%zu)", i);
		is_str(why.text, i < 6 ? "request: an id mapping is out of range" : "request: a supplementary group is out of range",
		    "  the message says why");
	}
	in = minimal();
	in.spec.init_file.inode = 1;
	is_int(there(&in, &why), -1, "a file's numbers without its path are refused");
	is_str(why.text, "request: init_path is missing", "  the message says why");
}

static void
test_texts(void)
{
	static const char *const bad[] = { "\xff", "a\xc3", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80" };
	char what[64];
	struct why why;
	unsigned n;
	size_t i, len;

	for (n = 0; n < 16; n++) {
		struct request in;

		snprintf(what, sizeof(what), "request: %s is not UTF-8", texts[n].name);
		for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
			autofree char *text = strdup(bad[i]);

			fill(&in);
			*text_of(&in, n) = text;
			is_int(there(&in, &why), -1,
			    "%s that is not UTF-8 is refused (%zu)", texts[n].name, i);
			is_str(why.text, what, "  the message says why");
		}
	}
	for (n = 0; n < 16; n++) {
		struct request in;
		autofree char *bytes = NULL;

		fill(&in);
		bytes = request_encode(&in, &len);
		*(char *)memmem(bytes, len, texts[n].name, strlen(texts[n].name)) = '\0';
		is_int(decode(bytes, len, &why), -1,
		    "%s with a NUL is refused: %s", texts[n].name, why.text);
	}
}

static void
test_long(void)
{
	struct why why;
	size_t more;
	unsigned n;

	for (n = 0; n < 16; n++)
		for (more = 0; more < 2; more++) {
			struct request in = minimal();
			autofree char *s = malloc(texts[n].max + 2);

			memset(s, 'x', texts[n].max + more);
			s[texts[n].max + more] = '\0';
			if (n == 1)
				s[0] = '/';
			*text_of(&in, n) = s;
			is_int(there(&in, &why), more == 0 ? 0 : -1,
			    "%s of %zu bytes is accepted, or refused as too long: %s",
			    texts[n].name, texts[n].max + more, why.text);
		}
}

static void
test_names(void)
{
	static const struct {
		unsigned text;
		const char *value, *why;	/* NULL: valid, because runtimes accept it */
	} t[] = {
		{ 0, "", "container id \"\" is not one that runc would take" },
		{ 0, ".", "container id \".\" is not one that runc would take" },
		{ 0, "..", "container id \"..\" is not one that runc would take" },
		{ 0, "a/b", "container id \"a/b\" is not one that runc would take" },
		{ 0, "a b", "container id \"a b\" is not one that runc would take" },
		{ 0, "a\n", "container id \"a?\" is not one that runc would take" },
		{ 0, "\xc3\xa4", "container id \"\xc3\xa4\" is not one that runc would take" },
		{ 1, "run/runc", "--root \"run/runc\" is not an absolute path" },
		{ 1, " /run", "--root \" /run\" is not an absolute path" },
		{ 1, "/run\1", "--root has a control character" },
		{ 1, "/run\x7f", "--root has a control character" },
		{ 1, "/run\xc2\x85/x", "--root has a control character" },
		{ 2, "/a\n", "linux.cgroupsPath has a control character" },
		{ 2, "a\xc2\x9f", "linux.cgroupsPath has a control character" },
		{ 0, "a", NULL }, { 0, "...", NULL }, { 0, "-_+.Z9", NULL }, { 0, "--help", NULL }, { 1, "", NULL }, { 1, "/", NULL },
		{ 1, "/run/user/1000/crun", NULL }, { 1, "/srv/\xc3\xa4 b", NULL }, { 2, "system.slice:cri-containerd:0123abcd", NULL },
		{ 2, "/garden/x", NULL }, { 2, "../x \xc2\xa0", NULL }, { 2, "-.slice:a:b", NULL },
	};
	struct why why;
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct request in = minimal();
		autofree char *text = strdup(t[i].value);

		*text_of(&in, t[i].text) = text;
		is_int(there(&in, &why), t[i].why == NULL ? 0 : -1,
		    "%s, value %zu, is accepted or refused", texts[t[i].text].name, i);
		is_str(why.text, t[i].why != NULL ? t[i].why : "",
		    "  the message is the expected one");
	}
}

static void
test_many(void)
{
	struct request in = minimal();
	autostrlist struct strlist closed = { 0 };
	struct why why;
	size_t i;

	in.spec.uids.identity = in.spec.gids.identity = false;
	in.spec.uids.n = in.spec.gids.n = IDMAP_MAX;
	in.spec.gid_count = REQUEST_GIDS_MAX;
	for (i = 0; i < REQUEST_REVOKED_MAX; i++)
		strlist_add(&closed, i % 2 == 0 ? KEY_A : KEY_B, SIZE_MAX);
	in.retry.revoked = closed;
	is_int(there(&in, &why), 0,
	    "the greatest number of ranges, groups and shut leases is accepted: %s", why.text);
	strlist_add(&closed, KEY_A, SIZE_MAX);
	in.retry.revoked = closed;
	is_int(there(&in, &why), -1, "one lease more is refused: %s", why.text);
}

static void
test_keys(void)
{
	static const char *const bad[] = { "x", "F", "/", " ", "\n" };
	struct request in = minimal();
	char key[] = KEY_A, *closed[] = { key };
	struct why why;
	size_t i;

	in.retry.revoked = (struct strlist){ closed, 1 };
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		memcpy(key + 63, bad[i], 1);
		is_int(there(&in, &why), -1,
		    "a lease's key with the byte 0x%02x is refused", bad[i][0]);
		is_str(why.text, "request: the key of a shut lease is malformed", "  the message says why");
	}
}

#if !defined(__SANITIZE_ADDRESS__)
/*
 * The bytes of a request that was written, read and written again, in hexadecimal; NULL if memory
 * runs out.
 */
static char *
there_and_back(void)
{
	struct request in, out;
	struct why why;
	char *bytes, *again = NULL, *text = NULL;
	size_t i, len, more;
	long keep;

	fill(&in);
	if ((bytes = request_encode(&in, &len)) != NULL && request_decode(bytes, len, &out, &why) == 0 &&
	    (again = request_encode(&out, &more)) != NULL) {
		keep = fail_at;
		fail_at = -1;
		text = malloc(2 * more + 1);
		for (i = 0; i < more; i++)
			snprintf(text + 2 * i, 3, "%02x", (unsigned char)again[i]);
		fail_at = keep;
	}
	if (bytes != NULL)
		request_free(&out);
	free(bytes);
	free(again);
	return text;
}

static void
test_memory(void)
{
	starve("a request is written and read", there_and_back);
}
#else
static void
test_memory(void)
{
	skip("when memory runs out", "a sanitizer has its own allocator");
}
#endif

/* The verb that the helper reads before it starts its programs (root/enter/enter.c). */
static void
test_hint(void)
{
	struct request r = minimal();
	unsigned char message[WIRE_HEADER + 4096];
	size_t len, n, early = 0;
	autofree char *bytes = NULL;

	r.verb = VERB_RELEASE;
	bytes = request_encode(&r, &len);
	wire_header(message, (uint32_t)len);
	memcpy(message + WIRE_HEADER, bytes, len < 4096 ? len : 4096);
	is_int(request_hint(message, REQUEST_HINT_BYTES), VERB_RELEASE,
	    "the verb is read from the beginning of a message");
	for (n = 0; request_hint(message, n) == -1; n++)
		early = n;
	is_int(request_hint(message, n), VERB_RELEASE,
	    "the verb is read from no less than %zu bytes", early + 1);
	ok(n <= REQUEST_HINT_BYTES, "these bytes are within the hint's");
	memset(message, 0xff, sizeof(message));
	is_int(request_hint(message, sizeof(message)), -1, "an unknown verb is refused");
}

int
main(void)
{
	test_hint();
	test_minimal();
	test_round_trip();
	test_flags();
	test_lies();
	test_cut();
	test_numbers();
	test_texts();
	test_long();
	test_names();
	test_many();
	test_keys();
	test_memory();
	return done_testing();
}
