/*
 * Computes what gpuhelper-read, gpuhelper-judge and the helper compute for one grant, without their processes.  Those
 * cannot run under callgrind: their filters deny system calls that valgrind needs, and the helper closes valgrind's
 * files.  callgrind counts each work_*() (instructions.py).
 *
 *   work read|judge|helper		(judge looks at the host's GPUs: in tests/lib/sandbox.sh --gpu nvidia-8gpu)
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../helper/policy/policydecide.h"
#include "ask/parsedpolicy.h"
#include "ask/readquery.h"
#include "ask/request.h"
#include "ask/parsed.h"
#include "ask/parsedcheck.h"
#include "ask/parsedspec.h"
#include "ask/requestwrite.h"
#include "base/cleanup.h"
#include "host/gpu/nodrm.h"
#include "judge/decide.h"
#include "judge/match.h"
#include "judge/findgpus.h"
#include "policy/policydecide.h"
#include "read/answer.h"
#include "read/readquestion.h"

#define POLICIES 10
#define EXACT __attribute__((noinline, noipa))

void work_read(const char *question, size_t len);
void work_judge(const char *question, size_t len);
void work_helper(const char *answer, size_t len, const char *request, size_t asked, struct inventory *host);

/* What the functions leave for each other; the process ends soon, so nothing is freed. */
static char *answer;
static size_t answer_len;
static struct buf done;

static void
die(const char *what, const struct why *why)
{
	fprintf(stderr, "work: %s: %s\n", what, why != NULL ? why->text : "");
	exit(1);
}

EXACT void
work_read(const char *question, size_t len)
{
	struct read_query a = { .files = 0 };
	struct why why;

	if (!read_query_unpack(question, len, &a, &why) || (answer = read_answer(&a, &answer_len)) == NULL)
		die("read", &why);
	free(a.file);
}

EXACT void
work_judge(const char *question, size_t len)
{
	struct lines in = { .at = question, .end = question + len }, out = { .out = &done };
	struct grant_query a = { .gpus = NULL };
	struct decision_indexes v = { .policy = 0 };
	struct inventory host = { .gpus = 0 };
	struct why why;

	if (host_find_gpus(&no_drm, 1U << GPU_NVIDIA, &host, &why) == -1)
		die("host_see", &why);
	inventory_free(&host);
	grant_query_lines(&in, &a);
	if (!lines_finish(&in) || decide_grant(&a, &v, &why) == -1)
		die("decide_ask", &why);
	decision_indexes_lines(&out, &v);
	(void)lines_finish(&out);
	decision_indexes_free(&v);
	grant_query_free(&a);
}

static struct settings settings;
static struct policy_set policies, listed;
static const struct client who = { .uid = 0, .user = "root", .member = true, .rootful = true };

static void
read_table(const char *text, size_t len)
{
	struct lines t = { .at = text, .end = text + len };
	char wrong[256];
	struct why why = { .code = WHY_NONE };

	if (!read_answer_begin(&t, wrong, sizeof(wrong), &why))
		die("answer", &why);
	settings_lines(&t, &settings);
	policy_set_lines(&t, &policies);
	if (!lines_finish(&t) || parsed_check(&settings, &policies, &why) == -1 || !policies_of(&policies, &who, &listed))
		die("table", &why);
}

static void
ask_judge(struct inventory *host, const struct request *r, struct buf *out)
{
	struct lines t = { .out = out };
	struct grant_query a = { .who = who, .principal = { .id = { .kind = IDENTITY_CALLER } },
		.gpus = r->untrusted.gpus, .folders = r->untrusted.folders,
		.settings = settings, .policies = listed, .files = (uint32_t)policies.n, .inventory = *host };

	grant_query_lines(&t, &a);
	if (!lines_finish(&t))
		die("grant_ask_lines", NULL);
}

