/* See daemonjson.h.  Each function makes one change, by the place of a value in the text, and reads the text anew. */
#include "daemonjson.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "../../base/text.h"
#include "../../host/file.h"
#include "../../json/doc.h"
#include "../ctl.h"

#define USUAL "default-runtime"
#define RUNTIMES "runtimes"
#define CONF_MAX_BYTES (1024 * 1024)
#define ENTRY "{ \"path\": \"" WRAPPER "\" }"
/* What undo leaves; the runtime's path stands between the two.  The empty list tells it from other people's entries. */
#define REST "{ \"path\": \""
#define REST_END "\", \"runtimeArgs\": [] }"

char *
daemon_json_load(void)
{
	autoclose int fd = open(DOCKER_CONF, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);

	if (fd == -1)
		return errno == ENOENT || errno == ENOTDIR ? strdup("") : NULL;
	return file_read_fd(fd, CONF_MAX_BYTES, NULL);
}

static int
parse(struct doc *d, const char *text, struct why *why)
{
	if (doc_parse(d, text, strlen(text), why) == -1)
		return refuse_within(why, "daemon.json");
	if (!doc_is(d, 0, DOC_OBJECT))
		return refuse(why, WHY_DATA, "daemon.json is no JSON object");
	return 0;
}

/*
 * True for the wrapper without arguments. Setup writes nothing else, so any other entry of our name is somebody
 * else's.
 */
static bool
is_ours(const struct doc *d, uint32_t entry)
{
	return doc_is(d, entry, DOC_OBJECT) && d->node[entry].count == 1 && doc_equals(d, doc_get(d, entry, "path"), WRAPPER);
}

static bool
is_rest(const struct doc *d, uint32_t entry)
{
	const uint32_t path = doc_get(d, entry, "path"), args = doc_get(d, entry, "runtimeArgs");

	return doc_is(d, entry, DOC_OBJECT) && d->node[entry].count == 2 && doc_is(d, path, DOC_STRING) &&
	    !doc_equals(d, path, WRAPPER) && doc_is(d, args, DOC_ARRAY) && d->node[args].count == 0;
}

int
daemon_json_read(const char *text, struct daemon_json *out, struct why *why)
{
	autodoc struct doc d = { 0 };
	uint32_t runtimes, entry;

	*out = (struct daemon_json){ 0 };
	if (*text == '\0')
		return 0;
	if (parse(&d, text, why) == -1)
		return -1;
	runtimes = doc_get(&d, 0, RUNTIMES);
	if (runtimes != DOC_NONE && !doc_is(&d, runtimes, DOC_OBJECT))
		return refuse(why, WHY_DATA, "daemon.json: \"" RUNTIMES "\" is no object");
	entry = doc_get(&d, runtimes, DOCKER_RUNTIME);
	out->runtime = is_ours(&d, entry);
	out->rest = is_rest(&d, entry);
	if (entry != DOC_NONE && !out->runtime && !out->rest)
		return refuse(why, WHY_CONFIG, "daemon.json: the runtime \"" DOCKER_RUNTIME "\" is not as setup writes it: see "
		    "who wrote it, and remove it");
	out->usual = doc_string(&d, doc_get(&d, 0, USUAL));
	out->data_root = doc_string(&d, doc_get(&d, 0, "data-root"));
	out->driver = doc_string(&d, doc_get(&d, 0, "storage-driver"));
	return 0;
}

void
daemon_json_free(struct daemon_json *d)
{
	free(d->usual);
	free(d->data_root);
	free(d->driver);
	*d = (struct daemon_json){ 0 };
}

/* Replaces the bytes [start, end) of the text.  NULL with *why. */
static char *
replace_part(const char *text, size_t start, size_t end, const char *new, struct why *why)
{
	autobuf struct buf b = { 0 };
	char *out;

	buf_add(&b, text, start);
	buf_puts(&b, new);
	buf_puts(&b, text + end);
	if ((out = buf_take(&b)) == NULL)
		refuse_nomem(why);
	return out;
}

/* Adds «"key": value» after the last member, on a line of its own if the first member has one. */
static char *
add_member(const struct doc *d, uint32_t obj, const char *key, const char *value, struct why *why)
{
	const uint32_t first = doc_first(d, obj);
	const size_t open = d->node[obj].start + 1;
	autobuf struct buf b = { 0 };
	uint32_t last = first;

	if (first == DOC_NONE) {
		buf_printf(&b, "\n    \"%s\": %s\n", key, value);
		return b.failed ? (refuse_nomem(why), NULL) : replace_part(d->text, open, d->node[obj].end - 1, b.p, why);
	}
	while (doc_next(d, last) != DOC_NONE)
		last = doc_next(d, last);
	buf_puts(&b, ",");
	buf_add(&b, d->text + open, d->node[first].start - open);
	buf_printf(&b, "\"%s\": %s", key, value);
	return b.failed ? (refuse_nomem(why), NULL) :
	    replace_part(d->text, d->node[doc_value(d, last)].end, d->node[doc_value(d, last)].end, b.p, why);
}

/* Removes a member, with the comma before it, or after it if it is the first one. */
static char *
remove_member(const struct doc *d, uint32_t obj, const char *key, struct why *why)
{
	const uint32_t value = doc_get(d, obj, key);
	uint32_t k = doc_first(d, obj), before = DOC_NONE;

	for (; doc_value(d, k) != value; k = doc_next(d, k))
		before = k;
	if (before != DOC_NONE)
		return replace_part(d->text, d->node[doc_value(d, before)].end, d->node[value].end, "", why);
	if (doc_next(d, k) != DOC_NONE)
		return replace_part(d->text, d->node[k].start, d->node[doc_next(d, k)].start, "", why);
	return replace_part(d->text, d->node[obj].start + 1, d->node[obj].end - 1, "", why);
}

