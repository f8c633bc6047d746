/*
 * base/lines.c: each value is read back as it was written and has one spelling. Anything else is
 * refused.
 */
#include <stdlib.h>

#include "base/lines.h"
#include "nomem.h"
#include "tap.h"

/* A structure with a value of each kind. */
struct thing {
	uint32_t small;
	uint64_t large;
	int64_t time;
	bool yes;
	unsigned named;
	char text[16];
	char *copy, *maybe;
	struct strlist list;
	uint32_t *item;
	size_t items;
};

static void
item_fields(struct lines *s, void *item)
{
	field_u32(s, item);
}

static bool
thing_lines(struct lines *s, struct thing *t)
{
	static const char *const names[] = { "none", "some", "all" };

	lines_begin(s, "thing");
	field_u32(s, &t->small);
	field_u64(s, &t->large);
	field_i64(s, &t->time);
	field_bool(s, &t->yes);
	t->named = field_name(s, names, 3, t->named);
	lines_begin(s, "texts");
	field_text(s, t->text, sizeof(t->text));
	field_copy(s, &t->copy);
	field_copy_if_any(s, &t->maybe);
	fields_list(s, &t->list);
	lines_members(s, "item", (void **)&t->item, &t->items, SIZE_MAX, sizeof(*t->item), item_fields);
	return lines_finish(s);
}

static void
thing_free(struct thing *t)
{
	free(t->copy);
	free(t->maybe);
	free(t->item);
	strlist_free(&t->list);
	*t = (struct thing){ 0 };
}

static char *
written(struct thing *t)
{
	struct buf b = { 0 };

	if (thing_lines(&(struct lines){ .out = &b }, t))
		return buf_take(&b);
	buf_free(&b);
	return NULL;
}

static bool
is_read(const char *text, size_t len, struct thing *t)
{
	*t = (struct thing){ 0 };
	return thing_lines(&(struct lines){ .at = text, .end = text + len }, t);
}

#define WHOLE "thing 7 18446744073709551615 0 yes all\ntexts a%20b %2D - one - %2D\nitem 1\nitem 4294967295\nend\n"

static void
test_both_ways(void)
{
	char dash[] = "-", one[] = "one", none[] = "";
	char *list[] = { one, none, dash };
	uint32_t items[] = { 1, UINT32_MAX };
	struct thing t = { .small = 7, .large = UINT64_MAX, .yes = true, .named = 2, .text = "a b", .copy = dash,
		.list = { list, 3 }, .item = items, .items = 2 }, back;
	char *text = written(&t);

	is_str(text, WHOLE, "all values are written");
	ok(is_read(text, strlen(text), &back), "all values are read");
	ok(back.small == 7 && back.large == UINT64_MAX && back.time == 0 && back.yes &&
	    back.named == 2,
	    "the numbers are the same");
	ok(strcmp(back.text, "a b") == 0 && strcmp(back.copy, "-") == 0 && back.maybe == NULL,
	    "the texts are the same");
	ok(back.list.n == 3 && strcmp(back.list.v[0], "one") == 0 && back.list.v[1][0] == '\0' && strcmp(back.list.v[2], "-") == 0,
	    "the list is the same");
	ok(back.items == 2 && back.item[0] == 1 && back.item[1] == UINT32_MAX,
	    "the lines are the same");
	free(text);
	thing_free(&back);
}

/* Each byte at each place of a word. */
static void
test_bytes(void)
{
	struct thing t = { .copy = NULL }, back;
	char copy[8], *text;
	bool all = true;
	int c, at;

	for (c = 1; c < 256; c++)
		for (at = 0; at < 3; at++) {
			snprintf(copy, sizeof(copy), "%s%c%s", at == 0 ? "" : "x", c, at == 1 ? "y" : "");
			t.copy = copy;
			snprintf(t.text, sizeof(t.text), "%s", copy);
			text = written(&t);
			all = all && text != NULL && is_read(text, strlen(text), &back) && strcmp(back.copy, copy) == 0 &&
			    strcmp(back.text, copy) == 0 && strspn(text, "\n !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ"
			    "[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~") == strlen(text);
			free(text);
			thing_free(&back);
		}
	ok(all, "every byte is read back, and the text is ASCII");
}

static void
test_lengths(void)
{
	char fifteen[] = "123456789 12345", sixteen[] = "123456789 123456", text[256];
	struct thing back;

	snprintf(text, sizeof(text), "thing 0 0 0 no none\ntexts 123456789%%20%s - -\nend\n", fifteen + 10);
	ok(is_read(text, strlen(text), &back) && strcmp(back.text, fifteen) == 0,
	    "a text of the greatest length is read");
	thing_free(&back);
	snprintf(text, sizeof(text), "thing 0 0 0 no none\ntexts 123456789%%20%s - -\nend\n", sixteen + 10);
	ok(!is_read(text, strlen(text), &back) && back.text[0] == '\0',
	    "a text that is too long is refused");
	thing_free(&back);
}

