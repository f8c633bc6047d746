/* See path.h. Compares text only, and must never look at a file system. */
#include "path.h"

#include <string.h>

#include "text.h"

int
path_check(const char *path, struct why *why)
{
	size_t len = strlen(path), i, part = 0;

	if (path[0] != '/')
		return refuse(why, WHY_DATA, "path \"%s\" is not absolute", path);
	if (len > 1023)
		return refuse(why, WHY_DATA, "path \"%.60s...\" is longer than 1023 bytes", path);
	if (!text_is_utf8(path, len))
		return refuse(why, WHY_DATA, "path \"%s\" is not UTF-8", path);
	if (len == 1)
		return 0;
	for (i = 1; i <= len; i++) {
		if ((unsigned char)path[i] >= 0x20 && path[i] != 0x7f && path[i] != '/') {
			part++;
			continue;
		}
		if (path[i] != '/' && path[i] != '\0')
			return refuse(why, WHY_DATA, "path \"%s\" has a control byte in it", path);
		if (part == 0)
			return refuse(why, WHY_DATA, "path \"%s\" has an empty component or ends with \"/\"", path);
		if ((part == 1 && path[i - 1] == '.') || (part == 2 && path[i - 1] == '.' && path[i - 2] == '.'))
			return refuse(why, WHY_DATA, "path \"%s\" has a \".\" or \"..\" in it", path);
		if (part > 255)
			return refuse(why, WHY_DATA, "path \"%.60s...\" has a component longer than 255 bytes", path);
		part = 0;
	}
	return 0;
}

bool
path_is_clean(const char *path)
{
	struct why ignored;

	return path != NULL && path_check(path, &ignored) == 0;
}

bool
paths_are_clean(const struct strlist *paths)
{
	size_t i;

	for (i = 0; i < paths->n; i++)
		if (!path_is_clean(paths->v[i]))
			return false;
	return true;
}

bool
path_at_or_beneath(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	if (n == 1)
		return true;
	return strncmp(path, dir, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

bool
path_is_beneath(const char *path, const char *dir)
{
	return path_at_or_beneath(path, dir) && strcmp(path, dir) != 0;
}

bool
path_related(const char *a, const char *b)
{
	return path_at_or_beneath(a, b) || path_at_or_beneath(b, a);
}

const char *
path_last(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

char *
path_parent(const char *path)
{
	const size_t n = (size_t)(path_last(path) - path);

	return strndup(path, n > 1 ? n - 1 : n);
}

bool
glob_match(const char *pattern, const char *name)
{
	const char *star = NULL, *retry = NULL;

	/* on a mismatch only the last star can help: let it match one more byte */
	for (;;) {
		if (*pattern == '*') {
			star = ++pattern;
			retry = name;
		} else if (*name == '\0') {
			return *pattern == '\0';
		} else if (*pattern == *name || (*pattern == '?' && *name != '/')) {
			pattern++;
			name++;
		} else if (star != NULL && *retry != '/' && *retry != '\0') {
			pattern = star;
			name = ++retry;
		} else
			return false;
	}
}

bool
glob_is(const char *pattern)
{
	return strpbrk(pattern, "*?") != NULL;
}