/* Sets a member of the document, or of its «runtimes».  Replaces and frees *text.  -1 with *why, and *text stays. */
static int
set(char **text, bool in_runtimes, const char *key, const char *value, struct why *why)
{
	autodoc struct doc d = { 0 };
	uint32_t obj, n;
	char *new;

	if (parse(&d, *text, why) == -1)
		return -1;
	obj = in_runtimes ? doc_get(&d, 0, RUNTIMES) : 0;
	n = doc_get(&d, obj, key);
	new = n == DOC_NONE ? add_member(&d, obj, key, value, why) :
	    replace_part(*text, d.node[n].start, d.node[n].end, value, why);
	if (new == NULL)
		return -1;
	free(*text);
	*text = new;
	return 0;
}

static int
take_away(char **text, bool in_runtimes, const char *key, struct why *why)
{
	autodoc struct doc d = { 0 };
	char *new;

	if (parse(&d, *text, why) == -1 ||
	    (new = remove_member(&d, in_runtimes ? doc_get(&d, 0, RUNTIMES) : 0, key, why)) == NULL)
		return -1;
	free(*text);
	*text = new;
	return 0;
}

/* The number of members of «runtimes»; -1 if the document has none. */
static int
count_runtimes(const char *text)
{
	autodoc struct doc d = { 0 };
	struct why ignored;
	uint32_t n;

	if (doc_parse(&d, text, strlen(text), &ignored) == -1 || (n = doc_get(&d, 0, RUNTIMES)) == DOC_NONE)
		return -1;
	return (int)d.node[n].count;
}

bool
daemon_json_is_default(const struct daemon_json *now)
{
	return now->usual != NULL && strcmp(now->usual, DOCKER_RUNTIME) == 0;
}

/* One of the changes below, of which *how says more. */
typedef int change_text(char **text, const struct daemon_json *now, const void *how, struct why *why);

/* A changed copy of the text, which the caller frees.  NULL with *why. */
static char *
change_copy(const char *text, const struct daemon_json *now, change_text *change, const void *how, struct why *why)
{
	char *out = strdup(text);

	if (out == NULL)
		refuse_nomem(why);
	else if (change(&out, now, how, why) == -1) {
		free(out);
		out = NULL;
	}
	return out;
}

static int
add_us(char **text, const struct daemon_json *now, const void *how, struct why *why)
{
	const bool *usual = how;

	/* «runtimes» is missing or empty */
	if (!now->runtime && count_runtimes(*text) <= 0 &&
	    set(text, false, RUNTIMES, "{ \"" DOCKER_RUNTIME "\": " ENTRY " }", why) == -1)
		return -1;
	if (!now->runtime && set(text, true, DOCKER_RUNTIME, ENTRY, why) == -1)
		return -1;
	return *usual ? set(text, false, USUAL, "\"" DOCKER_RUNTIME "\"", why) : 0;
}

char *
daemon_json_with(const char *text, bool usual, struct why *why)
{
	autodaemonjson struct daemon_json now = { 0 };

	if (daemon_json_read(text, &now, why) == -1)
		return NULL;
	if (now.usual != NULL && strcmp(now.usual, "runc") != 0 && !daemon_json_is_default(&now)) {
		refuse(why, WHY_CONFIG, "daemon.json: \"" USUAL "\" is \"%.100s\": remove that line first, and name the "
		    "program of that runtime as runtime in gpuhelper.conf if containers need it", now.usual);
		return NULL;
	}
	return change_copy(*text != '\0' ? text : "{}\n", &now, add_us, &usual, why);
}

static int
remove_us(char **text, const struct daemon_json *now, const void *how, struct why *why)
{
	const bool *keep = how;
	const int others = count_runtimes(*text);

	if (daemon_json_is_default(now) &&
	    (*keep ? set(text, false, USUAL, "\"runc\"", why) : take_away(text, false, USUAL, why)) == -1)
		return -1;
	if ((!now->runtime && !now->rest) || *keep)
		return 0;
	return others > 1 ? take_away(text, true, DOCKER_RUNTIME, why) : take_away(text, false, RUNTIMES, why);
}

char *
daemon_json_without(const char *text, bool keep, struct why *why)
{
	autodaemonjson struct daemon_json now = { 0 };

	return daemon_json_read(text, &now, why) == -1 ? NULL : change_copy(text, &now, remove_us, &keep, why);
}

static int
leave_rest(char **text, const struct daemon_json *now, const void *how, struct why *why)
{
	autofree char *entry = NULL;
	const char *runtime = how, *c;

	for (c = runtime; *c != '\0'; c++)
		if ((unsigned char)*c < ' ' || *c == '"' || *c == '\\')
			return refuse(why, WHY_DATA, "\"%.200s\" has a character that setup can't write into daemon.json", runtime);
	if (asprintf(&entry, REST "%s" REST_END, runtime) == -1) {
		entry = NULL;
		return refuse_nomem(why);
	}
	if (daemon_json_is_default(now) && take_away(text, false, USUAL, why) == -1)
		return -1;
	return now->runtime || now->rest ? set(text, true, DOCKER_RUNTIME, entry, why) : 0;
}

char *
daemon_json_rest(const char *text, const char *runtime, struct why *why)
{
	autodaemonjson struct daemon_json now = { 0 };

	return daemon_json_read(text, &now, why) == -1 ? NULL : change_copy(text, &now, leave_rest, runtime, why);
}
