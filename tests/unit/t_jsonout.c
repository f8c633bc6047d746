/*
 * json/jsonout.c: writes what jansson would write and can read. A text is complete, or there is
 * none.
 */
#include <jansson.h>

#include "base/cleanup.h"
#include "json/jsonout.h"
#include "nomem.h"
#include "rnd.h"
#include "tap.h"

static char *
write_sample(void)
{
	struct jsonout j = { .next = false };
	struct strlist l = { 0 };
	bool listed = strlist_add(&l, "a", SIZE_MAX) && strlist_add(&l, "b\"\\", SIZE_MAX);

	jsonout_begin(&j, NULL, "{");
	jsonout_text(&j, "text", "x\ny \xc3\xa4");
	jsonout_int(&j, "least", INT64_MIN);
	jsonout_int(&j, "most", INT64_MAX);
	jsonout_bool(&j, "yes", true);
	jsonout_bool(&j, "no", false);
	jsonout_text(&j, "null", NULL);
	jsonout_list(&j, "list", &l);
	jsonout_begin(&j, "empty", "[");
	jsonout_end(&j, "]");
	jsonout_begin(&j, "object", "{");
	jsonout_json(&j, "json", "[1]");
	jsonout_end(&j, "}");
	jsonout_begin(&j, "arrays", "[");
	jsonout_begin(&j, NULL, "[");
	jsonout_int(&j, NULL, 1);
	jsonout_int(&j, NULL, 2);
	jsonout_end(&j, "]");
	jsonout_begin(&j, NULL, "{");
	jsonout_end(&j, "}");
	jsonout_end(&j, "]");
	jsonout_end(&j, "}");
	strlist_free(&l);
	if (!listed)
		jsonout_free(&j);
	return listed ? jsonout_take(&j) : NULL;
}

static void
test_sample(void)
{
	autofree char *text = write_sample();

	is_str(text, "{\"text\":\"x\\u000ay \xc3\xa4\",\"least\":-9223372036854775808,\"most\":9223372036854775807,\"yes\":true,"
	    "\"no\":false,\"null\":null,\"list\":[\"a\",\"b\\\"\\\\\"],\"empty\":[],\"object\":{\"json\":[1]},"
	    "\"arrays\":[[1,2],{}]}", "members of all kinds are written");
}

static void
test_ascii(void)
{
	struct jsonout j = { .ascii = true };
	autofree char *text = NULL;

	jsonout_text(&j, NULL, "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80 \xf4\x8f\xbf\xbf \xed\x9f\xbf ~");
	text = jsonout_take(&j);
	is_str(text, "\"\\u00e4 \\u20ac \\ud83d\\ude00 \\udbff\\udfff \\ud7ff ~\"",
	    "characters beyond ASCII are escaped, even beyond 16 bits");
}

static unsigned
put_character(char *s, uint32_t cp)
{
	const unsigned more = cp < 0x80 ? 0 : cp < 0x800 ? 1 : cp < 0x10000 ? 2 : 3;
	static const unsigned char first[] = { 0, 0xc0, 0xe0, 0xf0 };
	unsigned i;

	s[0] = (char)(first[more] | cp >> 6 * more);
	for (i = 1; i <= more; i++)
		s[i] = (char)(0x80 | (cp >> 6 * (more - i) & 0x3f));
	return more + 1;
}

/* Random characters: jansson reads them back, and an escaped text is ASCII. */
static void
test_random(void)
{
	unsigned i, k, n, wrong = 0;

	for (i = 0; i < 20000; i++) {
		char s[64];
		struct jsonout j = { .ascii = (i & 1) != 0 };
		autofree char *text = NULL;
		json_t *back;

		for (k = 0, n = 0; k < 12; k++) {
			const uint64_t below = rnd(2) == 0 ? 0x80 : rnd(2) == 0 ? 0x800 : 0x110000;
			const uint32_t cp = (uint32_t)rnd(below);

			if (cp == 0 || (cp >= 0xd800 && cp <= 0xdfff))
				continue;
			n += put_character(s + n, cp);
		}
		s[n] = '\0';
		jsonout_text(&j, NULL, s);
		text = jsonout_take(&j);
		back = text != NULL ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
		if (back == NULL || strcmp(json_string_value(back), s) != 0)
			wrong++;
		for (k = 0; (i & 1) != 0 && text != NULL && text[k] != '\0'; k++)
			wrong += (unsigned char)text[k] > 0x7e;
		json_decref(back);
	}
	is_int(wrong, 0, "20,000 random texts: jansson reads each as it was");
}

static void
test_garbled(void)
{
	struct jsonout j = { .next = false };

	jsonout_begin(&j, NULL, "[");
	jsonout_text(&j, NULL, "caf\xe9");
	jsonout_end(&j, "]");
	ok(j.garbled, "invalid UTF-8 is noticed");
	is_str(j.buf.p, "[\"caf\\ufffd\"]", "invalid UTF-8 is replaced");
	ok(jsonout_take(&j) == NULL && j.buf.p == NULL, "the text is not given out");
}

int
main(void)
{
	test_sample();
	test_ascii();
	test_random();
	test_garbled();
#if !defined(__SANITIZE_ADDRESS__)
	starve("members of all kinds are written", write_sample);
#else
	skip(
	    "members of all kinds are written when memory runs out",
	    "a sanitizer has its own allocator");
#endif
	return done_testing();
}
