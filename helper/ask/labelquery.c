/* See labelquery.h. Assumes that a text may lack its NUL, and a number be outside its enumeration. */
#include "labelquery.h"

#include <stdio.h>
#include <string.h>

bool
label_message_read(const char *bytes, size_t len, void *out, size_t size, struct why *why)
{
	/* another version may have another size */
	if (len == size)
		memcpy(out, bytes, size);
	if (len == size && label_text_ends(out, LABEL_VERSION_MAX) && strcmp(out, GPUHELPER_VERSION) == 0)
		return true;
	refuse(why, WHY_CONFIG, "gpuhelper and gpuhelper-label differ in version: install both again (make install)");
	return false;
}

bool
label_answer_read(const char *bytes, size_t len, struct label_answer *out, struct why *why)
{
	if (!label_message_read(bytes, len, out, sizeof(*out), why))
		return false;
	if (out->yes >= -1 && out->yes <= 1 && label_text_ends(out->label, sizeof(out->label)) &&
	    label_text_ends(out->why.text, sizeof(out->why.text)) &&
	    (out->yes != -1 || (out->why.code >= WHY_USAGE && out->why.code <= WHY_CONFIG)))
		return true;
	refuse(why, WHY_BUG, "gpuhelper-label sent a malformed answer");
	return false;
}

void
label_query_begin(struct label_query *a, enum label_verb verb)
{
	/* zero the padding as well, which is sent too */
	memset(a, 0, sizeof(*a));
	snprintf(a->version, sizeof(a->version), "%s", GPUHELPER_VERSION);
	a->verb = verb;
}
