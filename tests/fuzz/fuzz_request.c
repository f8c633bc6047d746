/*
 * libFuzzer entry for the messages between wrapper and helper: the request as root reads it, the reply as the wrapper
 * reads it, and a container's own ask.
 *
 * An input is «?GPUS LF FOLDERS», an ask; «!» and the bytes of a request; or else a reply in JSON.  Encoding an
 * accepted message and reading it again gives the same message.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../helper/ask/request.h"
#include "../../helper/base/path.h"
#include "../../helper/judge/requested.h"
#include "../../helper/ask/reply.h"
#include "ask/replyread.h"
#include "ask/requestwrite.h"
#include "fuzz.h"

static void
check_why(const struct why *why)
{
	must(why->code != WHY_NONE && why->code != WHY_BUG && why->text[0] != '\0');
	must(text_is_utf8(why->text, strlen(why->text)) && strchr(why->text, '\n') == NULL);
}

static void
try_request(const char *bytes, size_t len)
{
	struct request r, s;
	struct why why = { 0 };
	size_t i, n, m;
	char *one, *two;

	if (request_decode(bytes, len, &r, &why) == 0) {
		must(r.spec.uid != UINT32_MAX && r.spec.gid_count <= REQUEST_GIDS_MAX && r.spec.uids.n <= IDMAP_MAX &&
		    r.id[0] != '\0');
		must(strchr(r.id, '/') == NULL && strcmp(r.id, "..") != 0);
		must(r.retry.revoked.n <= REQUEST_REVOKED_MAX &&
		    (r.spec.init_path != NULL || (r.spec.init_file.major | r.spec.init_file.minor) == 0));
		for (i = 0; i < r.retry.revoked.n; i++)
			must(strlen(r.retry.revoked.v[i]) == 64);
		one = request_encode(&r, &n);
		must(one != NULL && n == len && memcmp(one, bytes, n) == 0 && request_decode(one, n, &s, &why) == 0);
		two = request_encode(&s, &m);
		must(two != NULL && n == m && memcmp(one, two, n) == 0);
		free(one);
		free(two);
		request_free(&s);
	} else
		check_why(&why);
	request_free(&r);
}

static void
try_reply(const char *text, size_t len)
{
	struct reply r, s;
	struct why why = { 0 };
	char *one, *two;
	size_t i;

	if (reply_decode(text, len, &r, &why) == 0) {
		if (r.kind == REPLY_REFUSED || r.kind == REPLY_BUSY)
			must(r.why.code >= WHY_USAGE && r.why.code <= WHY_CONFIG);
		for (i = 0; i < r.ops.n; i++)
			must(r.ops.v[i].kind <= OP_STOP && r.ops.v[i].id != NULL && r.ops.v[i].devcgroup != NULL &&
			    r.ops.v[i].init.pid >= 0 && r.ops.v[i].by.pid >= 0 && strlen(r.ops.v[i].lease) <= 64);
		one = reply_encode(&r);
		must(one != NULL && reply_decode(one, strlen(one), &s, &why) == 0);
		two = reply_encode(&s);
		must(two != NULL && strcmp(one, two) == 0);
		free(one);
		free(two);
		reply_free(&s);
	} else
		check_why(&why);
	reply_free(&r);
}

static void
try_ask(char *text)
{
	char *folders = strchr(text, '\n');
	struct why why = { 0 };
	struct requested a;
	size_t i;

	if (folders != NULL)
		*folders++ = '\0';
	if (requested_parse(text, folders, &a, &why) == 0) {
		must(!a.everything && a.counts <= 7 && (!a.all_gpus || a.counts + a.gpu_ids.n == 0) &&
		    (!a.all_folders || a.folders == 0));
		for (i = 0; i < a.counts; i++)
			must(a.count[i].n >= 1 && a.count[i].n <= 64);
		for (i = 0; i < a.folders; i++)
			must(path_check(a.folder[i].path, &why) == 0 && !glob_is(a.folder[i].path));
	} else
		check_why(&why);
	requested_free(&a);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (text == NULL)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	if (text[0] == '?') {
		try_ask(text + 1);
	} else if (text[0] == '!') {
		try_request(text + 1, size - 1);
	} else {
		try_reply(text, size);
	}
	free(text);
	return 0;
}
