/*
 * See reader.h. Parses only the lines of the answers (ask/readquery.h), and only behind the filter. Refuses an answer
 * that is cut off.
 */
#include "reader.h"

#include <stdlib.h>
#include <string.h>

#include "../../ask/readquery.h"
#include "../../base/cleanup.h"
#include "../../host/clock.h"
#include "../../host/file.h"
#include "../../host/own/ownprogram.h"
#include "../self/spawn.h"
#include "answercache.h"

#define PROGRAM "gpuhelper-read"
#define ANSWER_MS 8000	/* an answer takes milliseconds, unless the machine is busy */
#define FRESH_MS 100	/* so long after they were read, files are not read again */

/* it stays: it answers before any lock is taken, and the helper limits the time */
static struct spawned reader = { PROGRAM, true, READ_QUERY_MAX, READ_ANSWER_MAX, .channel = -1 };
static bool started;
static struct stat program;

/* What this process knows of one kind of files. */
struct kind_of_files {
	const char *name;	/* of the cached answer */
	struct exchange x;	/* its answer is NULL if there is none yet */
	int64_t read_at;	/* clock_ms() */
	bool cached;		/* the answer is on disk */
	bool unfit;		/* the answer must not be cached */
	bool malformed;		/* the answer could not be parsed */
};

static struct kind_of_files policies = { .name = EXCHANGE_POLICIES }, specs = { .name = EXCHANGE_SPECS };
static struct spec_files early;	/* the specs that reader_start() has read */
static bool has_early;

static bool
is_fresh(const struct kind_of_files *k)
{
	return clock_ms() - k->read_at < FRESH_MS;
}

/* Takes the question over. The answer stays if the question is the same. */
static void
renew(struct kind_of_files *k, const struct exchange *now)
{
	struct exchange old = *now;

	if (k->x.question == NULL || k->x.asked != now->asked || memcmp(k->x.question, now->question, now->asked) != 0) {
		old = k->x;
		k->x = *now;
		k->cached = k->unfit = false;
	}
	exchange_free(&old);
}

/* Gets the program's answer, unless there is one. */
static int
answer(struct kind_of_files *k, struct why *why)
{
	if (k->x.answer != NULL)
		return 0;
	if (!started)
		return refuse(why, WHY_AGAIN, "the settings, policies or CDI specs have just changed: try again");
	if (spawned_ask(&reader, k->x.question, k->x.asked, why) == 0)
		k->x.answer = spawned_receive(&reader, ANSWER_MS, &k->x.len, why);
	return k->x.answer != NULL ? 0 : -1;
}

/* Removes a cached answer that turned out to be malformed. Returns the result of what depends on it. */
static int
finish(const struct kind_of_files *k, int result, struct why *why)
{
	if (!k->cached || !k->malformed)
		return result;
	answer_cache_remove(k->name);
	return result == 0 ? 0 :
	    refuse(why, WHY_AGAIN, GPUHELPER_RUNDIR "/read/%s was malformed, and is removed now: try again", k->name);
}

static void
cache_answer(struct kind_of_files *k)
{
	if (!k->cached && !k->unfit)
		answer_cache_write(k->name, &program, &k->x);
	k->cached = !k->unfit;
}

/* Policies. */

static int
read_policies(struct why *why)
{
	const int64_t begun = clock_ms();
	struct exchange now;

	if (exchange_ask_policies(&now, why) == -1)
		return -1;
	renew(&policies, &now);
	policies.read_at = begun;
	return 0;
}

int
reader_ask_policies(struct settings *s, const char **out, size_t *len, struct why *why)
{
	*s = (struct settings){ .runtime = NULL };
	if (((policies.x.question == NULL || !is_fresh(&policies)) && read_policies(why) == -1) ||
	    answer(&policies, why) == -1)
		return -1;
	*out = policies.x.answer;
	*len = policies.x.len;
	return finish(&policies, exchange_read_settings(&policies.x, s, &policies.malformed, why), why);
}

/* Specs. */

static int
pack_specs(const struct spec_files *f, struct why *why)
{
	struct exchange now;

	if (exchange_ask_specs(f, &now, why) == -1)
		return -1;
	renew(&specs, &now);
	return 0;
}

int
reader_ask_specs(struct spec_files *f, const char **out, size_t *len, bool *cached, struct why *why)
{
	*f = (struct spec_files){ .n = 0 };
	*out = NULL;
	*len = 0;
	*cached = false;
	if (has_early && is_fresh(&specs)) {
		*f = early;
		has_early = false;
	} else if (spec_files_read(CDI_DIRS, true, f, why) == -1)
		return -1;
	if (f->n == 0)
		return 0;
	if (pack_specs(f, why) == -1 || answer(&specs, why) == -1)
		return -1;
	*out = specs.x.answer;
	*len = specs.x.len;
	*cached = specs.cached;
	return 0;
}

/* Answers. */

int
reader_note_answers(enum answer_state of_policies, enum answer_state of_specs, int result, struct why *why)
{
	policies.unfit = policies.unfit || of_policies == ANSWER_UNFIT;
	if (of_policies == ANSWER_FIT)
		cache_answer(&policies);
	if (of_specs == ANSWER_FIT && specs.x.answer != NULL)
		cache_answer(&specs);
	policies.malformed = of_policies == ANSWER_MALFORMED;
	if (of_specs == ANSWER_MALFORMED && specs.cached)
		answer_cache_remove(specs.name);
	return finish(&policies, result, why);
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

	return read_policies(&ignored) == 0 && (policies.cached = answer_cache_find(policies.name, &program, &policies.x));
}

static bool
find_specs(void)
{
	struct why ignored;

	specs.read_at = clock_ms();
	has_early = spec_files_read(CDI_DIRS, true, &early, &ignored) == 0;
	return has_early && (early.n == 0 ||
	    (pack_specs(&early, &ignored) == 0 && (specs.cached = answer_cache_find(specs.name, &program, &specs.x))));
}

void
reader_start(void)
{
	if ((started = !find_program() || !find_policies() || !find_specs()))
		spawned_start(&reader);
	spawned_exec(&reader);
}
