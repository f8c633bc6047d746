/* See judgepass.h. */
#include "judgepass.h"

#include <stdio.h>
#include <string.h>

#include "../gpu/inventorylines.h"

bool
judge_ask_is_host(const char *question, size_t len)
{
	char text[64];
	unsigned vendors;

	for (vendors = 1; vendors <= GPUS_ALL; vendors++) {
		snprintf(text, sizeof(text), "ask " GPUHELPER_VERSION " host %u\nend\n", vendors);
		if (strlen(text) == len && memcmp(text, question, len) == 0)
			return true;
	}
	return false;
}

bool
judge_answer_host(const char *answer, size_t len, struct inventory *out)
{
	struct lines t = { .at = answer, .end = answer + len };
	struct why why = { 0 };
	char verb[8];

	lines_begin(&t, "answer");
	(void)field_version(&t);
	field_text(&t, verb, sizeof(verb));
	why_fields(&t, &why);
	if (t.failed || why.code != WHY_NONE || strcmp(verb, "host") != 0)
		return false;
	inventory_lines(&t, out);
	return lines_finish(&t);
}
