/* See containerdconf.h. */
#include "containerdconf.h"

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
#define IMPORTS_MAX 64
#define OPT_PLUGIN "io.containerd.internal.v1.opt"
#define GRPC_PLUGIN "io.containerd.server.v1.grpc"	/* since version 4 of the form */
#define SHIM_PLUGIN "io.containerd.shim.v1.manager"

/* The sections of CRI's runtimes, in containerd 1.x and 2.x. */
static const char *const cri[] = { "plugins.io.containerd.grpc.v1.cri.containerd",
	"plugins.io.containerd.cri.v1.runtime.containerd" };
static const char *const cri_plugins[] = { "io.containerd.grpc.v1.cri", "io.containerd.cri.v1.runtime", "cri" };

/* Replaces *at by the value, or by NULL if that is "".  Takes over the value; NULL changes nothing. */
static void
put(char **at, char *value)
{
	if (value == NULL)
		return;
	free(*at);
	*at = NULL;
	if (*value != '\0')
		*at = value;
	else
		free(value);
}

static struct containerd_handler *
handler_of(struct containerd_conf *c, const char *name, size_t len)
{
	struct containerd_handler *v;
	size_t i;

	for (i = 0; i < c->handlers; i++)
		if (strlen(c->handler[i].name) == len && strncmp(c->handler[i].name, name, len) == 0)
			return &c->handler[i];
	if ((v = reallocarray(c->handler, c->handlers + 1, sizeof(*v))) == NULL)
		return NULL;
	c->handler = v;
	v[c->handlers] = (struct containerd_handler){ .name = strndup(name, len) };
	return v[c->handlers].name != NULL ? &v[c->handlers++] : NULL;
}

/* Reads a key of the section plugins.….containerd.runtimes.NAME, or of its .options. */
static bool
read_handler(struct containerd_conf *c, const struct toml *t, const char *rest)
{
	const size_t n = strcspn(rest, ".");
	const bool options = strcmp(rest + n, ".options") == 0;
	struct containerd_handler *h;

	if (n == 0 || (rest[n] != '\0' && !options))
		return true;
	if ((h = handler_of(c, rest, n)) == NULL)
		return false;
	if (options && strcmp(t->key, "BinaryName") == 0)
		put(&h->binary, toml_string(t));
	else if (!options && strcmp(t->key, "runtime_type") == 0)
		put(&h->type, toml_string(t));
	return true;
}

static bool
read_cri(struct containerd_conf *c, const struct toml *t)
{
	char runtimes[80];
	size_t i;

	for (i = 0; i < sizeof(cri) / sizeof(cri[0]); i++) {
		snprintf(runtimes, sizeof(runtimes), "%s.runtimes.", cri[i]);
		if (toml_is(t, cri[i], "default_runtime_name"))
			put(&c->usual, toml_string(t));
		else if (text_starts(t->section, runtimes))
			return read_handler(c, t, t->section + strlen(runtimes));
	}
	return true;
}

static bool
read_disabled(struct containerd_conf *c, const struct toml *t)
{
	autostrlist struct strlist off = { 0 };
	size_t i;

	if (!toml_strings(t, &off))
		return false;
	c->opt_off = c->opt_off || strlist_has(&off, OPT_PLUGIN);
	for (i = 0; i < sizeof(cri_plugins) / sizeof(cri_plugins[0]); i++)
		c->cri_off = c->cri_off || strlist_has(&off, cri_plugins[i]);
	return true;
}

static bool
read_containerd_path(struct containerd_conf *c, const struct toml *t)
{
	autostrlist struct strlist env = { 0 };
	size_t i;

	if (!toml_strings(t, &env))
		return false;
	for (i = 0; i < env.n; i++)
		if (text_starts(env.v[i], "PATH="))
			put(&c->path, strdup(env.v[i] + strlen("PATH=")));
	return true;
}

