/* See nvhook.h. */
#include "nvhook.h"

#include <stdio.h>
#include <string.h>

#include "../base/path.h"
#include "../base/text.h"

/* The tool's subcommand, and the index of its first option; NULL if the program is not the tool. */
static const char *
verb_of(const struct cdi_hook *h, size_t *options)
{
	const char *name = h->path != NULL && h->path[0] == '/' ? path_last(h->path) : "";
	const bool ctk = strcmp(name, "nvidia-ctk") == 0;
	const size_t at = ctk ? 2 : 1;

	if ((!ctk && strcmp(name, "nvidia-cdi-hook") != 0) || h->args.n <= at || (ctk && strcmp(h->args.v[1], "hook") != 0))
		return NULL;
	*options = at + 1;
	return h->args.v[at];
}

enum nvhook
nvhook_of(const struct cdi_hook *h)
{
	static const char *const needless[] = { "enable-cuda-compat", "disable-device-node-modification", "chmod",
		"update-application-profile", "apply-cuda-memory-limits" };
	size_t options, i;
	const char *verb = verb_of(h, &options);

	if (verb == NULL)
		return NVHOOK_NONE;
	if (strcmp(verb, "create-symlinks") == 0)
		return NVHOOK_LINKS;
	if (strcmp(verb, "update-ldcache") == 0)
		return NVHOOK_CACHE;
	for (i = 0; i < sizeof(needless) / sizeof(needless[0]); i++)
		if (strcmp(verb, needless[i]) == 0)
			return NVHOOK_NEEDLESS;
	return NVHOOK_UNKNOWN;
}

/* The next value of an option, «--link V» or «--link=V»; NULL at the end. */
static const char *
next_value(const struct cdi_hook *h, const char *option, size_t *at)
{
	const size_t len = strlen(option);
	size_t options;

	if (verb_of(h, &options) == NULL)
		return NULL;
	for (*at = *at < options ? options : *at; *at < h->args.n; ++*at) {
		const char *arg = h->args.v[*at];

		if (strcmp(arg, option) == 0 && *at + 1 < h->args.n) {
			*at += 2;
			return h->args.v[*at - 1];
		}
		if (strncmp(arg, option, len) == 0 && arg[len] == '=') {
			++*at;
			return arg + len + 1;
		}
	}
	return NULL;
}

/* Resolves a relative path from an absolute directory; «..» at "/" stays there. False if it does not fit. */
static bool
join(const char *dir, size_t dir_len, const char *path, char out[NVHOOK_PATH_MAX])
{
	size_t len = *path == '/' ? 0 : dir_len, n;

	if (len >= NVHOOK_PATH_MAX)
		return false;
	memcpy(out, dir, len);
	for (; *path != '\0'; path += n) {
		path += strspn(path, "/");
		n = strcspn(path, "/");
		if (n == 0 || (n == 1 && path[0] == '.'))
			continue;
		if (n == 2 && strncmp(path, "..", 2) == 0) {
			if (len == 0)
				return false;
			while (out[--len] != '/')
				;
			continue;
		}
		if (len + 1 + n >= NVHOOK_PATH_MAX)
			return false;
		out[len++] = '/';
		memcpy(out + len, path, n);
		len += n;
	}
	out[len] = '\0';
	return len > 0;
}

bool
nvhook_link(const struct cdi_hook *h, size_t *at, char target[NVHOOK_PATH_MAX], char link[NVHOOK_PATH_MAX])
{
	char to[NVHOOK_PATH_MAX];
	const char *value, *parts;
	struct why why;

	while ((value = next_value(h, "--link", at)) != NULL) {
		if ((parts = strstr(value, "::")) == NULL || parts == value || parts[2] != '/' || path_check(parts + 2, &why) == -1 ||
		    (size_t)(parts - value) >= sizeof(to) || strlen(parts + 2) >= NVHOOK_PATH_MAX)
			continue;
		snprintf(to, sizeof(to), "%.*s", (int)(parts - value), value);
		snprintf(link, NVHOOK_PATH_MAX, "%s", parts + 2);
		/* relative to the link's directory, without the slash at its end */
		if (join(link, (size_t)(path_last(link) - link - 1), to, target))
			return true;
	}
	return false;
}
