/*
 * libFuzzer entry for helper/json/doc.c: jansson accepts the same texts (except those beyond its limits), the nodes lie
 * inside the text and inside each other, and unedited parts come out unchanged.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../helper/json/doc.h"
#include "fuzz.h"

/* Whether node n and everything in it are within [from, to). */
static void
check_nodes(const struct doc *d, uint32_t n, size_t from, size_t to)
{
	uint32_t k, count = 0;
	char *s;

	must(n < d->nodes && d->node[n].start >= from && d->node[n].end > d->node[n].start && d->node[n].end <= to);
	if (doc_is(d, n, DOC_STRING)) {
		if ((s = doc_string(d, n)) != NULL)
			must(doc_equals(d, n, s) && doc_contains(d, n, s) && doc_contains(d, n, ""));
		free(s);
		return;
	}
	for (k = doc_first(d, n), from = d->node[n].start + 1; k != DOC_NONE; k = doc_next(d, k), count++) {
		check_nodes(d, k, from, d->node[n].end - 1);
		from = d->node[k].end;
		if (doc_is(d, n, DOC_OBJECT)) {
			must(doc_is(d, k, DOC_STRING));
			check_nodes(d, doc_value(d, k), from, d->node[n].end - 1);
			from = d->node[doc_value(d, k)].end;
		}
	}
	must(count == d->node[n].count);
}

/* With one more member it is still a document, and the rest of its bytes are unchanged. */
static void
check_edits(const struct doc *d)
{
	struct doc_edits e = { 0 };
	struct doc after;
	struct why why;
	size_t len, len2;
	char *same, *more;

	same = doc_apply(d, &e, &len);
	must(same != NULL && len == d->len && memcmp(same, d->text, len) == 0);
	free(same);
	if (!doc_is(d, 0, DOC_OBJECT))
		return;
	doc_set(&e, d, 0, "\"new\\", "[1e400]");
	doc_set(&e, d, 0, "newer", "{}");
	more = doc_apply(d, &e, &len2);
	doc_edits_free(&e);
	must(more != NULL && doc_parse(&after, more, len2, &why) == 0);
	must(doc_is(&after, doc_get(&after, 0, "\"new\\"), DOC_ARRAY) && doc_is(&after, doc_get(&after, 0, "newer"),
	    DOC_OBJECT));
	doc_free(&after);
	free(more);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	json_error_t err = { 0 };
	struct why why = { 0 };
	struct doc d;
	json_t *j;
	bool ours;

	ours = doc_parse(&d, text, size, &why) == 0;
	must(ours || (why.code == WHY_DATA && text_is_utf8(why.text, strlen(why.text))));
	if (ours) {
		check_nodes(&d, 0, 0, size);
		check_edits(&d);
	}
	doc_free(&d);
	j = json_loadb(text, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL, &err);
	if (j == NULL)
		must(!ours || json_error_code(&err) == json_error_numeric_overflow ||
		    json_error_code(&err) == json_error_null_byte_in_key);
	else		/* jansson nests deeper, and loses a NUL that follows a number */
		must(ours || strstr(why.text, "nested too deep") != NULL || memchr(data, '\0', size) != NULL);
	json_decref(j);
	return 0;
}
