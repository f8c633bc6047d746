/* See exchange.h: policies. The helper does not link this file. */
#include "../../ask/parsed.h"
#include "../../ask/parsedcheck.h"
#include "../../ask/parsedpolicy.h"
#include "exchange.h"
#include "exchangeread.h"

int
exchange_answer_finish(struct lines *t, bool *malformed, struct why *why)
{
	*malformed = !lines_finish(t) && !t->nomem;
	if (*malformed)
		return refuse(why, WHY_BUG, "gpuhelper-read sent a malformed answer");
	return t->nomem ? refuse_nomem(why) : 0;
}

int
exchange_read_policies(const struct exchange *x, struct settings *s, struct policy_set *p, bool *malformed,
    struct why *why)
{
	struct lines t;

	*s = (struct settings){ .runtime = NULL };
	*p = (struct policy_set){ .n = 0 };
	if (exchange_answer_begin(x->answer, x->len, &t, malformed, why) == -1)
		return -1;
	settings_lines(&t, s);
	policy_set_lines(&t, p);
	return exchange_answer_finish(&t, malformed, why) == -1 ? -1 : parsed_check(s, p, why);
}
