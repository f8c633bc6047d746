/*
 * See reader.h. Parses only the lines of the answers (pure/readask.h), and only behind the filter. Refuses an answer
 * that is cut off.
 */
#include "reader.h"

#include <stdlib.h>
#include <string.h>

#include "../host/clock.h"
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
#define FRESH_MS 100	/* so long after they were read, files are not read again */

static struct spawned reader = { PROGRAM, true, READ_ASK_MAX, READ_ANSWER_MAX, .channel = -1 };
static bool started;
static struct stat program;

/* What this process knows of one kind of files. */
struct known {
	const char *name;	/* of the kept answer */
	struct exchange x;	/* its answer is NULL if there is none yet */
	int64_t read_at;	/* clock_ms() */
	bool kept;		/* the answer is on disk */
	bool unfit;		/* the answer must not be kept */
	bool malformed;		/* the answer could not be parsed */
};

static struct known policies = { .name = "policies" }, specs = { .name = "specs" };
static struct cdi_registry early;	/* the specs that reader_start() has read */
static bool has_early;

static bool
is_fresh(const struct known *k)
{
	return clock_ms() - k->read_at < FRESH_MS;
}

/* Takes the question over. The answer stays if the question is the same. */
static void
renew(struct known *k, const struct exchange *now)
{
	struct exchange old = *now;

	if (k->x.question == NULL || k->x.asked != now->asked || memcmp(k->x.question, now->question, now->asked) != 0) {
		old = k->x;
		k->x = *now;
		k->kept = k->unfit = false;
	}
	exchange_free(&old);
}

/* Gets the program's answer, unless there is one. */
static int
answer(struct known *k, struct why *why)
{
	if (k->x.answer != NULL)
		return 0;
	if (!started)
		return refuse(why, WHY_AGAIN, "the settings, policies or CDI specs have just changed: try again");
	k->x.answer = spawned_answer(&reader, k->x.question, k->x.asked, ANSWER_MS, &k->x.len, why);
	return k->x.answer != NULL ? 0 : -1;
}

/* Begins to read the answer: *t is what follows its first line. -1 with *why. */
static int
begin(struct known *k, struct lines *t, struct why *why)
{
	char wrong[sizeof(why->text)] = "";

	*t = (struct lines){ .at = k->x.answer, .end = k->x.answer + k->x.len };
	k->malformed = !read_answer_begin(t, wrong, sizeof(wrong), why) && wrong[0] == '\0';
	return k->malformed || wrong[0] != '\0' ? -1 : 0;
}

static int
finish(struct known *k, struct lines *t, struct why *why)
{
	k->malformed = !lines_finish(t) && !t->nomem;
	if (k->malformed)
		return refuse(why, WHY_BUG, PROGRAM " sent a malformed answer");
	return t->nomem ? refuse_nomem(why) : 0;
}

/* Removes a kept answer that turned out to be malformed. Returns the result of reading it. */
static int
settle(struct known *k, int result, struct why *why)
{
	if (result == 0 || !k->kept || !k->malformed)
		return result;
	kept_remove(k->name);
	return refuse(why, WHY_AGAIN, GPUHELPER_RUNDIR "/read/%s was malformed, and is removed now: try again", k->name);
}

