/*
 * gpuhelperctl's output.  It contains names that anyone may have chosen, such as a bundle's pipeline or a file's name:
 * these must not move the cursor, end a line or break the JSON.
 */
#include "ctl.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../base/cleanup.h"
#include "../base/text.h"
#include "../gpu/gpu.h"
#include "../gpu/gpufind.h"

char *
format_text(const char *fmt, va_list ap)
{
	char *text;

	/* a failed vasprintf(3) leaves the pointer undefined */
	return vasprintf(&text, fmt, ap) != -1 ? text : NULL;
}

char *
printable(const char *text)
{
	const size_t size = strlen(text) + 1;
	char *out = malloc(size);

	if (out != NULL)
		text_printable(out, size, text);
	return out;
}

static void __attribute__((format(printf, 3, 0)))
print_line(FILE *f, const char *before, const char *fmt, va_list ap)
{
	autofree char *line = format_text(fmt, ap), *safe = line != NULL ? printable(line) : NULL;

	if (safe != NULL)
		fprintf(f, "%s%s\n", before, safe);
}

void
say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_line(stdout, "", fmt, ap);
	va_end(ap);
}

int
complain(enum why_code code, const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	va_start(ap, fmt);
	print_line(stderr, "gpuhelperctl: ", fmt, ap);
	va_end(ap);
	return (int)code;
}

json_t *
error_json(const struct why *why)
{
	json_t *j = json_object();

	put_text(j, "error", why->text);
	json_object_set_new(j, "code", json_integer(why->code));
	return j;
}

int
give_up(const struct options *o, const struct why *why)
{
	if (o->json)
		put_out(error_json(why));
	return complain(why->code, "%s", why->text);
}

int
misuse(const struct options *o, const char *fmt, ...)
{
	struct why why = { .code = WHY_USAGE };
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why.text, sizeof(why.text), fmt, ap);
	va_end(ap);
	return give_up(o, &why);
}

const char *
get_text(const json_t *object, const char *key)
{
	const char *s = json_string_value(json_object_get(object, key));

	return s != NULL ? s : "";
}

json_t *
strings_json(const struct strlist *l)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < l->n; i++)
		json_array_append_new(list, json_string(l->v[i]));
	return list;
}

void
put_text(json_t *object, const char *key, const char *text)
{
	autofree char *safe = text != NULL ? printable(text) : NULL;

	if (safe != NULL)
		json_object_set_new(object, key, json_string(safe));
}

void
put_out(json_t *j)
{
	json_dumpf(j, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII);
	putchar('\n');
	json_decref(j);
}

json_t *
capability_names(unsigned mask)
{
	static const char *const names[] = {
		"compute", "utility", "graphics", "video", "display", "ngx", "compat32", NULL };
	json_t *list = json_array();
	unsigned bit;
	size_t i;

	for (i = 0; names[i] != NULL; i++)
		if (gpu_capability_parse(names[i], &bit) && (mask & bit) != 0)
			json_array_append_new(list, json_string(names[i]));
	return list;
}

void
join(const json_t *strings, char *out, size_t size)
{
	const json_t *s;
	size_t i, len = 0;
	int n;

	*out = '\0';
	json_array_foreach(strings, i, s) {
		n = snprintf(out + len, size - len, "%s%s", i > 0 ? ", " : "", json_string_value(s));
		if (n < 0 || (size_t)n >= size - len)
			return;
		len += (size_t)n;
	}
}

bool
ends_with(const char *text, const char *end)
{
	const size_t n = strlen(text), e = strlen(end);

	return n > e && strcmp(text + n - e, end) == 0;
}

int
ctl_config_dir(const char *given, char **path, bool *strict, struct why *why)
{
	size_t len = strlen(given);
	struct stat st, ours;

	while (len > 1 && given[len - 1] == '/')
		len--;
	*strict = strlen(GPUHELPER_CONFDIR) == len && strncmp(given, GPUHELPER_CONFDIR, len) == 0;
	if (stat(given, &st) == -1)
		return refuse(why, WHY_CONFIG, "%s: %s", given, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return refuse(why, WHY_CONFIG, "%s is not a directory", given);
	if (stat(GPUHELPER_CONFDIR, &ours) == 0 && ours.st_dev == st.st_dev && ours.st_ino == st.st_ino)
		*strict = true;
	/* GPUHELPER_CONFDIR, even if named by a link, is checked under the path that the helper uses */
	if ((*path = *strict ? strdup(GPUHELPER_CONFDIR) : realpath(given, NULL)) == NULL)
		return refuse(why, WHY_CONFIG, "%s: %s", given, strerror(errno));
	return 0;
}
