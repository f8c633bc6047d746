/* See verb.h. A table, without code of its own. */
#include "verb.h"

static const struct verb_row unknown = { .needs_look = true, .needs_judge = true };

static const struct verb_row rows[VERBS] = {
	[VERB_GRANT] = { .run = NULL, .needs_look = true, .needs_judge = true },
	[VERB_TASK] = { .run = verb_task, .needs_look = true, .needs_judge = true },
	[VERB_OVER] = { .run = verb_over, .needs_look = true },
	[VERB_REAP] = { .run = verb_reap, .needs_look = true },
	[VERB_RELEASE] = { .run = verb_release, .needs_look = true },
	[VERB_REAPPLY] = { .run = verb_reapply, .needs_look = true },
	[VERB_STATUS] = { .run = verb_status, .needs_look = true },
	[VERB_CREATED] = { .run = verb_created, .after_grant = true },
	[VERB_EXEC] = { .run = verb_exec },
	[VERB_REFUSED] = { .run = verb_note },
	[VERB_PLAIN] = { .run = verb_note },
};

const struct verb_row *
verb_find(int verb)
{
	return verb >= 0 && verb < VERBS ? &rows[verb] : &unknown;
}
