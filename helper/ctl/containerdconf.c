/*
 * See containerdconf.h.  Reads the three settings that matter, as people write them
 * (a line each), and not TOML: the answer is for a person, who is told what it goes by.
 */
#include "containerdconf.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../host/file.h"
#include "../pure/cleanup.h"
#include "../pure/text.h"

#define CONF_MAX_BYTES (1024 * 1024)

/* What stands between quotes after «from» in the line, if it begins with «start»; NULL: nothing such. */
static char *
quoted(const char *from, const char *start)
{
	const char *end;

	for (; (from = strpbrk(from, "\"'")) != NULL; from = end + 1) {
		if ((end = strchr(from + 1, *from)) == NULL)
			return NULL;
		if (text_starts(from + 1, start))
			return strndup(from + 1, (size_t)(end - from - 1));
	}
	return NULL;
}

/* Of «key» in a section whose name has «section» in it ("": before the first one), the value that begins so. */
static char *
setting(const char *text, const char *section, const char *key, const char *start)
{
	autofree char *copy = strdup(text);
	bool in = *section == '\0';
	char *line, *save = NULL, *p;

	for (line = copy != NULL ? strtok_r(copy, "\n", &save) : NULL; line != NULL; line = strtok_r(NULL, "\n", &save)) {
		p = line + strspn(line, " \t");
		if (*p == '[') {
			in = *section != '\0' && strstr(p, section) != NULL;
			continue;
		}
		if (!in || !text_starts(p, key))
			continue;
		p += strlen(key);
		if (p[strspn(p, " \t")] == '=')
			return quoted(p, start);
	}
	return NULL;
}

char *
containerd_path(const char *file, const char *path)
{
	const int root = file_root();
	autofree char *text = NULL, *opt = NULL, *own = NULL, *off = NULL;
	char *out;

	if (file == NULL || *file != '/')
		file = "/etc/containerd/config.toml";
	if (root == -1 || (text = file_read_at(root, file + 1, CONF_MAX_BYTES, NULL)) == NULL)
		return asprintf(&out, CONTAINERD_OPT ":%s", path) != -1 ? out : NULL;
	if ((own = setting(text, "containerd.shim.v1.manager", "env", "PATH=")) != NULL)
		return strdup(own + strlen("PATH="));
	if ((off = setting(text, "", "disabled_plugins", "io.containerd.internal.v1.opt")) != NULL)
		return strdup(path);
	opt = setting(text, "containerd.internal.v1.opt", "path", "/");
	return asprintf(&out, "%s/bin:%s", opt != NULL ? opt : "/opt/containerd", path) != -1 ? out : NULL;
}
