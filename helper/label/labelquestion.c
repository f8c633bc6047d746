/* See labelquestion.h. Must trust no text to end, and no number to be in the range of its enumeration. */
#include "labelquestion.h"

#include <stdio.h>
#include <string.h>

bool
label_query_read(const char *bytes, size_t len, struct label_query *out, struct why *why)
{
	if (!label_message_read(bytes, len, out, sizeof(*out), why))
		return false;
	if ((unsigned)out->verb <= LABEL_CHANGE && (unsigned)out->use <= LABEL_WRITE_FOLDER &&
	    (unsigned)out->relabel <= RELABEL_PRIVATE && out->folder < LABEL_FOLDERS_MAX &&
	    label_text_ends(out->who, sizeof(out->who)) && label_text_ends(out->object, sizeof(out->object)) &&
	    label_text_ends(out->path, sizeof(out->path)))
		return true;
	refuse(why, WHY_BUG, "gpuhelper-label can't read the question");
	return false;
}

void
label_answer_begin(struct label_answer *a)
{
	memset(a, 0, sizeof(*a));
	snprintf(a->version, sizeof(a->version), "%s", GPUHELPER_VERSION);
}
