/*
 * ask/reply.c: the helper's reply is read back as it was written, and the wrapper refuses
 * malformed replies.
 */
#include <jansson.h>

#include "ask/replyread.h"
#include "base/cleanup.h"
#include "ask/reply.h"
#include "lease/edits.h"
#include "lease/editsdriver.h"
#include "nomem.h"
#include "tap.h"

static const struct edit_node node0 = { "/dev/nvidia0", 195, 0, 0666, 0, 0 };
static const struct edit_node node1 = { "/dev/dri/renderD128", 226, 128, 0660, 4294967294, 104 };

static void
fill(struct reply *r, bool secret)
{
	static const char *const options[] = { "bind", "ro", NULL };
	struct edits *e = &r->edits;
	size_t i;

	*r = (struct reply){ .kind = REPLY_GRANT, .policy = "10-a\".conf" };
	ok(edits_add_node(e, &node0) && edits_add_node(e, &node1) && edits_add_node(e, &node0),
	    "nodes are added");
	is_int(e->nodes, 2, "a node is added only once");
	ok(edits_add_mount(e, "/srv/a/b", "/data/b", options) && edits_add_mount(e, "/srv/z", "/z", options) &&
	    edits_add_mount(e, "/srv/a", "/data", options) && edits_add_mount(e, "/srv/aa", "/data/a", options),
	    "mounts are added");
	strlist_add(&e->env, "A=\"1\"", SIZE_MAX);
	e->env_secret = secret;
	strlist_add(&e->gpus, "nvidia 0000:3b:00.0 GPU-1 part 0", SIZE_MAX);
	e->driver.files = strdup("{\"any\":\"text\"}");
	e->driver.process = strdup("{\"other\":1}");
	strlist_add(&e->driver.mounted, "/opt/driver/lib.so", SIZE_MAX);
	strlist_add(&e->driver.run, "/opt/driver/hook", SIZE_MAX);
	strlist_add(&e->driver.specs, "/etc/cdi/nvidia.yaml", SIZE_MAX);
	for (i = 0; i < e->mounts; i++)
		e->mount[i].fs_path = strdup(i == 0 ? "8:1 /srv/data" : "8:1 /");
	e->label = strdup("u:r:t:s0:c1,c2");
	e->mount_label = strdup("u:object_r:f:s0:c1,c2");
	e->gid[e->gids++] = 4294967294;
	e->gid[e->gids++] = 0;
}

static void
test_reply_grant(bool secret)
{
	autofree char *text = NULL, *again = NULL;
	autoreply struct reply r = { 0 }, out = { 0 };
	struct why why = { 0 };
	int fs_paths = 0;
	size_t i;

	fill(&r, secret);
	edits_sort_mounts(&r.edits);
	ok(strcmp(r.edits.mount[0].target, "/data") == 0 && strcmp(r.edits.mount[1].target, "/z") == 0 &&
	    strcmp(r.edits.mount[2].target, "/data/a") == 0 && strcmp(r.edits.mount[3].target, "/data/b") == 0,
	    "a parent directory is mounted before its child");
	text = reply_encode(&r);
	if (!ok(text != NULL && reply_decode(text, strlen(text), &out, &why) == 0,
	    "a grant is written and read back: %s",
	    why.text))
		return;
	is_str(again = reply_encode(&out), text, "written again, the reply is the same text");
	ok(out.kind == REPLY_GRANT && strcmp(out.policy, r.policy) == 0, "the policy is read back");
	ok(out.edits.nodes == 2 && strcmp(out.edits.node[1].path, node1.path) == 0 && out.edits.node[1].major == 226 &&
	    out.edits.node[1].minor == 128 && out.edits.node[1].mode == 0660 && out.edits.node[1].uid == 4294967294 &&
	    out.edits.node[1].gid == 104, "the nodes are read back");
	for (i = 0; i < out.edits.mounts; i++)
		fs_paths += out.edits.mount[i].fs_path != NULL && strcmp(out.edits.mount[i].fs_path, "8:1 /srv/data") == 0;
	is_int(fs_paths, 1, "the place of a mount is read back");
	ok(out.edits.mounts == 4 && out.edits.mount[0].options.n == 2 &&
	    strcmp(out.edits.mount[0].options.v[1], "ro") == 0, "the mounts are read back");
	ok(out.edits.driver.files != NULL && strcmp(out.edits.driver.files, r.edits.driver.files) == 0 &&
	    strcmp(out.edits.driver.process, r.edits.driver.process) == 0 &&
	    out.edits.driver.mounted.n == 1 && strcmp(out.edits.driver.mounted.v[0], "/opt/driver/lib.so") == 0 &&
	    out.edits.driver.run.n == 1 && strcmp(out.edits.driver.run.v[0], "/opt/driver/hook") == 0,
	    "what the driver adds is read back unread");
	ok(out.edits.hooks == 0 && out.edits.masked.n == 0 && out.edits.notes.n == 0 && out.edits.driver.specs.n == 0,
	    "  and nothing of it yet counts");
	ok(out.edits.gids == 2 && out.edits.gid[0] == 4294967294 && out.edits.env.n == 1,
	    "groups and variables are read back");
	ok(out.edits.gpus.n == 1 && strcmp(out.edits.gpus.v[0], r.edits.gpus.v[0]) == 0, "the GPUs are read back");
	is_int(out.edits.env_secret, secret, "the secrecy of the variables is read back");
	ok(out.edits.label != NULL && strcmp(out.edits.label, "u:r:t:s0:c1,c2") == 0 && out.edits.mount_label != NULL &&
	    strcmp(out.edits.mount_label, "u:object_r:f:s0:c1,c2") == 0,
	    "the labels are read back");
}

