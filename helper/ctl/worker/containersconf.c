/* See containersconf.h.  Later files override earlier ones, key by key. */
#include "containersconf.h"

#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "../../base/text.h"
#include "../../host/file.h"
#include "toml.h"

#define CONF_MAX_BYTES (1024 * 1024)

/* In the order in which podman reads the files.  Those with «~» are a user's. */
static const char *const patterns[] = {
	"/usr/share/containers/containers.conf",
	"/usr/share/containers/containers.conf.d/*.conf",
	"/etc/containers/containers.conf",
	"/etc/containers/containers.conf.d/*.conf",
	"~/.config/containers/containers.conf",
	"~/.config/containers/containers.conf.d/*.conf",
};

/* Replaces *at by the value.  False: it is NULL. */
static bool
put(char **at, char *value)
{
	if (value != NULL) {
		free(*at);
		*at = value;
	}
	return value != NULL;
}

/* A file that is not there, or that nobody may read, says nothing. */
static int
read_file(struct podman_conf *c, const char *file, struct why *why)
{
	const int root = file_root();
	size_t len;
	autofree char *text = root != -1 ? file_read_at(root, file + 1, CONF_MAX_BYTES, &len) : NULL;
	autotoml struct toml *t = NULL;
	const struct strlist *paths;

	if (text == NULL)
		return 0;
	if ((t = toml_parse(text, len, file, why)) == NULL)
		return -1;
	if (put(&c->runtime, toml_string(t, "engine", "runtime")) && !put(&c->file, strdup(file)))
		return refuse_nomem(why);
	paths = toml_strings(toml_find(t, "engine", "runtimes", PODMAN_RUNTIME));
	return paths == NULL || paths->n == 0 || put(&c->path, strdup(paths->v[0])) ? 0 : refuse_nomem(why);
}

int
podman_conf_load(struct podman_conf *c, const char *home, struct why *why)
{
	glob_t found;
	int ret = 0;
	size_t i, k;

	for (i = 0; ret == 0 && i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		autofree char *pattern = NULL;

		if (*patterns[i] == '~' && home == NULL)
			break;
		if (asprintf(&pattern, "%s%s", *patterns[i] == '~' ? home : "", patterns[i] + (*patterns[i] == '~')) == -1) {
			pattern = NULL;
			return refuse_nomem(why);
		}
		if (glob(pattern, 0, NULL, &found) != 0)
			continue;
		for (k = 0; ret == 0 && k < found.gl_pathc; k++)
			ret = read_file(c, found.gl_pathv[k], why);
		globfree(&found);
	}
	return ret;
}

void
podman_conf_free(struct podman_conf *c)
{
	free(c->runtime);
	free(c->file);
	free(c->path);
	*c = (struct podman_conf){ 0 };
}
