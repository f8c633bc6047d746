/* See drainedread.h: what the list says. The helper does not link this file. */
#include "../../base/cleanup.h"
#include "drainedlist.h"
#include "drainedread.h"

int
drained_list(struct drained *out, struct why *why)
{
	autofree char *text = NULL;
	struct why bad;
	size_t len;

	*out = (struct drained){ 0 };
	if (drained_text(&text, &len, why) == -1)
		return -1;
	return text == NULL || drained_decode(text, len, out, &bad) == 0 ? 0 : drained_refuse(&bad, why);
}
