/* See containersconf.h.  Later files override earlier ones, key by key. */
#include "containersconf.h"

#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../host/file.h"
#include "../pure/cleanup.h"
#include "../pure/text.h"
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

static void
put(char **at, char *value)
{
	if (value != NULL) {
		free(*at);
		*at = value;
	}
}

static bool
read_file(struct podman_conf *c, const char *file)
{
	const int root = file_root();
	autofree char *text = root != -1 ? file_read_at(root, file + 1, CONF_MAX_BYTES, NULL) : NULL;
	struct toml t;

	if (text == NULL)
		return true;
	toml_begin(&t, text);
	while (toml_next(&t))
		if (toml_is(&t, "engine", "runtime")) {
			put(&c->runtime, toml_string(&t));
			put(&c->file, strdup(file));
		} else if (toml_is(&t, "engine.runtimes", PODMAN_RUNTIME))
			put(&c->path, toml_string(&t));
	toml_end(&t);
	return c->runtime == NULL || c->file != NULL;
}

bool
podman_conf_load(struct podman_conf *c, const char *home)
{
	glob_t found;
	bool good = true;
	size_t i, k;

	for (i = 0; good && i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		autofree char *pattern = NULL;

		if (*patterns[i] == '~' && home == NULL)
			break;
		if (asprintf(&pattern, "%s%s", *patterns[i] == '~' ? home : "", patterns[i] + (*patterns[i] == '~')) == -1)
			return (pattern = NULL) != NULL;
		if (glob(pattern, 0, NULL, &found) != 0)
			continue;
		for (k = 0; good && k < found.gl_pathc; k++)
			good = read_file(c, found.gl_pathv[k]);
		globfree(&found);
	}
	return good;
}

void
podman_conf_free(struct podman_conf *c)
{
	free(c->runtime);
	free(c->file);
	free(c->path);
	*c = (struct podman_conf){ 0 };
}
