/*
 * libFuzzer entry for helper/pure/judgeask.c: what an evil gpuhelper-judge could answer.  The first byte says what was
 * asked.  What is taken has one spelling, and is of an issuer that was sent along.
 */
#include <stdlib.h>
#include <string.h>

#include "../../helper/pure/judgeask.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct issuer_setting issuer[2] = { { .max_age = 3600 }, { .max_age = 7 } };
	const enum judge_verb verb = size > 0 && data[0] % 2 == 1 ? JUDGE_VARS : JUDGE_TOKEN;
	struct found_keys keys[2] = { { .text = (char []){ "{}" } }, { .text = NULL } };
	const struct judge_ask asked = { .verb = verb, .now = 1790000000, .issuer = issuer, .keys = keys, .issuers = 2 };
	struct judge_answer a = { .issuer = 0 };
	struct buf b = { 0 }, text = { 0 };
	struct lines in, out;
	struct why why;

	/* the seeds are of any version */
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
		if (judge_answer_check(&asked, &a, &why) == 0 && verb == JUDGE_TOKEN)
			must(a.issuer == 0 && *a.claims.team != '\0' && *a.claims.pipeline != '\0' && strlen(a.claims.once) == 64 &&
			    a.claims.exp > asked.now - TOKEN_LEEWAY && asked.now - a.claims.iat <= issuer[a.issuer].max_age);
	}
	buf_free(&b);
	buf_free(&text);
	judge_answer_free(&a);
	return 0;
}
