/* See folderread.h. Reads the parsed file only, and opens nothing. */
#include "folderread.h"

static void
read_path(config_setting_t *s, void *out, struct faults *f)
{
	conf_string(s, &((struct folder_rule *)out)->path, f);
}

static void
read_access(config_setting_t *s, void *out, struct faults *f)
{
	static const char *const words[] = { "ro", "rw", NULL };
	static const struct conf_alias aliases[] = { { "readonly", "ro" }, { "read-only", "ro" }, { "read", "ro" },
		{ "r", "ro" }, { "readwrite", "rw" }, { "read-write", "rw" }, { "write", "rw" }, { "w", "rw" }, { NULL, NULL } };
	unsigned i = 0;

	conf_word_or(s, words, aliases, &i, f);
	((struct folder_rule *)out)->writable = i == 1;
}

static void
read_target(config_setting_t *s, void *out, struct faults *f)
{
	conf_string(s, &((struct folder_rule *)out)->target, f);
}

static void
read_subfolders(config_setting_t *s, void *out, struct faults *f)
{
	conf_bool(s, &((struct folder_rule *)out)->subfolders, f);
}

static void
read_submounts(config_setting_t *s, void *out, struct faults *f)
{
	conf_bool(s, &((struct folder_rule *)out)->submounts, f);
}

static void
read_relabel(config_setting_t *s, void *out, struct faults *f)
{
	const char *const words[] = { relabel_name(RELABEL_NO), relabel_name(RELABEL_SHARED), relabel_name(RELABEL_PRIVATE),
		NULL };
	unsigned i = RELABEL_NO;

	conf_word(s, words, &i, f);
	((struct folder_rule *)out)->relabel = (enum relabel)i;
}

static const struct conf_key folder_keys[] = {
	{ "path", read_path },
	{ "access", read_access },
	{ "target", read_target },
	{ "subfolders", read_subfolders },
	{ "submounts", read_submounts },
	{ "relabel", read_relabel },
	{ NULL, NULL },
};

void
folder_rule_read(config_setting_t *s, struct folder_rule *r, struct faults *f)
{
	uint32_t there;

	r->line = conf_line(s);
	there = conf_group(s, folder_keys, r, f);
	if (r->path != NULL)
		folder_rule_check(r, f);
	else if (!conf_there(folder_keys, there, "path"))
		fault_add(f, r->line, false, "a folders entry needs a path");
}