static void
keep(struct known *k)
{
	if (!k->kept && !k->unfit)
		kept_write(k->name, &program, &k->x);
	k->kept = !k->unfit;
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
read_policies(struct why *why)
{
	struct read_file settings = { .name = GPUHELPER_CONFDIR "/" SETTINGS_FILE, .text = "" };
	autopolicyfiles struct policy_files files = { 0 };
	struct exchange now = { .question = NULL };
	const int64_t begun = clock_ms();
	autofree char *text = NULL;

	if (settings_text(GPUHELPER_CONFDIR, true, &text, &settings.len, why) == -1 ||
	    policy_files_load(GPUHELPER_CONFDIR, true, &files, why) == -1)
		return -1;
	if (text != NULL)
		settings.text = text;
	if (pack_policies(&files, &settings, &now, why) == -1)
		return -1;
	renew(&policies, &now);
	policies.read_at = begun;
	return 0;
}

static int
parse_policies(struct settings *s, struct policy_set *p, struct why *why)
{
	struct lines t;
	size_t i;

	if (begin(&policies, &t, why) == -1)
		return -1;
	settings_lines(&t, s);
	policy_set_lines(&t, p);
	if (finish(&policies, &t, why) == -1 || table_check(s, p, why) == -1)
		return -1;
	/* a policy may also be broken because memory was short */
	for (i = 0; i < p->n; i++)
		policies.unfit = policies.unfit || p->v[i].broken != NULL;
	return 0;
}

int
reader_reads(struct settings *s, struct policy_set *p, struct why *why)
{
	*s = (struct settings){ .runtime = NULL };
	*p = (struct policy_set){ .n = 0 };
	if (((policies.x.question == NULL || !is_fresh(&policies)) && read_policies(why) == -1) ||
	    answer(&policies, why) == -1)
		return -1;
	return settle(&policies, parse_policies(s, p, why), why);
}

void
reader_keep(void)
{
	keep(&policies);
}

/* Specs. */

static int
pack_specs(const struct cdi_registry *r, struct why *why)
{
	autofree struct read_file *file = calloc(r->files + 1, sizeof(*file));
	struct read_ask a = { .verb = READ_SPECS, .file = file };
	struct exchange now = { .question = NULL };
	size_t i;

	if (file == NULL)
		return refuse_nomem(why);
	for (i = 0; i < r->files; i++)
		if (r->file[i].text != NULL)
			file[a.files++] = (struct read_file){ r->file[i].path, r->file[i].text, r->file[i].len };
	if ((now.question = read_ask_pack(&a, &now.asked)) == NULL)
		return refuse_nomem(why);
	renew(&specs, &now);
	return 0;
}

static int
parse_answer(struct cdi_registry *r, struct why *why)
{
	struct lines t;
	size_t i;

	if (begin(&specs, &t, why) == -1)
		return -1;
	for (i = 0; i < r->files && !t.failed; i++)
		if (r->file[i].text != NULL)
			cdi_file_lines(&t, &r->file[i].usable, &r->file[i].spec, &r->file[i].faults);
	if (finish(&specs, &t, why) == -1)
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
	if (pack_specs(r, why) == -1 || answer(&specs, why) == -1 || settle(&specs, parse_answer(r, why), why) == -1)
		return -1;
	keep(&specs);
	return 0;
}

int
reader_reads_specs(struct cdi_registry *r, struct why *why)
{
	if (!has_early || !is_fresh(&specs))
		return cdi_registry_load(CDI_DIRS, true, parse_specs, r, why);
	*r = early;
	has_early = false;
	return cdi_registry_parse(r, true, parse_specs, why);
}

/* The program. */

static bool
find_program(void)
{
	struct why ignored;
	autoclose int file = -1;
	uint32_t uid, gid;

	return own_program_find(PROGRAM, &file, &ignored) == 0 && fstat(file, &program) == 0 &&
	    own_program_user(PROGRAM, &uid, &gid, &ignored) == 0;
}

static bool
find_policies(void)
{
	struct why ignored;

	return read_policies(&ignored) == 0 && (policies.kept = kept_find(policies.name, &program, &policies.x));
}

static bool
find_specs(void)
{
	struct why ignored;

	specs.read_at = clock_ms();
	has_early = cdi_registry_read(CDI_DIRS, true, &early, &ignored) == 0;
	return has_early && (early.files == 0 ||
	    (pack_specs(&early, &ignored) == 0 && (specs.kept = kept_find(specs.name, &program, &specs.x))));
}

void
reader_start(void)
{
	if ((started = !find_program() || !find_policies() || !find_specs()))
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