static void
test_reply_others(void)
{
	static const struct reply t[] = {
		{ .kind = REPLY_PLAIN }, { .kind = REPLY_DONE },
		{ .kind = REPLY_REFUSED, .why = { WHY_DENIED, "no: \"x\" \xc3\xa4" } },
		{ .kind = REPLY_BUSY, .why = { WHY_AGAIN, "taken" }, .wait = 240 },
		{ .kind = REPLY_DONE, .text = "GPU 0000:3b:00.0 (exclusive), waited 38 s \xc3\xa4" },
	};
	struct edits none = { 0 };
	struct why why = { 0 };
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		autofree char *text = reply_encode(&t[i]);
		autoreply struct reply out = { 0 };

		ok(text != NULL && reply_decode(text, strlen(text), &out, &why) == 0,
		    "%s is written and read back: %s", text,
		    why.text);
		ok(out.kind == t[i].kind && out.why.code == t[i].why.code && strcmp(out.why.text, t[i].why.text) == 0 &&
		    out.wait == t[i].wait, "  the reason and the wait are the same");
		ok(strcmp(out.text, t[i].text) == 0 && out.ops.n == 0, "  the line is the same");
	}
	edits_sort_mounts(&none);
	ok(none.mounts == 0, "sorting no mounts does nothing");
}

/*
 * JSON cannot have invalid UTF-8. There must be no reply at all, rather than one that lacks a
 * folder.
 */
static void
test_reply_no_text(void)
{
	static const char *const options[] = { "bind", NULL };
	struct reply r = { .kind = REPLY_GRANT };
	char *text;

	ok(edits_add_mount(&r.edits, "/srv/a", "/srv/a", options) && edits_add_mount(&r.edits, "/srv/b", "/srv/b", options),
	    "two folders are added");
	text = reply_encode(&r);
	ok(text != NULL && strstr(text, "/srv/b") != NULL, "the reply is written");
	free(text);
	r.edits.mount[0].fs_path = strdup("8:1 /caf\xe9");
	text = reply_encode(&r);
	ok(text == NULL, "a reply with a mount whose place is not UTF-8 is not written");
	free(text);
	reply_free(&r);
}

static void
test_reply_ops(void)
{
	static const enum reply_kind kinds[] = { REPLY_DONE, REPLY_BUSY };
	struct reply r = { 0 };
	struct why why = { 0 };
	struct caller_op *c;
	size_t i;

	if (!ok((c = caller_ops_add(&r.ops)) != NULL, "a chore is added"))
		return;
	c->kind = OP_CLEAR;
	memset(c->lease, 'a', 64);
	c->file = strdup("aa-0");
	c->id = strdup("c1");
	c->devcgroup = strdup("devices/x");
	c->init = (struct process_id){ 5, 6 };
	ok(caller_op_add_node(c, &(struct promised_node){ 195, 0, true }) && strlist_add(&c->cgroups, "x/y", SIZE_MAX) && caller_ops_add(&r.ops) != NULL,
	    "a second chore is added");
	c = &r.ops.v[1];
	c->kind = OP_ALLOW;
	c->file = strdup("");
	c->id = strdup("c2");
	c->devcgroup = strdup("devices/z");
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		autofree char *text = NULL, *again = NULL;
		autoreply struct reply out = { 0 };

		r.kind = kinds[i];
		r.why = kinds[i] == REPLY_BUSY ? (struct why){ WHY_AGAIN, "taken" } : (struct why){ 0 };
		text = reply_encode(&r);
		if (!ok(text != NULL && reply_decode(text, strlen(text), &out, &why) == 0,
		    "%s is written and read back: %s", text,
		    why.text))
			continue;
		is_str(again = reply_encode(&out), text,
		    "  written again, the reply is the same text");
		ok(out.ops.n == 2 && out.ops.v[0].kind == OP_CLEAR && out.ops.v[1].kind == OP_ALLOW &&
		    strcmp(out.ops.v[1].devcgroup, "devices/z") == 0 && out.ops.v[0].nodes == 1 &&
		    out.ops.v[0].node[0].major == 195, "  both chores are read back");
	}
	reply_free(&r);
	ok(r.ops.v == NULL && r.ops.n == 0, "reply_free() frees the chores");
}

