/* See exchange.h. Parses only the lines of the answers. Refuses an answer that is cut off. */
#include "exchange.h"

#include <stdlib.h>
#include <string.h>

#include "../../ask/readquery.h"
#include "../../ask/parsed.h"
#include "../../ask/parsedcheck.h"
#include "../../base/cleanup.h"
#include "../file.h"
#include "etc.h"

void
exchange_free(struct exchange *x)
{
	free(x->question);
	free(x->answer);
	*x = (struct exchange){ .question = NULL };
}

/* Questions. */

static int
pack_policies(const struct policy_files *files, const struct read_file *settings, struct exchange *x, struct why *why)
{
	struct read_query a = { .verb = READ_POLICIES, .files = files->n + 1 };
	autofree struct read_file *file = calloc(a.files, sizeof(*file));
	size_t i;

	if ((a.file = file) == NULL)
		return refuse_nomem(why);
	file[0] = *settings;
	for (i = 0; i < files->n; i++)
		file[i + 1] = (struct read_file){ files->v[i].name, files->v[i].text, files->v[i].len };
	return (x->question = read_query_pack(&a, &x->asked)) != NULL ? 0 : refuse_nomem(why);
}

int
exchange_ask_policies(struct exchange *x, struct why *why)
{
	struct read_file settings = { .name = GPUHELPER_CONFDIR "/" SETTINGS_FILE, .text = "" };
	autopolicyfiles struct policy_files files = { 0 };
	autofree char *text = NULL;

	*x = (struct exchange){ .question = NULL };
	if (settings_text(GPUHELPER_CONFDIR, true, &text, &settings.len, why) == -1 ||
	    policy_files_load(GPUHELPER_CONFDIR, true, &files, why) == -1)
		return -1;
	if (text != NULL)
		settings.text = text;
	return pack_policies(&files, &settings, x, why);
}

int
exchange_ask_specs(const struct spec_files *f, struct exchange *x, struct why *why)
{
	autofree struct read_file *file = calloc(f->n + 1, sizeof(*file));
	struct read_query a = { .verb = READ_SPECS, .file = file };
	size_t i;

	*x = (struct exchange){ .question = NULL };
	if (file == NULL)
		return refuse_nomem(why);
	for (i = 0; i < f->n; i++)
		if (f->v[i].text != NULL)
			file[a.files++] = (struct read_file){ f->v[i].path, f->v[i].text, f->v[i].len };
	return (x->question = read_query_pack(&a, &x->asked)) != NULL ? 0 : refuse_nomem(why);
}

/* Answers. */

int
exchange_answer_begin(const char *answer, size_t len, struct lines *t, bool *malformed, struct why *why)
{
	char wrong[sizeof(why->text)] = "";

	*t = (struct lines){ .at = answer, .end = answer + len };
	*malformed = !read_answer_begin(t, wrong, sizeof(wrong), why) && wrong[0] == '\0';
	return *malformed || wrong[0] != '\0' ? -1 : 0;
}

int
exchange_read_settings(const struct exchange *x, struct settings *s, bool *malformed, struct why *why)
{
	struct lines t;

	*s = (struct settings){ .runtime = NULL };
	if (exchange_answer_begin(x->answer, x->len, &t, malformed, why) == -1)
		return -1;
	settings_lines(&t, s);
	if (!t.failed)
		return parsed_check_settings(s, why);
	*malformed = !t.nomem;
	return t.nomem ? refuse_nomem(why) : refuse(why, WHY_BUG, "gpuhelper-read sent a malformed answer");
}

/* Kept answers. */

struct cached_head
cached_head_of(const struct stat *program, const struct exchange *x)
{
	return (struct cached_head){ .dev = program->st_dev, .ino = program->st_ino, .size = (uint64_t)program->st_size,
		.seconds = (uint64_t)program->st_ctim.tv_sec, .nanoseconds = (uint64_t)program->st_ctim.tv_nsec,
		.asked = x->asked, .len = x->len };
}

bool
exchange_find(int dir, const char *name, const struct stat *program, struct exchange *x)
{
	size_t size;
	autofree char *file = file_read_at(dir, name, CACHED_MAX, &size);
	struct cached_head h;

	if (file == NULL || size < sizeof(h) + x->asked)
		return false;
	x->len = size - sizeof(h) - x->asked;
	h = cached_head_of(program, x);
	if (memcmp(file, &h, sizeof(h)) != 0 || memcmp(file + sizeof(h), x->question, x->asked) != 0)
		return false;
	/* with its NUL */
	memmove(file, file + sizeof(h) + x->asked, x->len + 1);
	x->answer = file;
	file = NULL;
	return true;
}
