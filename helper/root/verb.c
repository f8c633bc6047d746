/* See verb.h. A table, without code of its own. */
#include "verb.h"

static const struct verb_row unknown = { .looks = true, .decides = true };

static const struct verb_row rows[VERBS] = {
	[VERB_GRANT] = { NULL, .looks = true, .decides = true },
	[VERB_TASK] = { verb_task, .looks = true, .decides = true },
	[VERB_OVER] = { verb_over, .looks = true },
	[VERB_LOOK] = { verb_look, .looks = true },
	[VERB_RELEASE] = { verb_release, .looks = true },
	[VERB_REAPPLY] = { verb_reapply, .looks = true },
	[VERB_STATUS] = { verb_status, .looks = true },
	[VERB_CREATED] = { verb_created, .follows = true },
	[VERB_EXEC] = { verb_exec },
	[VERB_REFUSED] = { verb_note },
	[VERB_PLAIN] = { verb_note },
};

const struct verb_row *
verb_find(int verb)
{
	return verb >= 0 && verb < VERBS ? &rows[verb] : &unknown;
}
