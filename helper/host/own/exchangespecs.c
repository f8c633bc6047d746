/* See exchange.h: CDI specs. The helper does not link this file. */
#include "../../ask/parsedcheck.h"
#include "../../ask/parsedcheckspec.h"
#include "../../ask/parsedspec.h"
#include "../driver/cdidirs.h"
#include "exchange.h"
#include "exchangeread.h"

int
exchange_read_specs(const char *answer, size_t len, struct cdi_registry *r, bool *malformed, struct why *why)
{
	struct lines t;
	size_t i;

	if (exchange_answer_begin(answer, len, &t, malformed, why) == -1)
		return -1;
	for (i = 0; i < r->files && !t.failed; i++)
		if (r->file[i].text != NULL)
			cdi_file_lines(&t, &r->file[i].usable, &r->file[i].spec, &r->file[i].faults);
	if (exchange_answer_finish(&t, malformed, why) == -1)
		return -1;
	for (i = 0; i < r->files; i++)
		if (r->file[i].usable && parsed_check_spec(&r->file[i].spec, why) == -1)
			return -1;
	return 0;
}
