/* See reader.h. Parses only the lines of the answers (pure/readask.h). Refuses an answer that is cut off. */
#include "reader.h"

#include <stdlib.h>

#include "../host/etc.h"
#include "../pure/cleanup.h"
#include "../pure/readask.h"
#include "../pure/table.h"
#include "../pure/tablecheck.h"
#include "spawn.h"

#define PROGRAM "gpuhelper-read"
#define ANSWER_MS 8000	/* an answer takes milliseconds, unless the machine is busy */

static struct spawned reader = { PROGRAM, true, READ_ASK_MAX, READ_ANSWER_MAX, .channel = -1 };

void
reader_start(void)
{
	spawned_start(&reader);
}

void
reader_wake(void)
{
	spawned_wake(&reader);
}

void
reader_end(void)
{
	spawned_end(&reader);
}

/* Returns the answer, which the caller frees, with *t after its first line. NULL with *why. */
static char *
ask_reader(const struct read_ask *a, struct lines *t, struct why *why)
{
	char wrong[sizeof(why->text)], *answer = NULL;
	size_t asked, len;
	autofree char *question = read_ask_pack(a, &asked);

	if (question == NULL) {
		refuse_nomem(why);
		return NULL;
	}
	if ((answer = spawned_answer(&reader, question, asked, ANSWER_MS, &len, why)) == NULL)
		return NULL;
	*t = (struct lines){ .at = answer, .end = answer + len };
	if (read_answer_begin(t, wrong, sizeof(wrong), why))
		return answer;
	free(answer);
	return NULL;
}

static int
finish(struct lines *t, struct why *why)
{
	if (lines_finish(t))
		return 0;
	return t->nomem ? refuse_nomem(why) : refuse(why, WHY_BUG, PROGRAM " sent a malformed answer");
}

static int
read_texts(const struct policy_files *files, const struct read_file *settings, struct settings *s, struct policy_set *p,
    struct why *why)
{
	struct read_ask a = { .verb = READ_POLICIES, .files = files->n + 1 };
	autofree struct read_file *file = calloc(a.files, sizeof(*file));
	autofree char *answer = NULL;
	struct lines t;
	size_t i;

	if ((a.file = file) == NULL)
		return refuse_nomem(why);
	file[0] = *settings;
	for (i = 0; i < files->n; i++)
		file[i + 1] = (struct read_file){ files->v[i].name, files->v[i].text, files->v[i].len };
	if ((answer = ask_reader(&a, &t, why)) == NULL)
		return -1;
	settings_lines(&t, s);
	policy_set_lines(&t, p);
	return finish(&t, why) == -1 ? -1 : table_check(s, p, why);
}

int
reader_reads(struct settings *s, struct policy_set *p, struct why *why)
{
	struct read_file settings = { .name = GPUHELPER_CONFDIR "/" SETTINGS_FILE, .text = "" };
	autopolicyfiles struct policy_files files = { 0 };
	autofree char *text = NULL;

	*s = (struct settings){ .runtime = NULL };
	*p = (struct policy_set){ .n = 0 };
	if (settings_text(GPUHELPER_CONFDIR, true, &text, &settings.len, why) == -1 ||
	    policy_files_load(GPUHELPER_CONFDIR, true, &files, why) == -1)
		return -1;
	if (text != NULL)
		settings.text = text;
	return read_texts(&files, &settings, s, p, why);
}

int
reader_parses_specs(struct cdi_registry *r, struct why *why)
{
	autofree struct read_file *file = calloc(r->files, sizeof(*file));
	struct read_ask a = { .verb = READ_SPECS, .file = file };
	autofree char *answer = NULL;
	struct lines t;
	size_t i;

	if (file == NULL)
		return refuse_nomem(why);
	for (i = 0; i < r->files; i++)
		if (r->file[i].text != NULL)
			file[a.files++] = (struct read_file){ r->file[i].path, r->file[i].text, r->file[i].len };
	if ((answer = ask_reader(&a, &t, why)) == NULL)
		return -1;
	for (i = 0; i < r->files && !t.failed; i++)
		if (r->file[i].text != NULL)
			cdi_file_lines(&t, &r->file[i].usable, &r->file[i].spec, &r->file[i].faults);
	if (finish(&t, why) == -1)
		return -1;
	for (i = 0; i < r->files; i++)
		if (r->file[i].usable && table_check_spec(&r->file[i].spec, why) == -1)
			return -1;
	return 0;
}