/* The whole text with one piece changed. */
static void
test_refused(void)
{
	static const struct {
		const char *piece, *other;
	} t[] = {
		{ "thing 7", "thing  7" }, { "thing 7", "thing" }, { "thing 7", "thing\n7" }, { "thing", "things" }, { "thing", "" },
		{ "thing 7", "Thing 7" }, { "7 ", "07 " }, { "7 ", "+7 " }, { "7 ", "-7 " }, { "7 ", "- " }, { "7 ", "%37 " }, { "7 ", "4294967296 " },
		{ "7 ", "0x7 " }, { "7 ", "7. " }, { "7 ", "7\t" }, { "615 ", "616 " }, { "615 ", "6150 " }, { " 0 yes", " 9223372036854775808 yes" },
		{ "yes", "Yes" }, { "yes", "1" }, { "yes", "-" }, { "yes all", "yes" }, { "all", "every" }, { "all", "al" }, { "all", "all " },
		{ "all\n", "all 1\n" }, { "all\n", "all\r\n" }, { "all\n", "all\n\n" }, { "%20", "%0" }, { "%20", "%" }, { "%20", "%2g" },
		{ "%20", "%00" }, { "%20", "%41" }, { "%20", "%2D" }, { "%20", "\xc3\xa4" }, { "%20", "\x7f" }, { "%2D - one", "%2d - one" },
		{ "%2D - one", "%25D- - one%" }, { "texts a", "texts" }, { "texts", "text" }, { "item 1", "item" }, { "item 1", "item 1 2" }, { "item 1", "item one" },
		{ "item 1\n", "\nitem 1\n" }, { "item 1\n", "item 1" }, { "end\n", "end" }, { "end\n", "end\n\n" }, { "end\n", "end \n" }, { "end\n", "" },
		{ "end\n", "end\nend\n" }, { "end\n", "more\nend\n" }, { "thing", " thing" }, { "thing", "\nthing" },
	};
	struct thing back;
	char text[512];
	const char *at;
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		at = strstr(WHOLE, t[i].piece);
		snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - WHOLE), WHOLE, t[i].other, at + strlen(t[i].piece));
		ok(!is_read(text, strlen(text), &back),
		    "«%s» instead of «%s» is refused", t[i].other, t[i].piece);
		thing_free(&back);
	}
	for (i = 0; i < strlen(WHOLE); i++) {
		memcpy(text, WHOLE, i);
		if (is_read(text, i, &back))
			break;
		thing_free(&back);
	}
	is_int((long)i, (long)strlen(WHOLE), "no truncated text is accepted");
}

/* With any byte changed, the text is refused, or is exactly what is written. */
static void
test_one_spelling(void)
{
	char text[sizeof(WHOLE)], *again;
	struct thing back;
	unsigned read = 0;
	bool same = true;
	size_t i;
	int c;

	for (i = 0; i < strlen(WHOLE); i++)
		for (c = 0; c < 256; c++) {
			memcpy(text, WHOLE, sizeof(text));
			text[i] = (char)c;
			if (is_read(text, strlen(WHOLE), &back)) {
				read++;
				again = written(&back);
				same = same && again != NULL && strlen(again) == strlen(WHOLE) && memcmp(again, text, strlen(WHOLE)) == 0;
				free(again);
			}
			thing_free(&back);
		}
	ok(same && read > strlen(WHOLE),
	    "every accepted text has one spelling (%u were accepted)", read);
}

#if !defined(__SANITIZE_ADDRESS__)
static char *
round_trip(void)
{
	struct thing t;
	char *text = NULL;

	if (is_read(WHOLE, strlen(WHOLE), &t))
		text = written(&t);
	thing_free(&t);
	return text;
}
#endif

static void
test_nomem(void)
{
#if !defined(__SANITIZE_ADDRESS__)
	struct lines s = { .at = WHOLE, .end = WHOLE + strlen(WHOLE) };
	struct thing t = { 0 };

	starve("a text is read and written", round_trip);
	fail_at = 1;
	ok(!thing_lines(&s, &t) && s.nomem, "missing memory is told apart from a malformed text");
	fail_at = -1;
	thing_free(&t);
#else
	skip("when memory runs out", "a sanitizer has its own allocator");
#endif
}

int
main(void)
{
	test_both_ways();
	test_bytes();
	test_lengths();
	test_refused();
	test_one_spelling();
	test_nomem();
	return done_testing();
}