/* A message goes to a terminal, so it is one line of limited length. */
static void
test_reply_line(void)
{
	static const char wild[] = "{\"reply\":\"noted\",\"line\":\"a\\n\\u001b[2Jb\\u202e\"}";
	autoreply struct reply out = { 0 }, other = { 0 };
	autobuf struct buf b = { 0 };
	struct why why = { 0 };
	int i;

	ok(reply_decode(wild, strlen(wild), &out, &why) == 0,
	    "a line with unprintable characters is read");
	is_str(out.text, "a??[2Jb?", "unprintable characters are replaced");
	buf_puts(&b, "{\"reply\":\"noted\",\"line\":\"");
	for (i = 0; i < 2000; i++)
		buf_puts(&b, "x");
	buf_puts(&b, "\"}");
	ok(reply_decode(b.p, b.len, &other, &why) == 0 && strlen(other.text) == REPLY_TEXT_MAX - 1,
	    "a long line is cut");
}

/* Notes go to a terminal, and may have text of a spec in them. */
static void
test_notes(void)
{
	struct edits e = { 0 };
	char large[2 * NOTE_MAX];
	int i;

	memset(large, 'x', sizeof(large) - 1);
	large[sizeof(large) - 1] = '\0';
	ok(edits_add_note(&e, "a\nb\033[2J%s", "\xff"), "a note with unprintable bytes is added");
	is_str(e.notes.v[0], "a?b?[2J?", "unprintable bytes are replaced");
	ok(edits_add_note(&e, "%s", large) && strlen(e.notes.v[1]) == NOTE_MAX - 1, "a long note is cut");
	for (i = 0; i < NOTES_MAX; i++)
		ok(edits_add_note(&e, "note %d", i), "a further note is no error");
	is_int(e.notes.n, NOTES_MAX, "the number of notes is limited");
	edits_free(&e);
	ok(e.notes.v == NULL && e.notes.n == 0, "edits_free() frees the notes");
}

#define GRANT(edits) "{\"reply\":\"grant\",\"policy\":\"p\",\"containerEdits\":" edits "}"
#define NODE(members) GRANT("{\"deviceNodes\":[{" members "}],\"mounts\":[],\"env\":[],\"additionalGids\":[]}")
#define MOUNT(members) GRANT("{\"deviceNodes\":[],\"mounts\":[{" members "}],\"env\":[],\"additionalGids\":[]}")
#define DRIVER(members) "{\"reply\":\"grant\",\"policy\":\"p\"," members ",\"containerEdits\":" \
    "{\"deviceNodes\":[],\"mounts\":[],\"env\":[],\"additionalGids\":[]}}"
#define WHY(kind, members) "{\"reply\":\"" kind "\"," members "}"
#define NOTED(ops) "{\"reply\":\"noted\",\"chores\":" ops "}"
#define OP(what, node) "{\"do\":\"" what "\",\"lease\":\"\",\"file\":\"\",\"id\":\"c\",\"gate\":\"g\",\"cgroups\":[]," \
    "\"nodes\":[" node "],\"init\":[0,\"0\"],\"by\":[0,\"0\"]}"
#define GIDS(list) GRANT("{\"deviceNodes\":[],\"mounts\":[],\"env\":[],\"additionalGids\":" list "}")

