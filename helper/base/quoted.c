/* See quoted.h. Computes only. */
#include "quoted.h"

#include <stdio.h>
#include <string.h>

#include "text.h"

static bool
is_one_word(const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@+=,*#~%";
	const size_t n = strspn(text, plain);

	return n > 0 && text[n] == '\0' && n < QUOTED_MAX;
}

const char *
quoted_text(const char *text, char out[QUOTED_MAX])
{
	char *to = out;
	size_t n, room = QUOTED_MAX - 3;	/* both marks, and the end */

	if (is_one_word(text)) {
		snprintf(out, QUOTED_MAX, "%s", text);
		return out;
	}
	for (*to++ = '"'; *text != '\0'; text += n) {
		const size_t more = *text == '"' || *text == '\\';

		/* whole characters only (UTF-8) */
		for (n = 1; (text[n] & 0xc0) == 0x80; n++)
			;
		if (n + more > room)
			break;
		room -= n + more;
		if (more)
			*to++ = '\\';
		memcpy(to, text, n);
		to += n;
	}
	*to++ = '"';
	*to = '\0';
	return out;
}