static bool
read_key(struct containerd_conf *c, const struct toml *t)
{
	if (toml_is(t, "", "disabled_plugins"))
		return read_disabled(c, t);
	if (toml_is(t, "plugins." SHIM_PLUGIN, "env"))
		return read_containerd_path(c, t);
	if (toml_is(t, "plugins." OPT_PLUGIN, "path"))
		put(&c->opt, toml_string(t));
	else if (toml_is(t, "grpc", "address") || toml_is(t, "plugins." GRPC_PLUGIN, "address"))
		put(&c->address, toml_string(t));
	else
		return read_cri(c, t);
	return true;
}

bool
containerd_conf_read(struct containerd_conf *c, const char *text)
{
	struct toml t;
	bool good = true;

	toml_begin(&t, text);
	while (good && toml_next(&t))
		good = read_key(c, &t);
	toml_end(&t);
	return good;
}

/* Adds the files that a file imports.  Names are relative to its directory, and may be patterns (glob(7)). */
static bool
add_imports(const char *text, const char *file, struct strlist *files)
{
	autostrlist struct strlist names = { 0 };
	struct toml t;
	glob_t found;
	bool good = true;
	size_t i, k;

	toml_begin(&t, text);
	while (good && toml_next(&t))
		good = !toml_is(&t, "", "imports") || toml_strings(&t, &names);
	toml_end(&t);
	for (i = 0; good && i < names.n; i++) {
		autofree char *path = NULL;

		if (asprintf(&path, "%.*s%s", *names.v[i] == '/' ? 0 : (int)(strrchr(file, '/') + 1 - file), file, names.v[i]) == -1)
			return (path = NULL) != NULL;
		if (glob(path, 0, NULL, &found) != 0)
			continue;
		for (k = 0; good && k < found.gl_pathc && files->n < IMPORTS_MAX; k++)
			good = strlist_has(files, found.gl_pathv[k]) || strlist_add(files, found.gl_pathv[k], SIZE_MAX);
		globfree(&found);
	}
	return good;
}

bool
containerd_conf_load(struct containerd_conf *c, const char *file)
{
	const int root = file_root();
	autostrlist struct strlist files = { 0 };
	bool good;
	size_t i;

	/* a relative path leads from the working directory of the containerd process, which is unknown here */
	if (file != NULL && *file != '/')
		return true;
	good = strlist_add(&files, file != NULL ? file : CONTAINERD_CONF, SIZE_MAX);
	for (i = 0; good && i < files.n; i++) {
		autofree char *text = root != -1 ? file_read_at(root, files.v[i] + 1, CONF_MAX_BYTES, NULL) : NULL;

		good = text == NULL || (containerd_conf_read(c, text) && add_imports(text, files.v[i], &files));
	}
	return good;
}

void
containerd_conf_free(struct containerd_conf *c)
{
	size_t i;

	for (i = 0; i < c->handlers; i++) {
		free(c->handler[i].name);
		free(c->handler[i].type);
		free(c->handler[i].binary);
	}
	free(c->handler);
	free(c->opt);
	free(c->path);
	free(c->address);
	free(c->usual);
	*c = (struct containerd_conf){ 0 };
}

char *
containerd_path(const struct containerd_conf *c, const char *path)
{
	char *out;

	if (c->path != NULL)
		return strdup(c->path);
	if (c->opt_off)
		return strdup(path);
	return asprintf(&out, "%s/bin:%s", c->opt != NULL ? c->opt : "/opt/containerd", path) != -1 ? out : NULL;
}

const char *
containerd_handler_calls(const struct containerd_handler *h, const char *wrapper)
{
	static const char *const shims[] = { "io.containerd.runc.v2", "io.containerd.runc.v1",
		"io.containerd.runtime.v1.linux", NULL };

	if (h->type != NULL && !text_among(h->type, shims))
		return h->type;
	return h->binary == NULL || strcmp(h->binary, wrapper) == 0 || strcmp(h->binary, "runc") == 0 ? NULL : h->binary;
}