static void
test_reply_refused(void)
{
	static const char *const bad[] = {
		"{}", "{\"reply\":1}", "{\"reply\":\"Grant\"}", "{\"reply\":\"grants\"}", "{\"reply\":null}", "[]", "",
		"{\"reply\":\"grant\"}", GRANT("null"), GRANT("[]"), GRANT("{}"), GRANT("{\"env\":[1]}"),
		GRANT("{\"deviceNodes\":{},\"mounts\":[],\"env\":[],\"additionalGids\":[]}"),
		GRANT("{\"deviceNodes\":[],\"mounts\":\"\",\"env\":[],\"additionalGids\":[]}"),
		GRANT("{\"deviceNodes\":[],\"mounts\":[],\"env\":[]}"),
		GRANT("{\"deviceNodes\":[],\"mounts\":[],\"additionalGids\":[]}"),
		DRIVER("\"driver\":\"{}\",\"mounted\":[],\"run\":[]"), DRIVER("\"process\":\"{}\",\"mounted\":[],\"run\":[]"),
		DRIVER("\"driver\":1,\"mounted\":[],\"run\":[]"), DRIVER("\"driver\":{},\"mounted\":[],\"run\":[]"),
		DRIVER("\"driver\":\"{}\",\"process\":\"{}\",\"run\":[]"), DRIVER("\"driver\":\"{}\",\"process\":\"{}\",\"mounted\":[]"),
		DRIVER("\"driver\":\"{}\",\"process\":\"{}\",\"mounted\":[1],\"run\":[]"), DRIVER("\"driver\":\"{}\",\"process\":\"{}\",\"mounted\":[],\"run\":{}"),
		NODE(""), NODE("\"path\":\"/dev/a\""),
		NODE("\"path\":1,\"major\":1,\"minor\":1,\"fileMode\":1,\"uid\":1,\"gid\":1"),
		NODE("\"path\":\"/dev/a\",\"major\":-1,\"minor\":1,\"fileMode\":1,\"uid\":1,\"gid\":1"),
		NODE("\"path\":\"/dev/a\",\"major\":1,\"minor\":4294967296,\"fileMode\":1,\"uid\":1,\"gid\":1"),
		NODE("\"path\":\"/dev/a\",\"major\":1,\"minor\":1,\"fileMode\":1.0,\"uid\":1,\"gid\":1"),
		NODE("\"path\":\"/dev/a\",\"major\":1,\"minor\":1,\"fileMode\":1,\"uid\":\"1\",\"gid\":1"),
		NODE("\"path\":\"/dev/a\",\"major\":1,\"minor\":1,\"fileMode\":1,\"uid\":1"),
		NODE("\"path\":\"/dev/01234567890123456789012345678901234567890123456789012345678\",\"major\":1,"
		    "\"minor\":1,"
		    "\"fileMode\":1,\"uid\":1,\"gid\":1"),
		MOUNT("\"hostPath\":\"/a\",\"containerPath\":\"/a\",\"options\":[],\"place\":1"),
		MOUNT("\"hostPath\":\"/a\",\"containerPath\":\"/a\",\"options\":[]"),
		MOUNT(""), MOUNT("\"hostPath\":\"/a\",\"options\":[]"),
		    MOUNT("\"containerPath\":\"/a\",\"options\":[]"),
		MOUNT("\"hostPath\":\"/a\",\"containerPath\":\"/a\""),
		MOUNT("\"hostPath\":\"/a\",\"containerPath\":\"/a\",\"options\":[null]"),
		GIDS("[-1]"), GIDS("[4294967295]"), GIDS("[4294967296]"), GIDS("[\"1\"]"), GIDS("[1.5]"), GIDS("{}"),
		GIDS("[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,"
		    "0,0,0,0,0,0,0,"
		    "0,0,0,0,0,0,0,0,0,0]"),
		"{\"reply\":\"refused\"}", WHY("refused", "\"code\":77,\"wait\":0,\"ahead\":0"),
		WHY("refused", "\"text\":\"x\",\"wait\":0,\"ahead\":0"), WHY("refused",
		    "\"text\":1,\"code\":77,\"wait\":0,\"ahead\":0"),
		WHY("refused", "\"text\":\"x\",\"code\":\"77\",\"wait\":0,\"ahead\":0"),
		WHY("refused", "\"text\":\"x\",\"code\":0,\"wait\":0,\"ahead\":0"),
		WHY("refused", "\"text\":\"x\",\"code\":63,\"wait\":0,\"ahead\":0"),
		WHY("refused", "\"text\":\"x\",\"code\":79,\"wait\":0,\"ahead\":0"),
		WHY("refused", "\"text\":\"x\",\"code\":4294967373,\"wait\":0,\"ahead\":0"),
		WHY("busy", "\"text\":\"x\",\"code\":75,\"ahead\":0"), WHY("busy",
		    "\"text\":\"x\",\"code\":75,\"wait\":0"),
		WHY("busy", "\"text\":\"x\",\"code\":75,\"wait\":-1,\"ahead\":0"),
		WHY("busy", "\"text\":\"x\",\"code\":75,\"wait\":4294967296,\"ahead\":0"),
		WHY("busy", "\"text\":\"x\",\"code\":75,\"wait\":0,\"ahead\":null"),
		NOTED("null"), NOTED("{}"), NOTED("\"\""), NOTED("[{}]"), NOTED("[1]"),
		NOTED("[" OP("shut", "\"195:0\"") "]"), NOTED("[" OP("shat", "[195,0,true]") "]"),
		NOTED("[" OP("shut", "[195,0,true]") ",null]"),
		WHY("busy", "\"text\":\"x\",\"code\":75,\"wait\":0,\"ahead\":0,\"chores\":[[]]"),
	};
	static const char *const good[] = {
		DRIVER("\"driver\":\"anything\",\"process\":\"\",\"mounted\":[],\"run\":[\"/x\"]"),
		MOUNT("\"hostPath\":\"/a\",\"containerPath\":\"/a\",\"options\":[],\"place\":\"8:1 /a\""),
		NOTED("[]"), NOTED("[" OP("shut", "[195,0,true]") "]"), NOTED("[" OP("stop", "") "]"),
		WHY("refused", "\"text\":\"x\",\"code\":64,\"wait\":0,\"ahead\":0"),
		WHY("busy", "\"text\":\"\",\"code\":78,\"wait\":4294967295,\"ahead\":7"), GIDS("[0,4294967294]"),
		NODE("\"path\":\"/dev/01234567890123456789012345678901234567890123456789012345\\u0036\\u0037\","
		    "\"major\":0,"
		    "\"minor\":4294967295,\"fileMode\":1,\"uid\":1,\"gid\":1"),
	};
	struct why why;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		autoreply struct reply r = { 0 };

		ok(reply_decode(good[i], strlen(good[i]), &r, &why) == 0,
		    "accepted: %.150s", good[i]);
		ok(r.kind != REPLY_GRANT || r.edits.env_secret, "  variables are secret where the reply does not say");
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		autoreply struct reply r = { 0 };

		why = (struct why){ 0 };
		is_int(reply_decode(bad[i], strlen(bad[i]), &r, &why), -1, "refused: %.150s", bad[i]);
		ok(why.code == WHY_DATA && why.text[0] != '\0',
		    "  the message says why: %.60s", why.text);
	}
}

