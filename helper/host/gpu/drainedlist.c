/* See drainedlist.h. Accepts only a file that root alone can have written, and must never write. */
#include "drainedlist.h"

#include <string.h>

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
drained_text(char **text, size_t *len, struct why *why)
{
	autoclose int dir = -1;
	enum trust_found found;

	*text = NULL;
	if ((found = trust_pin_dir(GPUHELPER_STATEDIR, true, &dir, why)) == TRUST_FOUND)
		found = read_list(dir, text, len, why);
	if (found == TRUST_FOUND && strlen(*text) != *len)
		return refuse(why, WHY_CONFIG, DRAINED_LIST ": has a NUL byte: gpuhelperctl undrain --all puts all GPUs back into "
		    "service");
	return found == TRUST_FOUND || found == TRUST_ABSENT ? 0 : -1;
}
