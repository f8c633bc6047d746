/*
 * See reader.h. Parses only the lines of the answers (pure/readask.h), and only behind the filter. Refuses an answer
 * that is cut off.
 */
#include "reader.h"

#include <stdlib.h>
#include <string.h>

#include "../host/etc.h"
#include "../host/file.h"
#include "../host/ownprogram.h"
#include "../pure/cleanup.h"
#include "../pure/readask.h"
#include "../pure/table.h"
#include "../pure/tablecheck.h"
#include "kept.h"
#include "spawn.h"

#define PROGRAM "gpuhelper-read"
#define ANSWER_MS 8000	/* an answer takes milliseconds, unless the machine is busy */

static struct spawned reader = { PROGRAM, true, READ_ASK_MAX, READ_ANSWER_MAX, .channel = -1 };
static struct stat program;

/* Names of kept answers. */
static const char policies[] = "policies", specs[] = "specs";

/* What reader_start() has read, until it is asked for: the questions, with their kept answers, and the specs' texts. */
static struct {
	struct exchange policies, specs;
	struct cdi_registry registry;
	bool has_registry;
} early;

/* Begins to read the answer: *t is what follows its first line. -1 with *why. */
static int
begin(const struct exchange *x, struct lines *t, struct why *why)
{
	char wrong[sizeof(why->text)];

	*t = (struct lines){ .at = x->answer, .end = x->answer + x->len };
	return read_answer_begin(t, wrong, sizeof(wrong), why) ? 0 : -1;
}

static int
finish(struct lines *t, struct why *why)
{
	if (lines_finish(t))
		return 0;
	return t->nomem ? refuse_nomem(why) : refuse(why, WHY_BUG, PROGRAM " sent a malformed answer");
}

static int
ask_program(struct exchange *x, struct why *why)
{
	x->answer = spawned_answer(&reader, x->question, x->asked, ANSWER_MS, &x->len, why);
	return x->answer != NULL ? 0 : -1;
}

/* Keeps an answer, or stops keeping it, by the result of its check. 0, or -1 with *why. */
static int
settle(const char *name, bool kept, const struct exchange *x, int result, struct why *why)
{
	if (result == 0 && !kept)
		kept_write(name, &program, x);
	if (result == 0 || !kept)
		return result;
	kept_remove(name);
	return refuse(why, WHY_AGAIN, GPUHELPER_RUNDIR "/read/%s was malformed, and is removed now: try again", name);
}

/* Policies. */

static int
pack_policies(const struct policy_files *files, const struct read_file *settings, struct exchange *x, struct why *why)
{
	struct read_ask a = { .verb = READ_POLICIES, .files = files->n + 1 };
	autofree struct read_file *file = calloc(a.files, sizeof(*file));
	size_t i;

	if ((a.file = file) == NULL)
		return refuse_nomem(why);
	file[0] = *settings;
	for (i = 0; i < files->n; i++)
		file[i + 1] = (struct read_file){ files->v[i].name, files->v[i].text, files->v[i].len };
	return (x->question = read_ask_pack(&a, &x->asked)) != NULL ? 0 : refuse_nomem(why);
}

static int
ask_about_policies(struct exchange *x, struct why *why)
{
	struct read_file settings = { .name = GPUHELPER_CONFDIR "/" SETTINGS_FILE, .text = "" };
	autopolicyfiles struct policy_files files = { 0 };
	autofree char *text = NULL;

	if (settings_text(GPUHELPER_CONFDIR, true, &text, &settings.len, why) == -1 ||
	    policy_files_load(GPUHELPER_CONFDIR, true, &files, why) == -1)
		return -1;
	if (text != NULL)
		settings.text = text;
	return pack_policies(&files, &settings, x, why);
}

static int
parse_policies(const struct exchange *x, struct settings *s, struct policy_set *p, struct why *why)
{
	struct lines t;

	if (begin(x, &t, why) == -1)
		return -1;
	settings_lines(&t, s);
	policy_set_lines(&t, p);
	return finish(&t, why) == -1 ? -1 : table_check(s, p, why);
}

int
reader_reads(struct settings *s, struct policy_set *p, struct why *why)
{
	const bool kept = early.policies.answer != NULL;
	autoexchange struct exchange x = early.policies;

	*s = (struct settings){ .runtime = NULL };
	*p = (struct policy_set){ .n = 0 };
	early.policies = (struct exchange){ .question = NULL };
	if ((x.question == NULL && ask_about_policies(&x, why) == -1) || (!kept && ask_program(&x, why) == -1))
		return -1;
	return settle(policies, kept, &x, parse_policies(&x, s, p, why), why);
}

/* Specs. */

static int
ask_about_specs(const struct cdi_registry *r, struct exchange *x, struct why *why)
{
	autofree struct read_file *file = calloc(r->files + 1, sizeof(*file));
	struct read_ask a = { .verb = READ_SPECS, .file = file };
	size_t i;

	if (file == NULL)
		return refuse_nomem(why);
	for (i = 0; i < r->files; i++)
		if (r->file[i].text != NULL)
			file[a.files++] = (struct read_file){ r->file[i].path, r->file[i].text, r->file[i].len };
	return (x->question = read_ask_pack(&a, &x->asked)) != NULL ? 0 : refuse_nomem(why);
}

static int
parse_answer(const struct exchange *x, struct cdi_registry *r, struct why *why)
{
	struct lines t;
	size_t i;

	if (begin(x, &t, why) == -1)
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

/* A cdi_parser. */
static int
parse_specs(struct cdi_registry *r, struct why *why)
{
	const bool kept = early.specs.answer != NULL;
	autoexchange struct exchange x = early.specs;

	early.specs = (struct exchange){ .question = NULL };
	if ((x.question == NULL && ask_about_specs(r, &x, why) == -1) || (!kept && ask_program(&x, why) == -1))
		return -1;
	return settle(specs, kept, &x, parse_answer(&x, r, why), why);
}

int
reader_reads_specs(struct cdi_registry *r, struct why *why)
{
	if (!early.has_registry)
		return cdi_registry_load(CDI_DIRS, true, parse_specs, r, why);
	*r = early.registry;
	early.has_registry = false;
	return cdi_registry_parse(r, true, parse_specs, why);
}

/* The program. */

static bool
find_program(void)
{
	struct why ignored;
	autoclose int file = -1;

	return own_program_find(PROGRAM, &file, &ignored) == 0 && fstat(file, &program) == 0;
}

static bool
find_policies(void)
{
	struct why ignored;

	return ask_about_policies(&early.policies, &ignored) == 0 && kept_find(policies, &program, &early.policies);
}

static bool
find_specs(void)
{
	struct cdi_registry *r = &early.registry;
	struct why ignored;

	early.has_registry = cdi_registry_read(CDI_DIRS, true, r, &ignored) == 0;
	return early.has_registry && (r->files == 0 ||
	    (ask_about_specs(r, &early.specs, &ignored) == 0 && kept_find(specs, &program, &early.specs)));
}

void
reader_start(void)
{
	if (!find_program() || !find_policies() || !find_specs())
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