#if !defined(__SANITIZE_ADDRESS__)
/*
 * What happens when memory runs out while a reply is written. (Reading is not tested: jansson's
 * parser calls abort().)
 */

/* The two functions return the text of a whole reply, or NULL. */
static struct reply sample, busy;

static char *
encode_reply(void)
{
	return reply_encode(&sample);
}

static char *
encode_busy(void)
{
	return reply_encode(&busy);
}

static void
test_memory(void)
{
	struct caller_op *c;

	fill(&sample, true);
	starve("a reply is written", encode_reply);
	reply_free(&sample);
	busy = (struct reply){ .kind = REPLY_BUSY, .why = { WHY_AGAIN, "taken" } };
	if (ok((c = caller_ops_add(&busy.ops)) != NULL, "a chore is added")) {
		c->file = strdup("aa-0");
		c->id = strdup("c1");
		c->devcgroup = strdup("devices/a-name-that-is-longer-than-a-small-buffer");
		ok(caller_op_add_node(c, &(struct promised_node){ 195, 0, true }) && caller_op_add_node(c, &(struct promised_node){ 195, 1, false }) && strlist_add(&c->cgroups, "x/y", SIZE_MAX) &&
		    strlist_add(&c->cgroups, "z", SIZE_MAX), "the chore gets nodes and cgroups");
		starve("a reply with chores is written", encode_busy);
	}
	reply_free(&busy);
}
#else
static void
test_memory(void)
{
	skip("when memory runs out", "a sanitizer has its own allocator");
}
#endif

int
main(void)
{
	test_reply_grant(true);
	test_reply_grant(false);
	test_reply_others();
	test_reply_no_text();
	test_reply_ops();
	test_reply_line();
	test_notes();
	test_reply_refused();
	test_memory();
	return done_testing();
}
