/*
 * libFuzzer entry for helper/ask/judgequery.c and helper/ask/hostcheck.c: the possible answers of a hostile
 * gpuhelper-judge.  The first byte selects the question.  Every accepted answer has one spelling.  An accepted token
 * is from one of the given issuers; an accepted host has only GPUs' nodes, none of them in two GPUs.
 */
#include <stdlib.h>
#include <string.h>

#include "../../helper/ask/hostcheck.h"
#include "../../helper/ask/judgequery.h"
#include "fuzz.h"
#include "policy/tokenhash.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct devmajor drivers[] = { { 195, 'c', "nvidia" }, { 195, 'c', "nvidiactl" }, { 195, 'c', "nvidia-modeset" },
	{ 510, 'c', "nvidia-uvm" }, { 511, 'c', "nvidia-caps" }, { 234, 'c', "kfd" }, { 226, 'c', "drm" }, { 1, 'c', "mem" } };

/* The number at the end of a name such as /dev/nvidia0. */
static uint32_t
number_in(const char *path)
{
	return (uint32_t)strtoul(path + strcspn(path, "0123456789"), NULL, 10);
}

/* Written from hostcheck.h, not from the code. */
static void
must_be_gpus(const struct gpu_node *n)
{
	const bool numbered = strpbrk(n->path, "0123456789") != NULL;

	must(strncmp(n->path, "/dev/", 5) == 0 && strstr(n->path, "..") == NULL);
	if (n->major == GPU_NODE_NO_MODULE)
		must(strcmp(n->path, "/dev/nvidia-uvm") == 0);
	else
		must(n->major == 195 || n->major == 226 || n->major == 234 || n->major == 261 || n->major == 510 || n->major == 511);
	must(!numbered || number_in(n->path) == n->minor);
}

static void
must_be_host(const struct inventory *inv)
{
	const struct gpu *g, *o;
	size_t i, k, m, n;
	unsigned v;

	for (v = 0; v < GPU_VENDORS; v++)
		for (i = 0; i < inv->commons[v] && inv->fault[v].code == WHY_NONE; i++)
			must_be_gpus(&inv->common[v][i]);
	for (i = 0; i < inv->gpus; i++)
		for (g = &inv->gpu[i], m = 0; m < g->nodes && inv->fault[g->vendor].code == WHY_NONE; m++) {
			must_be_gpus(&g->node[m]);
			for (k = 0; k < i; k++)
				for (o = &inv->gpu[k], n = 0; n < o->nodes; n++)
					if (inv->fault[o->vendor].code == WHY_NONE && *g->unusable == '\0' && *o->unusable == '\0' && g->node[m].major == o->node[n].major &&
					    g->node[m].minor == o->node[n].minor)
						must(g->vendor == o->vendor && strcmp(g->pci, o->pci) == 0);
		}
}

static void
check_host(struct inventory *inv)
{
	struct why why;

	inv->majors = (struct devmajors){ drivers, sizeof(drivers) / sizeof(drivers[0]) };
	if (host_check(inv, &why) == 0)
		must_be_host(inv);
	inv->majors = (struct devmajors){ NULL, 0 };
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct issuer_setting issuer[2] = { { .max_age = 3600 }, { .max_age = 7 } };
	static const enum judge_verb verbs[] = { JUDGE_TOKEN, JUDGE_VARS, JUDGE_HOST };
	const enum judge_verb verb = verbs[size > 0 ? data[0] % 3 : 0];
	struct found_keys keys[2] = { { .text = (char []){ "{}" } }, { .text = NULL } };
	const struct judge_query asked = { .verb = verb, .now = 1790000000, .issuer = issuer, .keys = keys, .issuers = 2 };
	struct judge_answer a = { .issuer = 0 };
	struct buf b = { 0 }, text = { 0 };
	struct lines in, out;
	struct why why;

	/* the seeds may be of any version */
	buf_puts(&text, "answer " GPUHELPER_VERSION " ");
	if (size > 0)
		buf_add(&text, (const char *)data + 1, size - 1);
	must(!text.failed);
	in = (struct lines){ .at = text.p, .end = text.p + text.len };
	judge_answer_lines(&in, verb, &a);
	if (lines_finish(&in) && a.why.code == WHY_NONE) {
		out = (struct lines){ .out = &b };
		judge_answer_lines(&out, verb, &a);
		must(lines_finish(&out) && b.len == text.len && memcmp(b.p, text.p, text.len) == 0);
		if (verb == JUDGE_HOST)
			check_host(&a.inventory);
		if (judge_answer_check(&asked, &a, &why) == 0 && verb == JUDGE_TOKEN)
			must(a.issuer == 0 && *a.claims.team != '\0' && *a.claims.pipeline != '\0' && strlen(a.claims.once) == 64 &&
			    a.claims.exp > asked.now - TOKEN_LEEWAY && asked.now - a.claims.iat <= issuer[a.issuer].max_age);
	}
	buf_free(&b);
	buf_free(&text);
	judge_answer_free(&a);
	return 0;
}
