/*
 * host/own/record.c: the longest records that end a grant, compared with the bytes that root/log/lograte.c
 * reserves for them.
 */
#include <string.h>

#include "base/text.h"
#include "host/own/record.h"
#include "root/log/lograte.h"
#include "tap.h"

#define LINK_MAX 100	/* bytes that the chain adds to a record */

/* Fills a string with the bytes that take most room in a record: each pair becomes «\u00fc». */
static void
fill(char *s, size_t size)
{
	size_t i;

	for (i = 0; i + 2 < size; i += 2)
		memcpy(s + i, "\xc3\xbc", 2);
	s[i] = '\0';
}

static size_t
length(const struct record *r)
{
	struct buf line = { 0 };
	struct why why;
	const size_t n = record_line(r, &line, &why) == 0 ? line.len : SIZE_MAX / 4;

	buf_free(&line);
	return n + LINK_MAX;
}

int
main(void)
{
	static char id[256], policy[256], names[1024], gpus[4096], folders[4096], user[64], team[500],
	    pipeline[500];
	struct request asked = { .id = id, .untrusted.gpus = gpus, .untrusted.folders = folders,
		.spec.privileged = true };
	struct request of_lease = { .id = id };
	struct why why = { .code = WHY_AGAIN };
	struct record undo = { .event = "undo", .uid = UINT32_MAX - 1, .user = user, .pid = 4194304, .request = &asked,
		.of_lease = names, .releasing = true };
	struct record end = { .event = "draining", .uid = UINT32_MAX - 1, .pid = 4194304, .request = &of_lease,
		.of_lease = names, .policy = policy };

	const struct attribution whose = { .kind = IDENTITY_CLAIM, .team = team, .pipeline = pipeline };
	const struct record grant = { .event = "grant", .uid = UINT32_MAX - 1, .user = user, .pid = 4194304,
		.request = &asked, .whose = &whose, .policy = policy };
	size_t most;

	memset(id, 'x', sizeof(id) - 1);
	memset(user, 'u', sizeof(user) - 1);
	fill(policy, sizeof(policy));
	fill(gpus, sizeof(gpus));
	fill(folders, sizeof(folders));
	fill(names, 500);
	names[strlen(names)] = '/';
	fill(names + strlen(names), 500);
	fill(team, sizeof(team));
	fill(pipeline, sizeof(pipeline));
	most = RATE_ENDS_OF(length(&grant));
	ok(2 * length(&end) <= most, "draining and end: %zu of %zu bytes", 2 * length(&end), most);
	ok(length(&undo) + length(&end) <= most,
	    "undo and end: %zu of %zu bytes", length(&undo) + length(&end), most);
	memset(why.text, 'w', sizeof(why.text) - 1);
	undo.releasing = false;
	undo.why = &why;
	ok(length(&undo) + length(&end) <= most, "undo with its reason, and end: %zu of %zu bytes",
	    length(&undo) + length(&end), most);
	return done_testing();
}
