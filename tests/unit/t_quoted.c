/* base/quoted.c: what a stranger chose can't be read as ours. */
#include "base/quoted.h"
#include "base/text.h"
#include "tap.h"

int
main(void)
{
	static const struct {
		const char *text, *shown;
	} t[] = {
		{ "ml/train", "ml/train" },
		{ "Pull-Requests_2.x:a@b+c=d,e*#~%", "Pull-Requests_2.x:a@b+c=d,e*#~%" },
		{ "", "\"\"" },
		{ "a b", "\"a b\"" },
		{ "train {\"pr\":\"17\"} job fit by token", "\"train {\\\"pr\\\":\\\"17\\\"} job fit by token\"" },
		{ "x\" by token \"", "\"x\\\" by token \\\"\"" },
		{ "x\\\" by token", "\"x\\\\\\\" by token\"" },
		{ "x;y", "\"x;y\"" },
		{ "(none)", "\"(none)\"" },
		{ "a\342\200\203by\342\200\203token", "\"a\342\200\203by\342\200\203token\"" },	/* wide spaces */
		{ "t\303\251st", "\"t\303\251st\"" },
		{ "a\nb", "\"a\nb\"" },
	};
	char text[2 * QUOTED_MAX], out[QUOTED_MAX];
	size_t i, n;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		is_str(quoted(t[i].text), t[i].shown, "%s", t[i].shown);
	for (n = 1; n < sizeof(text); n++) {
		memset(text, '"', n);
		text[n] = '\0';
		quoted_text(text, out);
		if (strlen(out) >= QUOTED_MAX || out[strlen(out) - 1] != '"' || (strlen(out) - 2) % 2 != 0)
			break;
	}
	is_int(n, sizeof(text), "a text that is too long is cut between whole characters, and closed");
	for (n = 1; n < sizeof(text) / 2; n++) {
		for (i = 0; i < n; i++)
			memcpy(text + 2 * i, "\303\251", 3);
		quoted_text(text, out);
		if (strlen(out) >= QUOTED_MAX || !text_is_utf8(out, strlen(out)))
			break;
	}
	is_int(n, sizeof(text) / 2, "and so is one of longer characters");
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	quoted_text(text, out);
	ok(out[0] == '"' && strlen(out) == QUOTED_MAX - 1, "a long word that was cut is quoted");
	return done_testing();
}
