/*
 * See claimvalue.h. The author of a pull request may have chosen the values. Must change none before it compares it: no
 * case, no Unicode form, no %XX, no space is made equal.
 */
#include "claimvalue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/path.h"
#include "../base/text.h"

char *
claim_value_text(const json_t *value)
{
	char *text = NULL;

	if (value == NULL)
		return strdup("absent");
	if (json_is_string(value))
		return asprintf(&text, "\"%s", json_string_value(value)) == -1 ? NULL : text;
	if (json_is_integer(value))
		return asprintf(&text, "%lld", (long long)json_integer_value(value)) == -1 ? NULL : text;
	if (json_is_boolean(value))
		return strdup(json_is_true(value) ? "true" : "false");
	return strdup(json_is_null(value) ? "null" : json_is_array(value) ? "list" : json_is_object(value) ? "group" :
	    "fraction");
}

void
claim_value_describe(const char *text, char out[80])
{
	char shown[72], *p;

	if (text == NULL)
		snprintf(out, 80, "not known");
	else if (strcmp(text, "absent") == 0)
		snprintf(out, 80, "not there");
	else if (*text == '"') {
		text_printable(shown, sizeof(shown), text + 1);
		/* or the value could end the quotation, and go on in words of ours */
		for (p = shown; (p = strchr(p, '"')) != NULL; p++)
			*p = '\'';
		snprintf(out, 80, "\"%s\"%s", shown, strlen(text + 1) >= sizeof(shown) ? "..." : "");
	} else if (strcmp(text, "list") == 0 || strcmp(text, "group") == 0 || strcmp(text, "fraction") == 0)
		snprintf(out, 80, "a %s", text);
	else
		snprintf(out, 80, "%.70s", text);
}

void
claim_value_describe_wanted(const char *text, char out[80])
{
	if (strcmp(text, "absent") == 0)
		snprintf(out, 80, "a token without it");
	else
		claim_value_describe(text, out);
}

bool
claim_value_has_control(const char *text)
{
	const unsigned char *p;

	for (p = (const unsigned char *)text; *p != '\0'; p++)
		if (*p < 0x20 || *p == 0x7f || (*p == 0xc2 && p[1] >= 0x80 && p[1] <= 0x9f))
			return true;
	return false;
}

bool
claim_value_is(const char *value, const char *wanted)
{
	return value != NULL && (strcmp(value, wanted) == 0 || (strcmp(wanted, "absent") == 0 && strcmp(value, "null") == 0));
}

bool
claim_value_matches(const char *value, const char *wanted)
{
	if (value == NULL || *wanted != '"' || !glob_is(wanted))
		return claim_value_is(value, wanted);
	return !claim_value_has_control(value) && glob_match(wanted, value);
}
