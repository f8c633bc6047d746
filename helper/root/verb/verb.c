/* See verb.h. A table, without code of its own. */
#include "verb.h"

static const struct verb_row unknown = { .looks = true, .decides = true };

static const struct verb_row rows[VERBS] = {
	[VERB_GRANT] = { .run = NULL, .looks = true, .decides = true },
	[VERB_TASK] = { .run = verb_task, .looks = true, .decides = true },
	[VERB_OVER] = { .run = verb_over, .looks = true },
	[VERB_LOOK] = { .run = verb_look, .looks = true },
	[VERB_RELEASE] = { .run = verb_release, .looks = true },
	[VERB_REAPPLY] = { .run = verb_reapply, .looks = true },
	[VERB_STATUS] = { .run = verb_status, .looks = true },
	[VERB_CREATED] = { .run = verb_created, .follows = true },
	[VERB_EXEC] = { .run = verb_exec },
	[VERB_REFUSED] = { .run = verb_note },
	[VERB_PLAIN] = { .run = verb_note },
};

const struct verb_row *
verb_find(int verb)
{
	return verb >= 0 && verb < VERBS ? &rows[verb] : &unknown;
}
