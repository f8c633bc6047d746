/* See jsonout.h. */
#include "jsonout.h"

#include <string.h>

/* The comma and key before a value. */
static void
put_key(struct jsonout *j, const char *key)
{
	if (j->next)
		buf_puts(&j->buf, ",");
	if (key != NULL)
		buf_printf(&j->buf, "\"%s\":", key);
	j->next = true;
}

void
jsonout_begin(struct jsonout *j, const char *key, const char *open)
{
	put_key(j, key);
	buf_puts(&j->buf, open);
	j->next = false;
}

void
jsonout_end(struct jsonout *j, const char *close)
{
	buf_puts(&j->buf, close);
	j->next = true;
}

void
jsonout_text(struct jsonout *j, const char *key, const char *text)
{
	put_key(j, key);
	if (text == NULL) {
		buf_puts(&j->buf, "null");
		return;
	}
	j->garbled = j->garbled || !text_is_utf8(text, strlen(text));
	if (j->ascii)
		buf_json_ascii(&j->buf, text);
	else
		buf_json(&j->buf, text);
}

void
jsonout_int(struct jsonout *j, const char *key, int64_t n)
{
	put_key(j, key);
	buf_printf(&j->buf, "%lld", (long long)n);
}

void
jsonout_bool(struct jsonout *j, const char *key, bool b)
{
	jsonout_json(j, key, b ? "true" : "false");
}

void
jsonout_json(struct jsonout *j, const char *key, const char *json)
{
	put_key(j, key);
	buf_puts(&j->buf, json);
}

void
jsonout_list(struct jsonout *j, const char *key, const struct strlist *l)
{
	size_t i;

	jsonout_begin(j, key, "[");
	for (i = 0; i < l->n; i++)
		jsonout_text(j, NULL, l->v[i]);
	jsonout_end(j, "]");
}

char *
jsonout_take(struct jsonout *j)
{
	char *text = j->garbled ? NULL : buf_take(&j->buf);

	jsonout_free(j);
	return text;
}

void
jsonout_free(struct jsonout *j)
{
	buf_free(&j->buf);
	*j = (struct jsonout){ .ascii = j->ascii };
}
