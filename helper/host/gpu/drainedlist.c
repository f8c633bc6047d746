/* See drainedlist.h. Accepts only a file that root alone can have written, and must never write. */
#include "drainedlist.h"

#include "../../base/cleanup.h"
#include "../file.h"
#include "../trust.h"

#define TRIES 20	/* reads while the list is being replaced; a writer replaces it by one rename */

static enum trust_found
read_list(int dir, char **text, size_t *len, struct why *why)
{
	enum trust_found found = TRUST_REPLACED;
	unsigned tries;

	for (tries = 0; found == TRUST_REPLACED && tries < TRIES; tries++)
		found = trust_find_text(dir, DRAINED_NAME, DRAINED_LIST, DRAINED_FILE_MAX, true, text, len, why);
	return found;
}

int
drained_list(struct drained *out, struct why *why)
{
	autofree char *text = NULL;
	autoclose int dir = -1;
	enum trust_found found;
	struct why bad;
	size_t len;

	*out = (struct drained){ 0 };
	if ((found = trust_pin_dir(GPUHELPER_STATEDIR, true, &dir, why)) == TRUST_FOUND)
		found = read_list(dir, &text, &len, why);
	if (found == TRUST_ABSENT)
		return 0;
	if (found != TRUST_FOUND)
		return -1;
	if (drained_decode(text, len, out, &bad) == 0)
		return 0;
	return bad.code != WHY_CONFIG ? (*why = bad, -1) :
	    refuse(why, WHY_CONFIG, DRAINED_LIST ": %s: gpuhelperctl undrain --all puts all GPUs back into service", bad.text);
}
