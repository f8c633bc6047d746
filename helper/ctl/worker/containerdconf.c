/* See containerdconf.h. */
#include "containerdconf.h"

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
#define IMPORTS_MAX 64
#define OPT_PLUGIN "io.containerd.internal.v1.opt"
#define GRPC_PLUGIN "io.containerd.server.v1.grpc"	/* since version 4 of the form */
#define SHIM_PLUGIN "io.containerd.shim.v1.manager"

/* The plugins with CRI's runtimes, in containerd 1.x and 2.x. */
static const char *const cri[] = { "io.containerd.grpc.v1.cri", "io.containerd.cri.v1.runtime" };
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
handler_of(struct containerd_conf *c, const char *name)
{
	struct containerd_handler *v;
	size_t i;

	for (i = 0; i < c->handlers; i++)
		if (strcmp(c->handler[i].name, name) == 0)
			return &c->handler[i];
	if ((v = reallocarray(c->handler, c->handlers + 1, sizeof(*v))) == NULL)
		return NULL;
	c->handler = v;
	v[c->handlers] = (struct containerd_handler){ .name = strdup(name) };
	return v[c->handlers].name != NULL ? &v[c->handlers++] : NULL;
}

/* Reads the runtimes of a plugin's table «containerd».  False: no memory. */
static bool
read_cri(struct containerd_conf *c, const struct toml *containerd)
{
	const struct toml *runtimes = toml_find(containerd, "runtimes"), *r;
	struct containerd_handler *h;

	put(&c->usual, toml_string(containerd, "default_runtime_name"));
	for (r = runtimes != NULL ? runtimes->child : NULL; r != NULL; r = r->next) {
		if (r->name == NULL)
			continue;
		if ((h = handler_of(c, r->name)) == NULL)
			return false;
		put(&h->type, toml_string(r, "runtime_type"));
		put(&h->binary, toml_string(r, "options", "BinaryName"));
	}
	return true;
}

static void
read_disabled(struct containerd_conf *c, const struct strlist *off)
{
	size_t i;

	c->opt_off = c->opt_off || strlist_has(off, OPT_PLUGIN);
	for (i = 0; i < sizeof(cri_plugins) / sizeof(cri_plugins[0]); i++)
		c->cri_off = c->cri_off || strlist_has(off, cri_plugins[i]);
}

static void
read_shims_path(struct containerd_conf *c, const struct strlist *env)
{
	size_t i;

	for (i = 0; i < env->n; i++)
		if (text_starts(env->v[i], "PATH="))
			put(&c->path, strdup(env->v[i] + strlen("PATH=")));
}

/* False: no memory. */
static bool
read_settings(struct containerd_conf *c, const struct toml *t)
{
	const struct toml *plugins = toml_find(t, "plugins");
	const struct strlist *list;
	bool good = true;
	size_t i;

	if ((list = toml_strings(toml_find(t, "disabled_plugins"))) != NULL)
		read_disabled(c, list);
	if ((list = toml_strings(toml_find(plugins, SHIM_PLUGIN, "env"))) != NULL)
		read_shims_path(c, list);
	put(&c->opt, toml_string(plugins, OPT_PLUGIN, "path"));
	put(&c->address, toml_string(t, "grpc", "address"));
	put(&c->address, toml_string(plugins, GRPC_PLUGIN, "address"));
	for (i = 0; good && i < sizeof(cri) / sizeof(cri[0]); i++)
		good = read_cri(c, toml_find(plugins, cri[i], "containerd"));
	return good;
}

int
containerd_conf_read(struct containerd_conf *c, const char *text, const char *name, struct why *why)
{
	autotoml struct toml *t = toml_parse(text, strlen(text), name, why);

	return t == NULL ? -1 : read_settings(c, t) ? 0 : refuse_nomem(why);
}

/* Adds the files that a file imports.  Names are relative to its directory, and may be patterns (glob(7)). */
static bool
add_imports(const struct strlist *names, const char *file, struct strlist *files)
{
	glob_t found;
	bool good = true;
	size_t i, k;

	for (i = 0; good && names != NULL && i < names->n; i++) {
		const char *name = names->v[i];
		autofree char *path = NULL;

		if (asprintf(&path, "%.*s%s", *name == '/' ? 0 : (int)(strrchr(file, '/') + 1 - file), file, name) == -1)
			return (path = NULL) != NULL;
		if (glob(path, 0, NULL, &found) != 0)
			continue;
		for (k = 0; good && k < found.gl_pathc && files->n < IMPORTS_MAX; k++)
			good = strlist_has(files, found.gl_pathv[k]) || strlist_add(files, found.gl_pathv[k], SIZE_MAX);
		globfree(&found);
	}
	return good;
}

static int
load_file(struct containerd_conf *c, const char *file, struct strlist *files, struct why *why)
{
	const int root = file_root();
	size_t len;
	autofree char *text = root != -1 ? file_read_at(root, file + 1, CONF_MAX_BYTES, &len) : NULL;
	autotoml struct toml *t = NULL;

	if (text == NULL)
		return 0;
	if ((t = toml_parse(text, len, file, why)) == NULL)
		return -1;
	return read_settings(c, t) && add_imports(toml_strings(toml_find(t, "imports")), file, files) ? 0 :
	    refuse_nomem(why);
}

int
containerd_conf_load(struct containerd_conf *c, const char *file, struct why *why)
{
	autostrlist struct strlist files = { 0 };
	int ret = 0;
	size_t i;

	/* a relative path leads from the working directory of the containerd process, which is unknown here */
	if (file != NULL && *file != '/')
		return 0;
	if (!strlist_add(&files, file != NULL ? file : CONTAINERD_CONF, SIZE_MAX))
		return refuse_nomem(why);
	for (i = 0; ret == 0 && i < files.n; i++) {
		/* the list grows, and its strings stay where they are */
		ret = load_file(c, files.v[i], &files, why);
	}
	return ret;
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
