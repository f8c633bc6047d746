/* See labelask.h.  Believes no text to end, and no number to be one of its enumeration's. */
#include "labelask.h"

#include <stdio.h>
#include <string.h>

int
label_refuse_version(struct why *why)
{
	return refuse(why, WHY_CONFIG, "gpuhelper and gpuhelper-label are not of one version: install both again (make "
	    "install)");
}

bool
label_answer_read(const char *bytes, size_t len, struct label_answer *out, struct why *why)
{
	if (len == sizeof(*out))
		memcpy(out, bytes, sizeof(*out));
	if (len != sizeof(*out) || !label_version_is_ours(out->version)) {
		label_refuse_version(why);
		return false;
	}
	if (out->yes >= -1 && out->yes <= 1 && label_text_ends(out->label, sizeof(out->label)) &&
	    label_text_ends(out->why.text, sizeof(out->why.text)) &&
	    (out->yes != -1 || (out->why.code >= WHY_USAGE && out->why.code <= WHY_CONFIG)))
		return true;
	refuse(why, WHY_BUG, "an answer of gpuhelper-label that is none");
	return false;
}

void
label_ask_begin(struct label_ask *a, enum label_verb verb)
{
	/* what lies between its members goes over a socket, too */
	memset(a, 0, sizeof(*a));
	snprintf(a->version, sizeof(a->version), "%s", GPUHELPER_VERSION);
	a->verb = verb;
}