EXACT void
work_helper(const char *text, size_t len, const char *request, size_t asked, struct inventory *host)
{
	const struct identity id = { .kind = IDENTITY_CALLER };
	const struct judge_bounds bounds = { .who = &who, .id = &id, .settings = &settings, .policies = &listed,
		.inventory = host, .vendors = 1U << GPU_NVIDIA };
	struct lines in = { .at = done.p, .end = done.p + done.len };
	struct decision d = { .policy = NULL };
	struct buf question = { 0 };
	struct decision_indexes v = { .policy = 0 };
	struct request r = { .id = NULL };
	struct why why = { .code = WHY_NONE };

	if (request_decode(request, asked, &r, &why) == -1)
		die("request_decode", &why);
	read_table(text, len);
	ask_judge(host, &r, &question);
	decision_indexes_lines(&in, &v);
	if (!lines_finish(&in) || indexes_take(&v, &bounds, &d, &why) == -1)
		die("verdict_take", &why);
	decision_indexes_free(&v);
	decision_free(&d);
	buf_free(&question);
	request_free(&r);
}

static char *
print(const char *format, int i)
{
	char *text;

	if (asprintf(&text, format, i, i, i) == -1)
		die("memory", NULL);
	return text;
}

/* The question with so many policies, of which the last one grants. */
static char *
read_question(size_t *len)
{
	static struct read_file file[POLICIES + 1];
	struct read_query a = { .verb = READ_POLICIES, .file = file, .files = POLICIES + 1 };
	int i;

	file[0] = (struct read_file){ .name = "/etc/gpuhelper/gpuhelper.conf",
		.text = "runtime = \"/usr/sbin/runc\";\nvolumes = [ \"/var/lib/x\" ];\n" };
	for (i = 0; i < POLICIES; i++) {
		file[i + 1].name = print("%02d.conf", i);
		file[i + 1].text = print(i < POLICIES - 1 ?
		    "# an administrator's words\npipeline = \"team/pipeline-%d\";\nidentity = \"token\";\n"
		    "jobs = [ \"fit\", \"eval-*\" ];\n"
		    "gpus = ( { vendor = \"nvidia\"; count = 1; wait = 120; } );\n"
		    "folders = ( { path = \"/srv/data/%d\"; access = \"ro\"; },\n"
		    "  { path = \"/srv/outputs/%d\"; access = \"rw\"; } );\n" :
		    "identity = \"caller\"; callers = [ \"root\" ];\ngpus = ( { vendor = \"nvidia\"; count = 8; } );\n"
		    "folders = ( { path = \"/srv/a\"; access = \"ro\"; }, { path = \"/srv/b\"; access = \"rw\"; } );\n", i);
	}
	for (i = 0; i <= POLICIES; i++)
		file[i].len = strlen(file[i].text);
	return read_query_pack(&a, len);
}

int
main(int argc, char **argv)
{
	const char *what = argc == 2 ? argv[1] : "";
	struct request r = { .verb = VERB_GRANT, .id = strdup("container"), .runtime_root = strdup("/run/runc"),
		.spec.cgroups_path = strdup("garden/container"), .untrusted.gpus = strdup("1"),
		.untrusted.folders = strdup("/srv/a:ro,/srv/b:rw") };
	struct inventory host = { .gpus = 0 };
	struct buf question = { 0 };
	size_t len, asked;
	struct why why;
	char *bytes;

	json_object_seed(1);
	bytes = read_question(&len);
	work_read(bytes, len);
	if (strcmp(what, "read") == 0)
		return 0;
	if (host_find_gpus(&no_drm, 1U << GPU_NVIDIA, &host, &why) == -1 || host.gpus == 0)
		die("there is no GPU here", NULL);
	read_table(answer, answer_len);
	ask_judge(&host, &r, &question);
	work_judge(question.p, question.len);
	bytes = request_encode(&r, &asked);
	settings_free(&settings);
	policy_set_free(&policies);
	work_helper(answer, answer_len, bytes, asked, &host);
	return 0;
}
